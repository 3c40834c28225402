// SPDX-License-Identifier: Apache-2.0
// In each of 256 rounds an eighth of the work-items has more to do, and nobody waits for them.
kernel void rounds(global float* out, global const float* in) {
  local float table[256];
  const uint l = (uint)get_local_id(0);
  table[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint i = 0; i < 256; ++i) {
    sum += table[(l + i) & 255u];
    if ((l / 32 & 7u) == (i & 7u)) {
      for (uint k = 0; k < 64; ++k) sum = sum * 0.5f + 1.0f;
    }
  }
  out[get_global_id(0)] = sum;
}
