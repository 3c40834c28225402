// SPDX-License-Identifier: Apache-2.0
// Each group follows what it loads from 128 MiB, and has 16 KiB of local memory, of which it uses
// a few words.
kernel void places(global uint* out, global const uint* in) {
  local uint kept[4096];
  const uint l = (uint)get_local_id(0);
  kept[l * 64] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = kept[0];
  for (uint i = 0; i < 64; ++i) at = in[(at ^ i) & 0x1ffffffu];
  out[get_global_id(0)] = at ^ kept[(l ^ 1u) * 64];
}
