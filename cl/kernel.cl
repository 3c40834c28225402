// SPDX-License-Identifier: Apache-2.0
// Beside replayed kernels. clock.clh is put before this file.

// Fills the caches with other things than what a replayed kernel left there. One work-item loads
// and stores 16 bytes.
kernel void kernel_flush(global uint4* words) { words[get_global_id(0)] += (uint4)(1); }

#ifndef NOISE_WORDS
#define NOISE_WORDS 0
#endif
#define ALL_EIGHT(STEP) STEP(y0) STEP(y1) STEP(y2) STEP(y3) STEP(y4) STEP(y5) STEP(y6) STEP(y7)
#define MULTIPLY_FLOATS(y) y = mad(y, 0.5f, 1.0f);
// Two multiplications by what a compiler knows would become one.
#define MULTIPLY(y) y = y * factor + lane;
#define ROTATE(y) y ^= rotate(y, 9u);

// Keeps one unit busy, in as few sub-groups as can: 8 * amount multiplications of floats (kind 0)
// or integers (1), or rotations (2), in chains of which no eight wait for each other; or 3 * amount
// loads (3), of which each work-item has a line of its own of the first 2^exponent words of the
// room. Nothing is stored.
//   NOISE_WORDS  of local memory that a group holds, for nothing else: a compute unit of NVIDIA's
//                parts its cache anew for a kernel that needs more, and waits for all others then
kernel void kernel_noise(global uint* room, uint kind, uint exponent, uint amount) {
  const uint lane = (uint)get_local_id(0);
  uint sum = 0;
#if NOISE_WORDS
  volatile local uint held[NOISE_WORDS];
  held[lane % NOISE_WORDS] = amount;
  sum = held[lane % NOISE_WORDS] & 1u;
#endif
  if (kind == 0u) {
    float y0 = (float)lane, y1 = y0 + 1.0f, y2 = y0 + 2.0f, y3 = y0 + 3.0f;
    float y4 = y0 + 4.0f, y5 = y0 + 5.0f, y6 = y0 + 6.0f, y7 = y0 + 7.0f;
    for (uint k = 0; k < amount; ++k) {
      ALL_EIGHT(MULTIPLY_FLOATS)
    }
    sum += as_uint(y0 + y1 + y2 + y3 + y4 + y5 + y6 + y7);
  } else if (kind <= 2u) {
    const uint factor = amount * 2u + 1u;
    uint y0 = lane, y1 = y0 + 1u, y2 = y0 + 2u, y3 = y0 + 3u;
    uint y4 = y0 + 4u, y5 = y0 + 5u, y6 = y0 + 6u, y7 = y0 + 7u;
    if (kind == 1u) {
      for (uint k = 0; k < amount; ++k) {
        ALL_EIGHT(MULTIPLY)
      }
    } else {
      for (uint k = 0; k < amount; ++k) {
        ALL_EIGHT(ROTATE)
      }
    }
    sum += (y0 + y1 + y2 + y3) ^ (y4 + y5 + y6 + y7);
  } else {
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
  }
  // No sum that is made here, but no compiler knows.
  if (sum == 0x7f800001u) room[0] = sum;
}
