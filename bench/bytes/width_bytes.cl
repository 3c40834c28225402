// SPDX-License-Identifier: Apache-2.0
// As width_float, of bytes in place of floats: a quarter of its traffic.
kernel void width(global uchar* out, global const uchar* a, global const uchar* b) {
  const size_t i = get_global_id(0);
  out[i] = a[i] * 3 + b[i];
}
