// SPDX-License-Identifier: Apache-2.0
// Each work-item goes along a row of a matrix: neighbours load words that are a row apart.
kernel void rows(global float* out, global const float* in, uint columns) {
  const size_t row = get_global_id(0);
  float sum = 0;
  for (uint i = 0; i < columns; ++i) sum += in[row * columns + i];
  out[row] = sum;
}
