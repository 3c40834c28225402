// SPDX-License-Identifier: Apache-2.0
// A kernel of clprobe's `stalls` as a user's: bench/known.py --write made it of cl/.
// Returns a word of which every bit depends on all bits of `x`. The result is 0 only for 0. The
// host's version is in src/probes/shared/permutation.hpp. Source: lowbias32 of C. Wellons,
// Prospecting for hash functions, 2018.
inline uint mixed(uint x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
#define LINE_WORDS 32u
#define TILE_WORDS 1024u
#define NEXT(state) ((state)*1664525u + 1013904223u)
#define LINE_OF(state, mask) (((state) >> 8) & (mask))
#define STEP(x) x = ((x)*multiplier) ^ addend;
// Noise: work that keeps one resource busy, and whose results nothing needs. stalls.cl includes
// this file.

// Four independent loads from lines that the generator chooses.
#define LOAD_4(state, mask, sum)                        \
  {                                                     \
    const uint line0 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line1 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line2 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line3 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint word0 = data[line0 * LINE_WORDS + lane]; \
    const uint word1 = data[line1 * LINE_WORDS + lane]; \
    const uint word2 = data[line2 * LINE_WORDS + lane]; \
    const uint word3 = data[line3 * LINE_WORDS + lane]; \
    sum += (word0 + word1) + (word2 + word3);           \
  }
#define TILE_4(place, at, sum)                                                                  \
  sum += tile[(place + at) & (TILE_WORDS - 1)] + tile[(place + at + 1) & (TILE_WORDS - 1)] +    \
         tile[(place + at + 2) & (TILE_WORDS - 1)] + tile[(place + at + 3) & (TILE_WORDS - 1)]; \
  at += 4;

// Work of a work-item that makes noise: 4 * noise operations, loads from local memory, or loads
// from lines that noise_mask selects. The host's version is in
// src/probes/stalls/cases/wait_for_one.cpp.
#define MAKE_NOISE                                                 \
  if (noise_kind == 0) {                                           \
    for (uint k = 0; k < noise; ++k) {                             \
      STEP(y0) STEP(y1) STEP(y2) STEP(y3)                          \
    }                                                              \
  } else if (noise_kind == 1) {                                    \
    for (uint k = 0; k < noise; ++k) {                             \
      TILE_4(lane, turned, sum)                                    \
    }                                                              \
  } else {                                                         \
    for (uint k = 0; k < noise; ++k) LOAD_4(near, noise_mask, sum) \
  }
// Kernels that mostly wait for one cause. stalls.cl includes this file.

// Eight loads that all issue before the first result is used.
#define PLACE(j)                                                    \
  const uint place##j = LINE_OF(far, far_mask) * LINE_WORDS + lane; \
  far = NEXT(far);
#define WORD(j) const uint word##j = data[place##j];
// clang-format off
#define LOAD_FAR_8                                                                      \
  {                                                                                     \
    PLACE(0) PLACE(1) PLACE(2) PLACE(3) PLACE(4) PLACE(5) PLACE(6) PLACE(7)             \
    WORD(0) WORD(1) WORD(2) WORD(3) WORD(4) WORD(5) WORD(6) WORD(7)                     \
    sum += ((word0 + word1) + (word2 + word3)) + ((word4 + word5) + (word6 + word7));   \
  }
// clang-format on
#define FOLLOW far = NEXT(far + data[LINE_OF(far, far_mask) * LINE_WORDS + lane]);

// One iteration of a work-item performs, in units of four operations or loads:
//   far_loads    dependent loads of one stream, or twice as many independent loads
//   near_loads   loads of another stream
//   tile_loads   loads of local memory
//   chain_steps  operations
//   turn_steps   operations by the active work-items
// With has_barrier, a barrier follows. In structural cases, an iteration has only near_loads loads
// and the work of stalls_structural.clh. Work-items from `workers` on only make noise: operations
// or loads that no other work waits for.
kernel void stalls_mixed(global const uint* restrict data, uint launch, uint iterations,
                         uint workers, uint far_loads, uint far_mask, uint is_chase,
                         uint near_loads, uint near_mask, uint tile_loads, uint tile_stride,
                         uint chain_steps, uint is_chain, uint turn_steps, uint turn_shift,
                         uint turn_mask, uint has_barrier, uint noise_kind, uint noise,
                         uint noise_mask, uint multiplier, uint addend, global uint* restrict out) {
  local uint tile[TILE_WORDS];
  const uint item = (uint)get_local_id(0);
  for (uint at = item; at < TILE_WORDS; at += (uint)get_local_size(0)) tile[at] = mixed(~at);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = item % LINE_WORDS;
  // Lanes that load from the same line have equal rows.
  const uint row = (uint)get_global_id(0) / LINE_WORDS;
  uint far = mixed(row ^ mixed(launch));
  uint near = mixed(far);
  uint turned = 0;
  uint x0 = item, x1 = item + 1, x2 = item + 2, x3 = item + 3;
  uint x4 = item + 4, x5 = item + 5, x6 = item + 6, x7 = item + 7;
  uint y0 = x0, y1 = x1, y2 = x2, y3 = x3;
  uint sum = 0;
  const uint place = lane * tile_stride;
  for (uint i = 0; i < iterations; ++i) {
    if (item < workers) {
      if (is_chase != 0) {
        for (uint k = 0; k < far_loads; ++k) {
          FOLLOW FOLLOW FOLLOW FOLLOW
        }
      } else {
        for (uint k = 0; k < far_loads; ++k) LOAD_FAR_8
      }
      for (uint k = 0; k < near_loads; ++k) LOAD_4(near, near_mask, sum)
      for (uint k = 0; k < tile_loads; ++k) {
        TILE_4(place, turned, sum)
      }
      if (is_chain != 0) {
        for (uint k = 0; k < chain_steps; ++k) {
          STEP(x0) STEP(x0) STEP(x0) STEP(x0)
        }
      } else {
        // Eight independent chains, because a sub-group would still wait for results with four
        // chains.
        for (uint k = 1; k < chain_steps; k += 2) {
          STEP(x0) STEP(x1) STEP(x2) STEP(x3) STEP(x4) STEP(x5) STEP(x6) STEP(x7)
        }
        if ((chain_steps & 1u) != 0) {
          STEP(x0) STEP(x1) STEP(x2) STEP(x3)
        }
      }
      if (((item >> turn_shift) & turn_mask) == (i & turn_mask)) {
        for (uint k = 0; k < turn_steps; ++k) {
          STEP(y0) STEP(y1) STEP(y2) STEP(y3)
        }
      }
    } else {
      MAKE_NOISE
    }
    if (has_barrier != 0) barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = mixed(far) + mixed(sum) + mixed(x0 ^ mixed(x1)) + mixed(x2 ^ mixed(x3)) +
                          mixed(x4 ^ mixed(x5)) + mixed(x6 ^ mixed(x7)) + mixed(y0 ^ mixed(y1)) +
                          mixed(y2 ^ mixed(y3));
}
