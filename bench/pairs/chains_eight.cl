// SPDX-License-Identifier: Apache-2.0
// The same polynomial as eight of x^8, of which none waits for another.
kernel void polynomial(global float* out, global const float* at, float coefficient, uint terms) {
  const float x = at[get_global_id(0)];
  const float x2 = x * x;
  const float x8 = x2 * x2 * x2 * x2;
  float8 sums = 0.0f;
  for (uint i = 0; i < terms / 8; ++i) sums = mad(sums, (float8)x8, (float8)coefficient);
  float sum = sums.s7;
  sum = mad(sum, x, sums.s6);
  sum = mad(sum, x, sums.s5);
  sum = mad(sum, x, sums.s4);
  sum = mad(sum, x, sums.s3);
  sum = mad(sum, x, sums.s2);
  sum = mad(sum, x, sums.s1);
  out[get_global_id(0)] = mad(sum, x, sums.s0);
}
