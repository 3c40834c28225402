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
// Work that waits for a unit: the load/store unit, the store buffer, a fence after stores, or the
// special-function units. The host's version is in src/probes/stalls/cases/wait_for_one.cpp.
// stalls.cl includes this file.

// Number of words in a block, which has as many lines as a line has words. A lane accesses one word
// at a time. In 32 accesses, 32 lanes cover the block. The lanes are adjacent (lane_stride 1,
// turn_stride 32) or one line apart (lane_stride 32, turn_stride 1).
#define BLOCK_WORDS (LINE_WORDS * LINE_WORDS)

#define LOAD_BLOCK                                                           \
  {                                                                          \
    uint from = LINE_OF(near, load_mask) * BLOCK_WORDS + lane * lane_stride; \
    near = NEXT(near);                                                       \
    for (uint k = 0; k < block_loads; ++k) {                                 \
      const uint word0 = data[from];                                         \
      const uint word1 = data[from + turn_stride];                           \
      const uint word2 = data[from + 2 * turn_stride];                       \
      const uint word3 = data[from + 3 * turn_stride];                       \
      sum += (word0 + word1) + (word2 + word3);                              \
      from += 4 * turn_stride;                                               \
    }                                                                        \
  }

// Stores a word that depends on the address and the launch. The top bit of the word is 0. The store
// therefore happens unless the gate is all ones, which compilers cannot know.
#define STORE(to)                                              \
  {                                                            \
    const uint at = to;                                        \
    const uint word = (at ^ salt) & 0x7fffffffu;               \
    if ((word | store_gate) != 0xffffffffu) stored[at] = word; \
    FENCE                                                      \
  }
#define STORE_BLOCK                                                                         \
  {                                                                                         \
    uint to = ((row * row_blocks + block) & store_mask) * BLOCK_WORDS + lane * lane_stride; \
    block = block + 1 < row_blocks ? block + 1 : 0;                                         \
    for (uint k = 0; k < block_stores; ++k) {                                               \
      STORE(to)                                                                             \
      STORE(to + turn_stride)                                                               \
      STORE(to + 2 * turn_stride)                                                           \
      STORE(to + 3 * turn_stride)                                                           \
      to += 4 * turn_stride;                                                                \
    }                                                                                       \
  }

// Makes the stores of a work-item visible to the whole device.
#if STRUCTURAL == 2
inline void fence_device(void) {
#if defined(__NV_CL_C_VERSION)
  asm volatile("membar.gl;" ::: "memory");
#elif defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device)
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
#elif defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 200 && __OPENCL_C_VERSION__ < 300
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);  // never executed: the host refuses devices without a fence
#endif
}
#define FENCE \
  if (has_fence != 0) fence_device();
#else
#define FENCE
#endif

// Four chains of six functions each, which begin with 2^64 or 2^-64. Six inverse roots lead to 2 or
// 1/2, and each root halves the relative error before it. Six multiplications by 1/2 lead to 2^58
// or nearly 0. The scaled sum of the chains is a small whole number.
#define CHAIN(j) float f##j = as_float(0x1f800000u | ((near << j) & 0x40000000u));
#define ROOT(f) f = native_rsqrt(f);
#define CHEAP(f) f *= halving;
#define FOUR(OPERATION) OPERATION(f0) OPERATION(f1) OPERATION(f2) OPERATION(f3)
#define FUNCTIONS(OPERATION)                                               \
  for (uint k = 0; k < functions; ++k) {                                   \
    CHAIN(0)                                                               \
    CHAIN(1)                                                               \
    CHAIN(2)                                                               \
    CHAIN(3)                                                               \
    near = NEXT(near);                                                     \
    FOUR(OPERATION)                                                        \
    FOUR(OPERATION)                                                        \
    FOUR(OPERATION)                                                        \
    FOUR(OPERATION)                                                        \
    FOUR(OPERATION)                                                        \
    FOUR(OPERATION)                                                        \
    sum += as_uint(((f0 + f1) + (f2 + f3)) * function_scale + 8388608.0f); \
  }

#define WORK_STRUCTURAL            \
  if (block_loads != 0) LOAD_BLOCK \
  if (is_special != 0) {           \
    FUNCTIONS(ROOT)                \
  } else {                         \
    FUNCTIONS(CHEAP)               \
  }                                \
  if (block_stores != 0) STORE_BLOCK
// Kernels that mostly wait for one cause. stalls.cl includes this file.

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
                         uint noise_mask, uint multiplier, uint addend, uint block_loads,
                         uint load_mask, uint lane_stride, uint turn_stride, uint block_stores,
                         uint row_blocks, uint store_mask, uint store_gate, uint has_fence,
                         uint functions, uint is_special, float halving, float function_scale,
                         global uint* restrict stored, global uint* restrict out) {
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
  const uint salt = mixed(launch);
  uint block = 0;
  for (uint i = 0; i < iterations; ++i) {
    if (item < workers) {
      for (uint k = 0; k < near_loads; ++k) LOAD_4(near, near_mask, sum)
      WORK_STRUCTURAL
    } else {
      MAKE_NOISE
    }
    if (has_barrier != 0) barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = mixed(far) + mixed(sum) + mixed(x0 ^ mixed(x1)) + mixed(x2 ^ mixed(x3)) +
                          mixed(x4 ^ mixed(x5)) + mixed(x6 ^ mixed(x7)) + mixed(y0 ^ mixed(y1)) +
                          mixed(y2 ^ mixed(y3));
}
