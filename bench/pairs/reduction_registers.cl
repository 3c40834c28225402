// SPDX-License-Identifier: Apache-2.0
// Each group adds 64 words up: one work-item does it, behind one barrier.
kernel void reduction(global float* out, global const float* in) {
  local float sums[64];
  const size_t l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l != 0) return;
  float sum = 0;
  for (uint i = 0; i < 64; ++i) sum += sums[i];
  out[get_group_id(0)] = sum;
}
