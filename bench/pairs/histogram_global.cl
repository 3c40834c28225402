// SPDX-License-Identifier: Apache-2.0
// Each work-item counts n / items words into bins that all groups share.
kernel void histogram(global uint* bins, global const uint* in, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[in[i] >> 24]);
}
