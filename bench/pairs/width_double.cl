// SPDX-License-Identifier: Apache-2.0
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Each work-item loads two doubles and stores one.
kernel void width(global double* out, global const double* a, global const double* b) {
  const size_t i = get_global_id(0);
  out[i] = a[i] * (double)3 + b[i];
}
