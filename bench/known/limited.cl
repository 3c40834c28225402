// SPDX-License-Identifier: Apache-2.0
// The same chains with 40 KiB of local memory per group that it hardly uses: few groups run at once
// (5 per SM on Hopper, 228 KiB), and fewer still take longer. resident_groups is 660 of 132 SMs.
kernel void limited(global const uint* next, global uint* out, uint mask, uint steps) {
  local uint kept[10240];
  kept[get_local_id(0)] = get_global_id(0) * 977u;
  uint at = kept[get_local_id(0)];
  for (uint i = 0; i < steps; ++i) at = (at * 1664525u + 1013904223u + next[at & mask]);
  kept[10239 - get_local_id(0)] = at;
  out[get_global_id(0)] = kept[10239 - get_local_id(0)];
}
