// SPDX-License-Identifier: Apache-2.0
// Each work-item moves one float; neighbours move neighbouring words.
kernel void order(global float* out, global const float* in, uint n) {
  const size_t i = get_global_id(0);
  const size_t at = i;
  out[at] = in[at] + 1.0f;
}
