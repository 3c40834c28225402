// SPDX-License-Identifier: Apache-2.0
// As order_coalesced, of bytes in place of floats: a quarter of its traffic.
kernel void order(global uchar* out, global const uchar* in, uint n) {
  const size_t i = get_global_id(0);
  const size_t at = i;
  out[at] = in[at] + 1;
}
