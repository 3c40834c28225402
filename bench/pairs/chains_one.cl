// SPDX-License-Identifier: Apache-2.0
// Each work-item takes a polynomial of `terms` equal coefficients at its x by Horner's rule: every
// step waits for the one before. 528 groups are a sub-group for each scheduler of 132 compute
// units.
kernel void polynomial(global float* out, global const float* at, float coefficient, uint terms) {
  const float x = at[get_global_id(0)];
  float sum = 0.0f;
  for (uint i = 0; i < terms; ++i) sum = mad(sum, x, coefficient);
  out[get_global_id(0)] = sum;
}
