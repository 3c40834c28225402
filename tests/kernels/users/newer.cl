// SPDX-License-Identifier: Apache-2.0
// What OpenCL 2.0 has besides: barriers of work-groups with a scope, numbers of work-items in all
// dimensions together, and groups of which the last one is smaller.
int before(size_t at) { return at == 0 ? 0 : (int)at - 1; }

kernel void newer(global const int* in, global int* out, local int* shared) {
  const size_t at = get_local_linear_id();
  shared[at] = in[get_global_linear_id()];
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  const int sum = shared[at] + shared[before(at)];
  work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
  out[get_global_linear_id()] = sum + (int)get_enqueued_local_size(0) + (int)get_group_id(1) +
                                (int)get_num_groups(2) + (int)get_global_offset(1);
}
