// SPDX-License-Identifier: Apache-2.0
// Each group adds 64 words up, in a tree with a barrier per step.
kernel void reduction(global float* out, global const float* in) {
  local float sums[64];
  const size_t l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 32; s > 0; s /= 2) {
    if (l < s) sums[l] += sums[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = sums[0];
}
