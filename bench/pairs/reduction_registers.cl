// SPDX-License-Identifier: Apache-2.0
// Each group adds 64 times 256 words up: each work-item its own first, and one tree in the end.
kernel void reduction(global float* out, global const float* in) {
  local float sums[256];
  const size_t l = get_local_id(0);
  float own = 0;
  for (uint i = 0; i < 64; ++i) own += in[(get_group_id(0) * 64 + i) * 256 + l];
  sums[l] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 128; s > 0; s /= 2) {
    if (l < s) sums[l] += sums[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = sums[0];
}
