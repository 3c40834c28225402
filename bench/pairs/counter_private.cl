// SPDX-License-Identifier: Apache-2.0
// Each work-item adds its words up by itself, and adds that to one sum.
kernel void counter(global uint* sum, global const uint* in, uint n) {
  uint own = 0;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) own += in[i];
  atomic_add(sum, own);
}
