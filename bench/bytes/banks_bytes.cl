// SPDX-License-Identifier: Apache-2.0
// As banks_padded, with bytes in memory in place of floats: a quarter of its traffic.
kernel void banks(global uchar* out, global const uchar* in) {
  local float tile[32][33];
  const size_t l = get_local_id(0), first = get_group_id(0) * 1024;
  for (uint y = 0; y < 32; ++y) tile[y][l] = in[first + y * 32 + l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint y = 0; y < 32; ++y) out[first + y * 32 + l] = tile[l][y];
}
