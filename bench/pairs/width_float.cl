// SPDX-License-Identifier: Apache-2.0
// Each work-item loads two floats and stores one.
kernel void width(global float* out, global const float* a, global const float* b) {
  const size_t i = get_global_id(0);
  out[i] = a[i] * (float)3 + b[i];
}
