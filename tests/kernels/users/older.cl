// SPDX-License-Identifier: Apache-2.0
// What programs of OpenCL 1.0 and 1.1 are written like: atom_ names behind a pragma, a function
// that asks for its work-item, a macro before the kernel, and a size that the kernel asks for.
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_local_int32_base_atomics : enable

#define SIZE 64
#define KERNEL __kernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))

uint place(uint row) { return row * (uint)get_global_size(0) + (uint)get_global_id(0); }

KERNEL void other(__global uint *out) { out[get_global_id(0)] = get_work_dim(); }

KERNEL void older(__global const uint *in, volatile __global uint *bins, __global uint *out,
                  const uint rows) {
  __local uint own[SIZE];
  volatile __local uint most;
  const uint at = get_local_id(0);
  own[at] = 0;
  if (at == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint row = 0; row < rows; ++row) {
    own[at] += in[place(row)];
    atom_inc(&bins[in[place(row)] & 255u]);
  }
  atomic_max(&most, own[at]);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0) - get_global_offset(0)] =
      own[SIZE - 1 - at] + most + get_group_id(0) + get_num_groups(0);
}
