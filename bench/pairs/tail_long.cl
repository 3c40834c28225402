// SPDX-License-Identifier: Apache-2.0
// Each work-item does `rounds` dependent operations. 265 groups of 1024 are one more than an H100
// or H200 runs at once (two on each of 132 compute units).
kernel void spin(global float* a, uint rounds) {
  float x = a[get_global_id(0)];
  for (uint i = 0; i < rounds; ++i) x = x * 0.999f + 0.5f;
  a[get_global_id(0)] = x;
}
