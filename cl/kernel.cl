// SPDX-License-Identifier: Apache-2.0
// Kernels that clprobe runs next to replayed kernels. The host prepends clock.clh.

// Fills the caches with data that no replayed kernel uses. One work-item loads and stores 16 bytes.
kernel void kernel_flush(global uint4* words) { words[get_global_id(0)] += (uint4)(1); }

#ifndef NOISE_WORDS
#define NOISE_WORDS 0
#endif

// Keeps the path from the first cache to the next busy with 3 * amount loads per work-item. Each
// work-item loads its own line of the first 2^exponent words of `room`. Nothing is stored.
// NOISE_WORDS: words of local memory that a group only occupies. On NVIDIA, a compute unit
// repartitions its cache for a kernel that needs more local memory, and first waits for all other
// kernels.
kernel void kernel_loads(global uint* room, uint exponent, uint amount) {
  const uint lane = (uint)get_local_id(0);
  uint sum = 0;
#if NOISE_WORDS
  volatile local uint held[NOISE_WORDS];
  held[lane % NOISE_WORDS] = amount;
  sum = held[lane % NOISE_WORDS] & 1u;
#endif
  const uint mask = (1u << exponent) - 1u;
  // Generator of Numerical Recipes, of which only the upper bits are random.
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
  // Condition that is never true, which no compiler can know.
  if (sum == 0x7f800001u) room[0] = sum;
}
