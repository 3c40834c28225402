// SPDX-License-Identifier: Apache-2.0
// Each work-item goes through 64 rounds on words of its own.
kernel void rounds(global float* out, global const float* in) {
  local float kept[64];
  const size_t l = get_local_id(0);
  kept[l] = in[get_global_id(0)];
  for (uint i = 0; i < 64; ++i) {
    kept[l] = kept[l] * 0.5f + 1.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = kept[63 - l];
}
