// SPDX-License-Identifier: Apache-2.0
// Latency and rate of atomic operations. The host puts clock.clh before this file. Parameters:
//   OPERATION  one of the operations below
//   RESULT     1: the kernel uses the results of the operations
//   WIDE       1: words of 64 bits
//   LOCAL      1: words in local memory, of which a work-group has CELLS
//   CELLS      work-items of the work-group, if LOCAL
//
// All operands are arguments, so that compilers can neither drop nor merge operations.

#include "places.clh"

#define OP_ADD 0
#define OP_MAX 1
#define OP_CMPXCHG 2

#if WIDE
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
typedef ulong word;
#define ADD(word, value) atom_add(word, value)
#else
typedef uint word;
#define ADD(word, value) atomic_add(word, value)
#endif

#if LOCAL
#define MEMORY local
#else
#define MEMORY global
#endif

// Without this hint, AMD's compiler would unroll the loops further (see latency.cl).
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

// NVIDIA's compiler would keep an index in 64 bits between iterations (see latency.cl).
#ifdef __NV_CL_C_VERSION
#define FORGET(at) __asm__ volatile("" : "+r"(at));
#else
#define FORGET(at)
#endif

// Words between the nodes of a chain: a node of global memory has a line of 128 bytes.
#define NODES 32
#if LOCAL
#define NODE_WORDS 1
#define RING
#else
#define NODE_WORDS 32
#define RING global uint *ring,
#endif

// clang-format off
#define HOP at = atomic_add(ring + at, zero);
#define HOPS_4 HOP HOP HOP HOP
#define HOPS_32 HOPS_4 HOPS_4 HOPS_4 HOPS_4 HOPS_4 HOPS_4 HOPS_4 HOPS_4
// clang-format on

// Times a chain of additions by one work-item, with 32 additions per iteration. Each addition
// returns the index of the next word. The 32 words of a ring, from the word `first` on, contain
// these indices, and `zero` is 0. `warm` untimed additions come first. out: ticks, index of the
// word after the last addition.
kernel void atomics_chain(RING uint first, uint zero, uint warm, uint iterations, ulong never,
                          global ulong* restrict out) {
#if LOCAL
  local uint ring[NODES];
  for (uint i = 0; i < NODES; ++i) ring[i] = (i + 1) % NODES * NODE_WORDS;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  // The work-item's id is 0, which compilers do not know.
  uint at = first + (uint)get_global_id(0);
  LOOP_HINT
  for (uint i = 0; i < warm; ++i) {
    HOP
  }
  const ulong before = clock_after(at, never);
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    FORGET(at)
    HOPS_32
  }
  const ulong after = clock_after(at, never);
  out[0] = after - before;
  out[1] = at;
}

// Operation i of a work-item adds 1, raises the word to i + 1, or replaces i by i + 1. In each
// case, the host knows the last value of the word. Maxima and exchanges of other work-items may
// come first, but exactly one operation i changes the word. RESULT_OF returns the old word of an
// addition, and otherwise 1 for the operation that changed the word.
// clang-format off
#if OPERATION == OP_ADD
#define OPERATE ADD(mine, one)
#define RESULT_OF(old) (old)
#else
#if OPERATION == OP_MAX
#define OPERATE atomic_max(mine, next + one)
#define RESULT_OF(old) ((old) <= next ? 1u : 0u)
#else
#define OPERATE atomic_cmpxchg(mine, next, next + one)
#define RESULT_OF(old) ((old) == next ? 1u : 0u)
#endif
#define FIRST word next = 0;
#define ADVANCE next += one;
#endif
#ifndef ADVANCE
#define FIRST
#define ADVANCE
#endif
#if RESULT
#define STEP { const word old = OPERATE; result += RESULT_OF(old); ADVANCE }
#else
#define STEP OPERATE; ADVANCE
#endif
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP
// clang-format on

#if LOCAL
#define COUNTERS
#else
#define COUNTERS global word *counters,
#endif

// A work-item makes 8 operations per iteration, all on the same word. Neighbouring work-items use
// neighbouring words: the words have the numbers 0 to `mask`, and are `spacing` words apart. `one`
// is 1. All words are 0 at first; words of local memory must have the value `last` at the end.
//
// out[0] is the time in ticks of the first work-group, from the first start to the last end of its
// work-items. out[1 + group] has the sum of the results of the work-group in the lower half. The
// upper half has the number of right words in local memory.
kernel void atomics_rate(COUNTERS uint mask, uint spacing, word one, uint last, uint iterations,
                         ulong never, global ulong* restrict out) {
#if CLOCK_IS_OF_GROUP
  local ulong base;
#endif
  local uint begin;
  local uint end;
  local uint sum;
  local uint right;
#if LOCAL
  local word counters[CELLS];
  counters[get_local_id(0)] = 0;
#endif
  MEMORY word* const mine = counters + ((uint)get_global_id(0) & mask) * spacing;
  if (get_local_id(0) == 0) {
#if CLOCK_IS_OF_GROUP
    base = clock_now();
#endif
    begin = ~0u;
    end = 0;
    sum = 0;
    right = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong before = clock_now();
  FIRST
  word result = 0;
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    STEPS_8
  }
#if LOCAL && !RESULT
  // Operations without a result are complete when a later load returns.
  const ulong after = clock_after(*(volatile local word*)mine, never);
#else
  const ulong after = clock_after(result, never);
#endif
#if CLOCK_IS_OF_GROUP
  atomic_min(&begin, (uint)(before - base));
  atomic_max(&end, (uint)(after - base));
#else
  // Clocks of sub-groups cannot be compared, but all sub-groups start together.
  atomic_min(&begin, 0u);
  atomic_max(&end, (uint)(after - before));
#endif
  atomic_add(&sum, (uint)result);
  barrier(CLK_LOCAL_MEM_FENCE);
#if LOCAL
  if (get_local_id(0) <= mask) atomic_add(&right, counters[get_local_id(0)] == last ? 1u : 0u);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (get_local_id(0) == 0) {
    if (get_group_id(0) == 0) out[0] = end - begin;
    out[1 + get_group_id(0)] = ((ulong)right << 32) | sum;
  }
}

#if !LOCAL
// Counts the words with the value `last`, and sets all words to 0: a load and a store per word.
// out[group] is the number of words in the work-group's part.
kernel void atomics_collect(global word* counters, uint count, uint spacing, word last,
                            global ulong* restrict out) {
  local uint right;
  if (get_local_id(0) == 0) right = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mine = 0;
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  for (ulong i = first_place(count); i < end; i += step) {
    mine += counters[i * spacing] == last ? 1u : 0u;
    counters[i * spacing] = 0;
  }
  atomic_add(&right, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) out[get_group_id(0)] = right;
}
#endif
