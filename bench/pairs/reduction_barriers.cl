// SPDX-License-Identifier: Apache-2.0
// Each group adds 64 times 256 words up, each time in a tree with a barrier per step.
kernel void reduction(global float* out, global const float* in) {
  local float sums[256];
  const size_t l = get_local_id(0);
  float total = 0;
  for (uint i = 0; i < 64; ++i) {
    sums[l] = in[(get_group_id(0) * 64 + i) * 256 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s /= 2) {
      if (l < s) sums[l] += sums[l + s];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    total += sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = total;
}
