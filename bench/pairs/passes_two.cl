// SPDX-License-Identifier: Apache-2.0
// Each work-item goes over its words twice.
kernel void passes(global float* out, global const float* in, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = in[i] * 3.0f;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = out[i] + in[i];
}
