// SPDX-License-Identifier: Apache-2.0
// Each work-item goes along a column of the matrix that was turned: neighbours load neighbours.
kernel void rows(global float* out, global const float* in, uint columns) {
  const size_t row = get_global_id(0);
  float sum = 0;
  for (uint i = 0; i < columns; ++i) sum += in[i * get_global_size(0) + row];
  out[row] = sum;
}
