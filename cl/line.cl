// SPDX-License-Identifier: Apache-2.0
// Loads of single words and of pairs of words at random places. A ring of single words is a pointer
// chase: each node holds the byte offset of the next node. In a ring of pairs, a node holds the
// offset of its second word, `distance` bytes further, and the second word that of the next node.
// A hop loads one word of 4 bytes. The host puts clock.clh before this file. There are no build
// options.

#include "permutation.clh"
#include "places.clh"

// NVIDIA's compiler would widen an offset after the last load (see latency.cl).
#ifdef __NV_CL_C_VERSION
#define FORGET(at) __asm__ volatile("" : "+r"(at));
#else
#define FORGET(at)
#endif

// Without this pragma, AMD's compiler would unroll the loop further (see latency.cl).
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

#define WORD_AT(offset) (*(global uint*)(memory + (offset)))
#define HOP at = WORD_AT(at);
#define HOPS_4 HOP HOP HOP HOP
#define HOPS_16 HOPS_4 HOPS_4 HOPS_4 HOPS_4

// Returns the byte offset of the node at a position of the cycle. Position `nodes` is the first
// node again. Each node is at a multiple of `align` in its step. The sum of the groups of 3 bits,
// without carry, selects one of up to 8 multiples: any 8 nodes whose numbers differ by a power of
// two then have different places, so that nodes are spread evenly over the sets of a cache.
inline uint offset_at(uint position, uint nodes, uint key, uint step, uint align) {
  const uint node = permuted(position == nodes ? 0 : position, nodes, key);
  uint sum = node ^ (node >> 3);
  sum ^= sum >> 6;
  sum ^= sum >> 12;
  sum ^= sum >> 24;
  return node * step + sum % 8 * (step / align) / 8 * align;
}

// Fills the buffer with random words, because unwritten or compressible memory would be read too
// fast. Each word is one 8-byte store.
kernel void line_fill(global ulong* memory, ulong count) {
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  for (ulong i = first_place(count); i < end; i += step) {
    const ulong mixed = (i + 1) * 0x9e3779b97f4a7c15ul;
    memory[i] = mixed ^ (mixed >> 29);
  }
}

// Links the nodes to a ring, with one or two stores per node.
kernel void line_layout(global uchar* memory, uint nodes, uint key, uint step, uint align,
                        uint distance) {
  const ulong end = end_of_places(nodes);
  const ulong stride = place_step();
  for (ulong k = first_place(nodes); k < end; k += stride) {
    const uint from = offset_at((uint)k, nodes, key, step, align);
    if (distance != 0) WORD_AT(from) = from + distance;
    WORD_AT(from + distance) = offset_at((uint)k + 1, nodes, key, step, align);
  }
}

// Loads the nodes from position `begin` on, in the order of the ring. All other nodes are then less
// recently used.
kernel void line_sweep(global uchar* memory, uint nodes, uint key, uint step, uint align,
                       uint begin, global uint* sink) {
  uint sum = 0;
  for (ulong k = begin + get_global_id(0); k < nodes; k += get_global_size(0)) {
    sum += WORD_AT(offset_at((uint)k, nodes, key, step, align));
  }
  sink[get_global_id(0)] = sum;
}

// Displaces everything else from the caches: loads a word of each of `count` blocks of 64 bytes,
// from `begin` on.
kernel void line_flush(global uchar* memory, uint begin, uint count, global uint* sink) {
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  uint sum = 0;
  for (ulong i = first_place(count); i < end; i += step) {
    sum += WORD_AT(begin + (uint)i * 64);
  }
  sink[get_global_id(0)] = sum;
}

// Times a chase from the first node of the ring on. `lead` single hops and `warm` iterations come
// first, then `iterations` iterations of 16 hops between two clock reads. out: ticks, byte offset
// of the last node.
kernel void line_chase(global uchar* memory, uint nodes, uint key, uint step, uint align, uint lead,
                       uint warm, uint iterations, ulong never, global ulong* restrict out) {
  // The work-item's id is 0. AMD's compilers do not know this value, so they use the vector cache.
  uint at = offset_at((uint)get_global_id(0), nodes, key, step, align);
  LOOP_HINT
  for (uint i = 0; i < lead; ++i) {
    HOP
  }
  LOOP_HINT
  for (uint i = 0; i < warm; ++i) {
    FORGET(at)
    HOPS_16
  }
  const ulong before = clock_after(at, never);
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    FORGET(at)
    HOPS_16
  }
  const ulong after = clock_after(at, never);
  out[0] = after - before;
  out[1] = at;
}
