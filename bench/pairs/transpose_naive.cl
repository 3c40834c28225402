// SPDX-License-Identifier: Apache-2.0
// Each work-item moves one float; neighbours store a row apart.
kernel void transpose(global float* out, global const float* in, uint n) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  out[x * n + y] = in[y * n + x];
}
