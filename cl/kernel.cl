// SPDX-License-Identifier: Apache-2.0
// Kernels that clprobe runs with replayed kernels. clock.clh is put before this file.

// Fills the caches with data that no replayed kernel uses. One work-item loads and stores 16 bytes.
kernel void kernel_flush(global uint4* words) { words[get_global_id(0)] += (uint4)(1); }

#ifndef NOISE_WORDS
#define NOISE_WORDS 0
#endif

// Keeps the path to the caches after the first one busy, by 3 * amount loads: each work-item has
// its own line of the first 2^exponent words of the room. Nothing is stored.
//   NOISE_WORDS  of local memory that a group holds, for nothing else: a compute unit of NVIDIA's
//                parts its cache anew for a kernel that needs more, and waits for all others then
kernel void kernel_loads(global uint* room, uint exponent, uint amount) {
  const uint lane = (uint)get_local_id(0);
  uint sum = 0;
#if NOISE_WORDS
  volatile local uint held[NOISE_WORDS];
  held[lane % NOISE_WORDS] = amount;
  sum = held[lane % NOISE_WORDS] & 1u;
#endif
  const uint mask = (1u << exponent) - 1u;
  // Numerical Recipes' generator; of its bits only the upper ones are any good.
  uint state = ((uint)get_group_id(0) + 1u) * 2654435761u;
  for (uint k = 0; k < amount; ++k) {
    const uint line0 = state >> 8;
    state = state * 1664525u + 1013904223u;
    const uint line1 = state >> 8;
    state = state * 1664525u + 1013904223u;
    const uint line2 = state >> 8;
    state = state * 1664525u + 1013904223u;
    sum += room[(line0 + lane) * 32u & mask] + room[(line1 + lane) * 32u & mask] +
           room[(line2 + lane) * 32u & mask];
  }
  // No loads have this sum, but no compiler knows that.
  if (sum == 0x7f800001u) room[0] = sum;
}
