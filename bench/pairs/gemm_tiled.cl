// SPDX-License-Identifier: Apache-2.0
// Each work-item makes one element, and loads n / 8 floats for it; the group shares them.
kernel void gemm(global float* c, global const float* a, global const float* b, uint n) {
  local float at[16][16], bt[16][16];
  const size_t lx = get_local_id(0), ly = get_local_id(1);
  const size_t x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint t = 0; t < n; t += 16) {
    at[ly][lx] = a[y * n + t + lx];
    bt[ly][lx] = b[(t + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; ++k) sum += at[ly][k] * bt[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
