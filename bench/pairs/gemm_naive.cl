// SPDX-License-Identifier: Apache-2.0
// Each work-item makes one element, and loads 2 n floats for it.
kernel void gemm(global float* c, global const float* a, global const float* b, uint n) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}
