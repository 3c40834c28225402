// SPDX-License-Identifier: Apache-2.0
// Each group counts in local memory, and adds that up once.
kernel void histogram(global uint* bins, global const uint* in, uint n) {
  local uint own[256];
  own[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[in[i] >> 24]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[get_local_id(0)], own[get_local_id(0)]);
}
