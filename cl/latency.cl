// SPDX-License-Identifier: Apache-2.0
// Latency by a pointer chase: each load returns the address of the next load. A hop loads one word.
// Nodes are `step` bytes apart, so that each hop loads another line. permutation.clh computes the
// random order in which the nodes are linked to one cycle, without a table. The host puts clock.clh
// before this file. Parameters:
//   SPACE    memory of the nodes: 0 global, 1 constant argument, 2 constant program, 3 local,
//            4 image
//   ADDRESS  content of a node: 0 a pointer, 1 the index of a 4-byte element, 2 a byte offset
//   WIDE     1: indices and offsets have 64 bits
//   SCALAR   1: the start is uniform and the nodes are constants, so that AMD's compilers use the
//            scalar cache
//   UNROLL   hops per iteration, 1 to 127
//   LOCAL_BYTES  bytes of local memory for SPACE 3; at least the working set
// For SPACE 2, the host puts a definition of `table` between clock.clh and this file.

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

// `cursor` refers to a node. LOAD returns the next node's cursor. OFFSET_OF returns a node's byte
// offset, CURSOR_AT the reverse. The last node's offset is the checksum.
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

// NVIDIA's compiler would keep an offset in 64 bits between iterations and widen it after the last
// load, which adds 17 cycles without a load. Empty assembly with a 32-bit operand prevents this.
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

// Returns the byte offset of a node. If each page has one node, the golden ratio selects the line
// in the page. The lines of consecutive pages are then evenly distributed over the sets of a cache.
// Random lines would fill some sets twice and leave others empty, so that a first-level cache would
// look half as large.
inline ulong node_offset(uint node, ulong step, ulong line) {
  return (ulong)node * step + mul_hi(node * 2654435761u, (uint)(step / line)) * line;
}

// With this pragma, AMD's compiler does not unroll further. More unrolling gains nothing, and tests
// would not find the loop. NVIDIA's compiler gets no pragma, which would add 0.4 cycles per hop.
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

// Returns the byte offset of the node at a position of the cycle. Position `nodes` is the first
// node again.
inline ulong offset_at(ulong position, uint nodes, uint key, ulong step, ulong line) {
  const uint k = position == nodes ? 0 : (uint)position;
  return node_offset(permuted(k, nodes, key), step, line);
}

#define CHAINS 16

// Visits the nodes at 16 * `hops` positions of the cycle from `begin` on, but only below `end`, in
// 16 chains. All other nodes are then less recently used. Adds the last offsets to `sum`.
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
// Fills the buffer with random words, because unwritten or compressible memory would be read too
// fast. Each word is one 8-byte store.
kernel void latency_fill(global ulong* buffer, ulong count) {
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  for (ulong i = first_place(count); i < end; i += step) {
    const ulong mixed = (i + 1) * 0x9e3779b97f4a7c15ul;
    buffer[i] = mixed ^ (mixed >> 29);
  }
}

// Links each node to the next node of the order, with one store per node.
kernel void latency_layout(global uchar* ring, uint nodes, uint key, ulong step, ulong line) {
  const ulong begin = first_place(nodes);
  const ulong end = end_of_places(nodes);
  const ulong stride = place_step();
  ulong from = 0;
  for (ulong k = begin; k < end; k += stride) {
    // If positions are consecutive, `from` is the `to` of the previous position.
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

// Ages the caches before a chase, by one work-group.
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

// Times a chase that starts at the node at position `start`. `lead` single hops and `warm`
// iterations come first, then `iterations` iterations between two clock reads. On a CPU, where each
// launch may run on another core, the kernel also ages the caches: it visits the nodes from
// age_begin to age_end - 1 in 16 chains of age_hops hops. out: ticks, byte offset of the last node,
// sum of the aging.
kernel void latency_chase(RING_ARGUMENT uint nodes, uint key, ulong step, ulong line, uint start,
                          uint lead, uint warm, uint iterations, uint age_begin, uint age_end,
                          uint age_hops, ulong never, global ulong* restrict out) {
#if SPACE == SPACE_CONSTANT_PROGRAM
  constant uchar* ring = (constant uchar*)table;
#endif
#if SPACE == SPACE_LOCAL
  // The array is not an argument, because the constant address of an array costs no instruction.
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
  // The work-item's id is 0. AMD's compilers do not know this value, so they use the vector cache.
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
  // A ring in these memories may exceed a cache, so the caches may need aging. This code also keeps
  // NVIDIA's compiler from unrolling.
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
