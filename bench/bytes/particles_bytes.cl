// SPDX-License-Identifier: Apache-2.0
// As particles_soa, of bytes in place of floats: a quarter of its traffic.
kernel void particles(global uchar* out, global const uchar* in, uint n) {
  const size_t i = get_global_id(0);
  out[i] = in[i + 3 * n] * 2;
}
