// SPDX-License-Identifier: Apache-2.0
// Latencies from each compute unit to parts of a cache, hand-overs between two compute units, and a
// gather. The host puts clock.clh before this file. It has no parameters.
//
// The memory consists of blocks of 4 KiB. A block has a short ring of 8 nodes, 512 bytes apart, at
// words 0, 128, ... A node is the index of the next node. The words 64, 192, ... are nodes of the
// long ring of a part, which map_link makes. All other words are hashes.

#include "mixed.clh"

#define BLOCK_WORDS 1024u
#define NODES 8u
#define NODE_WORDS 128u
#define LINE_WORDS 32u

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

// Number of the compute unit. Without an instruction that reads the number, the number of the
// work-group.
#ifdef __NV_CL_C_VERSION
#define UNIT_IS_READ 1
inline uint unit_id(void) {
  uint id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
#else
#define UNIT_IS_READ 0
inline uint unit_id(void) { return (uint)get_group_id(0); }
#endif

// True for the first work-item on the compute unit `unit`. `claim` is 0 at first.
inline bool is_chosen(uint unit, global uint* claim) {
  return unit_id() == unit && atomic_inc(claim) == 0;
}

// Writes the words of the blocks: one store per word.
kernel void map_fill(global uint* memory, uint words) {
  for (uint i = (uint)get_global_id(0); i < words; i += (uint)get_global_size(0)) {
    const uint start = i / BLOCK_WORDS * BLOCK_WORDS;
    uint word = i % (NODE_WORDS / 2) == 0 ? 0u : mixed(i);
    if (i % NODE_WORDS == 0) word = start + (i - start + NODE_WORDS) % BLOCK_WORDS;
    memory[i] = word;
  }
}

// Links a part's long ring: first one node of each block, then the next node of each block, and so
// on. A load and a store per node. out: 1 if the number of the compute unit can be read.
kernel void map_link(global uint* memory, global const uint* blocks, uint count,
                     global ulong* restrict out) {
  for (uint i = (uint)get_global_id(0); i < count * NODES; i += (uint)get_global_size(0)) {
    const uint next = (i + 1) % (count * NODES);
    const uint from = blocks[i % count] * BLOCK_WORDS + i / count * NODE_WORDS + NODE_WORDS / 2;
    memory[from] = blocks[next % count] * BLOCK_WORDS + next / count * NODE_WORDS + NODE_WORDS / 2;
  }
  if (get_global_id(0) == 0) out[0] = UNIT_IS_READ;
}

// clang-format off
#define ADD at = atomic_add(memory + at, zero);
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
#define LOAD at = memory[at + zero];
#define LOAD_8 LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD
// clang-format on

// Times additions of 0 in the short rings of blocks, by one work-item on a compute unit: 8 untimed
// and 16 timed additions per block. out: 1, ticks of each block.
kernel void map_scan(global uint* memory, global uint* claim, uint unit,
                     global const uint* restrict blocks, uint count, uint zero, ulong never,
                     global ulong* restrict out) {
  if (!is_chosen(unit, claim)) return;
  for (uint i = 0; i < count; ++i) {
    uint at = blocks[i] * BLOCK_WORDS + zero;
    ADD_8
    const ulong before = clock_after(at, never);
    ADD_8
    ADD_8
    out[1 + i] = clock_after(at, never) - before;
  }
  out[0] = 1;
}

// Times a chain in a long ring by one work-item on a compute unit, with 8 accesses per iteration.
// `warm` untimed accesses come first. `zero` is 0. out: ticks, index of the node after the last
// access.
kernel void map_atomic(global uint* memory, global uint* claim, uint unit, uint first, uint zero,
                       uint warm, uint iterations, ulong never, global ulong* restrict out) {
  if (!is_chosen(unit, claim)) return;
  uint at = first + zero;
  LOOP_HINT
  for (uint i = 0; i < warm; ++i) {
    ADD
  }
  const ulong before = clock_after(at, never);
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    FORGET(at)
    ADD_8
  }
  const ulong after = clock_after(at, never);
  out[0] = after - before;
  out[1] = at;
}

// map_atomic with volatile loads, which the first cache of NVIDIA's and AMD's GPUs does not serve.
kernel void map_load(global volatile uint* memory, global uint* claim, uint unit, uint first,
                     uint zero, uint warm, uint iterations, ulong never,
                     global ulong* restrict out) {
  if (!is_chosen(unit, claim)) return;
  uint at = first + zero;
  LOOP_HINT
  for (uint i = 0; i < warm; ++i) {
    LOAD
  }
  const ulong before = clock_after(at, never);
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    FORGET(at)
    LOAD_8
  }
  const ulong after = clock_after(at, never);
  out[0] = after - before;
  out[1] = at;
}

// Raises the flag from `from` to `from` + 1. Returns false if the flag does not reach `from` within
// `*polls` tries, which decrease.
inline bool hand_over(global uint* flag, uint from, uint* polls) {
  while (atomic_cmpxchg(flag, from, from + 1) != from) {
    if (--*polls == 0) return false;
  }
  return true;
}

// Two work-items on different compute units raise a flag in turn: 8 untimed and `iterations` timed
// pairs of exchanges. Each first announces itself and waits for the other, so that both are
// resident. All waits of a work-item together take at most `polls` tries. state: claims of both,
// announcements, flag, in separate lines, all 0. out: ticks, last value of the flag.
kernel void map_hand_over(global uint* state, uint first, uint second, uint iterations, uint polls,
                          ulong never, global ulong* restrict out) {
  const uint unit = unit_id();
  if (unit != first && unit != second) return;
  const uint role = unit == first ? 0 : 1;
  if (atomic_inc(state + role * LINE_WORDS) != 0) return;
  global uint* const announced = state + 2 * LINE_WORDS;
  global uint* const flag = state + 3 * LINE_WORDS;
  uint left = polls;
  // After the first one has given up, the second one does not start.
  if (atomic_inc(announced) > 1) return;
  while (atomic_add(announced, 0u) != 2) {
    if (--left != 0) continue;
    if (atomic_cmpxchg(announced, 1u, 2u) == 1) return;
    left = 1;
  }
  const uint warm = 8;
  for (uint i = 0; i < warm; ++i) {
    if (!hand_over(flag, 2 * i + role, &left)) return;
  }
  const ulong before = clock_after(left, never);
  for (uint i = warm; i < warm + iterations; ++i) {
    if (!hand_over(flag, 2 * i + role, &left)) return;
  }
  const ulong after = clock_after(left, never);
  if (role == 0) {
    out[0] = after - before;
  } else {
    out[1] = atomic_add(flag, 0u);
  }
}

// Reads blocks in an order: a work-item loads 16 bytes of each of 8 blocks per chunk. Work-groups
// take the next chunk of one of two lists of chunks, which `list_of_unit` chooses by the compute
// unit. tickets: the number of chunks taken from each list, 0 at first. The work-group size is 256.
// out: 0, sum of the words that each work-group has read.
kernel void map_gather(global const uint4* restrict memory, global const uint* restrict order,
                       global const uint* restrict list_of_unit, uint units, uint first_chunks,
                       uint second_chunks, uint iterations, global uint* tickets,
                       global ulong* restrict out) {
  local uint ticket;
  local uint sum;
  const uint item = (uint)get_local_id(0);
  const uint list = list_of_unit[unit_id() % units];
  const uint begin = list == 0 ? 0 : first_chunks;
  const uint chunks = list == 0 ? first_chunks : second_chunks;
  if (item == 0) sum = 0;
  uint4 found = (uint4)(0);
  while (true) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) ticket = atomic_inc(tickets + list * LINE_WORDS);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint mine = ticket;
    if (mine >= chunks * iterations) break;
    global const uint* const blocks = order + (begin + mine % chunks) * 8;
    for (uint i = 0; i < 8; ++i) found += memory[blocks[i] * (BLOCK_WORDS / 4) + item];
  }
  atomic_add(&sum, found.x + found.y + found.z + found.w);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    if (get_group_id(0) == 0) out[0] = 0;
    out[1 + get_group_id(0)] = sum;
  }
}
