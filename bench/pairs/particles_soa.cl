// SPDX-License-Identifier: Apache-2.0
// Each work-item loads one field of a particle of eight, which lie in arrays of their own.
kernel void particles(global float* out, global const float* in, uint n) {
  const size_t i = get_global_id(0);
  out[i] = in[i + 3 * n] * 2.0f;
}
