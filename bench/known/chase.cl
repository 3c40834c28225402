// SPDX-License-Identifier: Apache-2.0
// Waits: each work-item follows its own chain of loads through 128 MiB. Fewer groups at once take
// as much longer: occupancy is near 100 % at half of the groups.
kernel void chase(global const uint* next, global uint* out, uint mask, uint steps) {
  uint at = get_global_id(0) * 977u;
  for (uint i = 0; i < steps; ++i) at = (at * 1664525u + 1013904223u + next[at & mask]);
  out[get_global_id(0)] = at;
}
