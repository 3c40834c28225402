// SPDX-License-Identifier: Apache-2.0
// A chase: each load gives the address of the next. One load of one word per hop; nodes lie `step`
// bytes apart, so that a hop touches a line that no other hop does. They are linked in a random
// order that permutation.clh computes, the last to the first: a single cycle, of which no table is
// needed. clock.clh is put before this file. Parameters:
//   SPACE    where nodes are: 0 global, 1 constant argument, 2 constant program, 3 local, 4 image
//   ADDRESS  what a node holds: 0 a pointer, 1 the index of a 4-byte element, 2 a byte offset
//   WIDE     1: indices and offsets have 64 bits
//   SCALAR   1: the start is uniform and the nodes are read as constants, so that AMD's compilers
//            use the scalar cache
//   UNROLL   hops in one iteration, 1 to 127
//   LOCAL_BYTES  SPACE 3: bytes of local memory, at least the working set
// For SPACE 2 a definition of `table` is put between clock.clh and this file.

#include "permutation.clh"
#include "places.clh"

#define SPACE_GLOBAL 0
#define SPACE_CONSTANT_ARGUMENT 1
#define SPACE_CONSTANT_PROGRAM 2
#define SPACE_LOCAL 3
#define SPACE_IMAGE 4
#define ADDRESS_POINTER 0
#define ADDRESS_INDEX 1
#define ADDRESS_OFFSET 2

#if WIDE
typedef ulong word;
#else
typedef uint word;
#endif

#if SPACE == SPACE_GLOBAL && !SCALAR
#define MEMORY global
#elif SPACE == SPACE_LOCAL
#define MEMORY local
#else
#define MEMORY constant
#endif

// `cursor` names a node; LOAD follows it; OFFSET_OF gives its byte offset, the witness.
#if SPACE == SPACE_IMAGE
typedef int cursor;
#define LOAD(at) ((int)read_imageui(ring, at).x)
#define OFFSET_OF(at) ((ulong)(at)*4)
#define CURSOR_AT(offset) ((int)((offset) / 4))
#elif ADDRESS == ADDRESS_POINTER
typedef MEMORY uchar* cursor;
#define LOAD(at) (*(MEMORY cursor*)(at))
#define OFFSET_OF(at) ((ulong)((at)-ring))
#define CURSOR_AT(offset) (ring + (offset))
#elif ADDRESS == ADDRESS_INDEX
typedef word cursor;
#if WIDE
#define LOAD(at) (*(MEMORY word*)((MEMORY uint*)ring + (at)))
#else
#define LOAD(at) (((MEMORY uint*)ring)[at])
#endif
#define OFFSET_OF(at) ((ulong)(at)*4)
#define CURSOR_AT(offset) ((word)((offset) / 4))
#else
typedef word cursor;
#define LOAD(at) (*(MEMORY word*)(ring + (at)))
#define OFFSET_OF(at) ((ulong)(at))
#define CURSOR_AT(offset) ((word)(offset))
#endif

// NVIDIA's compiler carries an offset from one iteration to the next in 64 bits, as its address
// has, and widens it behind the last load: 17 cycles, in which nothing loads. Of what comes out of
// assembly it knows 32 bits alone.
#if defined(__NV_CL_C_VERSION) && ADDRESS != ADDRESS_POINTER && !WIDE
#define FORGET(at) __asm__ volatile("" : "+r"(at));
#else
#define FORGET(at)
#endif

#define HOP at = LOAD(at);
#define HOPS_2 HOP HOP
#define HOPS_4 HOPS_2 HOPS_2
#define HOPS_8 HOPS_4 HOPS_4
#define HOPS_16 HOPS_8 HOPS_8
#define HOPS_32 HOPS_16 HOPS_16
#define HOPS_64 HOPS_32 HOPS_32

// Nodes that are further apart than a line (one node per page) take lines of their pages by the
// golden ratio: any run of pages spreads evenly over the sets of a cache. Lines at random fill some
// sets twice while others are empty, and leave a first-level cache at half its size.
inline ulong node_offset(uint node, ulong step, ulong line) {
  return (ulong)node * step + mul_hi(node * 2654435761u, (uint)(step / line)) * line;
}

// AMD's compiler unrolls further by itself, which gains nothing and hides the loop from the tests.
// Others are left to choose: told to keep the loop, NVIDIA's adds 0.4 cycles to each hop.
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

// Where the node at a position of the cycle lies. The position after the last one is the first.
inline ulong offset_at(ulong position, uint nodes, uint key, ulong step, ulong line) {
  const uint k = position == nodes ? 0 : (uint)position;
  return node_offset(permuted(k, nodes, key), step, line);
}

#define CHAINS 16

// Walks the nodes at positions begin .. end - 1 of the cycle, 16 chains of `hops` each, so that
// every other node was last touched that much longer ago. Returns what only a walk can know.
#define WALK(begin, end, hops, sum)                                                             \
  {                                                                                             \
    cursor walker[CHAINS];                                                                      \
    for (uint chain = 0; chain < CHAINS; ++chain) {                                             \
      const ulong position = min((begin) + (ulong)chain * (hops), (ulong)(end)-1);              \
      walker[chain] = CURSOR_AT(offset_at(position, nodes, key, step, line));                   \
    }                                                                                           \
    for (uint hop = 0; hop < (hops); ++hop) {                                                   \
      for (uint chain = 0; chain < CHAINS; ++chain) {                                           \
        if ((begin) + (ulong)chain * (hops) + hop < (end)) walker[chain] = LOAD(walker[chain]); \
      }                                                                                         \
    }                                                                                           \
    for (uint chain = 0; chain < CHAINS; ++chain) sum += OFFSET_OF(walker[chain]);              \
  }

#if SPACE == SPACE_GLOBAL && !SCALAR
// Random contents first: unwritten or compressible memory reads too fast. One 8-byte store each.
kernel void latency_fill(global ulong* buffer, ulong count) {
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  for (ulong i = first_place(count); i < end; i += step) {
    const ulong mixed = (i + 1) * 0x9e3779b97f4a7c15ul;
    buffer[i] = mixed ^ (mixed >> 29);
  }
}

// Writes each node to lead to the next one of the order: one store each.
kernel void latency_layout(global uchar* ring, uint nodes, uint key, ulong step, ulong line) {
  const ulong begin = first_place(nodes);
  const ulong end = end_of_places(nodes);
  const ulong stride = place_step();
  ulong from = 0;
  for (ulong k = begin; k < end; k += stride) {
    // In a range of its own an item has just computed it.
    if (stride != 1 || k == begin) from = offset_at(k, nodes, key, step, line);
    const ulong to = offset_at(k + 1, nodes, key, step, line);
#if ADDRESS == ADDRESS_POINTER
    *(global cursor*)(ring + from) = CURSOR_AT(to);
#else
    *(global word*)(ring + from) = CURSOR_AT(to);
#endif
    from = to;
  }
}

// Ages the caches before a chase; one work-group, which runs where the chase will.
kernel void latency_sweep(global uchar* ring, uint nodes, uint key, ulong step, ulong line,
                          global ulong* sink, uint begin, uint end, uint hops) {
  const ulong first = begin + (ulong)get_global_id(0) * CHAINS * hops;
  ulong sum = 0;
  WALK(first, end, hops, sum)
  sink[get_global_id(0)] = sum;
}
#endif

#if SPACE == SPACE_IMAGE
#define RING_ARGUMENT read_only image1d_buffer_t ring,
#elif SPACE == SPACE_LOCAL
#define RING_ARGUMENT
#elif SPACE == SPACE_CONSTANT_ARGUMENT
#define RING_ARGUMENT constant uchar *ring,
#elif SPACE == SPACE_CONSTANT_PROGRAM
#define RING_ARGUMENT
#else
#define RING_ARGUMENT MEMORY uchar *ring,
#endif

// The timed chase: `lead` single hops and `warm` iterations, then `iterations` between two clock
// reads, from the node at position `start`. Where a launch may run on any core (CPUs) it also ages
// the caches itself: nodes age_begin .. age_end - 1, 16 chains of age_hops. out: ticks, byte offset
// of the last node, the sum of the walk.
kernel void latency_chase(RING_ARGUMENT uint nodes, uint key, ulong step, ulong line, uint start,
                          uint lead, uint warm, uint iterations, uint age_begin, uint age_end,
                          uint age_hops, ulong never, global ulong* restrict out) {
#if SPACE == SPACE_CONSTANT_PROGRAM
  constant uchar* ring = (constant uchar*)table;
#endif
#if SPACE == SPACE_LOCAL
  // An array and not an argument: its address is then a constant, which costs no instruction.
  local uchar ring[LOCAL_BYTES] __attribute__((aligned(64)));
  ulong from = offset_at(0, nodes, key, step, line);
  for (uint k = 1; k <= nodes; ++k) {
    const ulong to = offset_at(k, nodes, key, step, line);
#if ADDRESS == ADDRESS_POINTER
    *(local cursor*)(ring + from) = CURSOR_AT(to);
#else
    *(local word*)(ring + from) = CURSOR_AT(to);
#endif
    from = to;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if SCALAR
  const ulong first = start;
#else
  // It is 0: only AMD's compilers do not know, and so take the vector cache.
  const ulong first = start + get_global_id(0);
#endif
  cursor at = CURSOR_AT(offset_at(first, nodes, key, step, line));
// clang-format off
#define CHASE                                      \
  FORGET(at)                                       \
  if (UNROLL & 1) { HOP }                          \
  if (UNROLL & 2) { HOPS_2 }                       \
  if (UNROLL & 4) { HOPS_4 }                       \
  if (UNROLL & 8) { HOPS_8 }                       \
  if (UNROLL & 16) { HOPS_16 }                     \
  if (UNROLL & 32) { HOPS_32 }                     \
  if (UNROLL & 64) { HOPS_64 }
  // clang-format on
  ulong walked = 0;
#if SPACE != SPACE_LOCAL && SPACE != SPACE_CONSTANT_PROGRAM
  // Where a ring can be larger than a cache. The mere code keeps NVIDIA's compiler from unrolling.
  if (age_hops != 0) WALK(age_begin, age_end, age_hops, walked)
#endif
  LOOP_HINT
  for (uint i = 0; i < lead; ++i) {
    HOP
  }
  LOOP_HINT
  for (uint i = 0; i < warm; ++i) {
    CHASE
  }
  const ulong before = clock_after(OFFSET_OF(at), never);
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    CHASE
  }
  const ulong after = clock_after(OFFSET_OF(at), never);
  out[0] = after - before;
  out[1] = OFFSET_OF(at);
  out[2] = walked;
}
