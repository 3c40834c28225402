// SPDX-License-Identifier: Apache-2.0
// As table_computed, with bytes in memory in place of floats: a quarter of its traffic.
kernel void table(global uchar* out, global const uchar* in, global const uchar* scale,
                  global const uchar* offset, global const uchar* limit) {
  const size_t i = get_global_id(0);
  const float x = (float)(i & 255u);
  out[i] = convert_uchar_sat(min(in[i] * (x + 1.0f) + 0.5f * x, 2.0f * x));
}
