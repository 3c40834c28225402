// SPDX-License-Identifier: Apache-2.0
// Each work-item adds each of its words to one sum.
kernel void counter(global uint* sum, global const uint* in, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(sum, in[i]);
}
