// SPDX-License-Identifier: Apache-2.0
// Each group moves a tile of 32 x 32 floats through local memory, by columns of rows that begin in
// one bank.
kernel void banks(global float* out, global const float* in) {
  local float tile[32][32];
  const size_t l = get_local_id(0), first = get_group_id(0) * 1024;
  for (uint y = 0; y < 32; ++y) tile[y][l] = in[first + y * 32 + l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint y = 0; y < 32; ++y) out[first + y * 32 + l] = tile[l][y];
}
