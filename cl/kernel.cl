// SPDX-License-Identifier: Apache-2.0
// Kernels that clprobe runs in addition to replayed kernels. The host puts clock.clh before this
// file.

// Fills the caches with data that replayed kernels do not use. A work-item loads and stores 16
// bytes.
kernel void kernel_flush(global uint4* words) { words[get_global_id(0)] += (uint4)(1); }

#ifndef NOISE_WORDS
#define NOISE_WORDS 0
#endif

// Keeps the path from the first to the next cache level busy, with 3 * amount loads per work-item.
// Neighbouring work-items load neighbouring lines of the first 2^exponent words of `room`.
// NOISE_WORDS: number of words of local memory that a group occupies. NVIDIA's compute units
// repartition their cache for a kernel that needs more local memory, and wait for all other kernels
// before they do.
kernel void kernel_loads(global uint* room, uint exponent, uint amount) {
  const uint lane = (uint)get_local_id(0);
  uint sum = 0;
#if NOISE_WORDS
  volatile local uint held[NOISE_WORDS];
  held[lane % NOISE_WORDS] = amount;
  sum = held[lane % NOISE_WORDS] & 1u;
#endif
  const uint mask = (1u << exponent) - 1u;
  // Generator from Numerical Recipes. Only the upper bits of its states are random.
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
  // The condition is never true, which compilers cannot know.
  if (sum == 0x7f800001u) room[0] = sum;
}
