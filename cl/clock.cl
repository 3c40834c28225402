// SPDX-License-Identifier: Apache-2.0
// The clock rate of the cores while all compute units work.
//
// A work-item of clock_burn performs arithmetic and streaming. A step of arithmetic has 8
// operations, a step of streaming reads 16 bytes, and an iteration has UNROLL steps. A parameter
// selects how the core's cycles are counted:
//   BY_CHAIN  CPUs: each work-item measures the ticks (at a constant rate) of a chain of one-cycle
//             operations, between blocks of work
//   BY_EVENT  clock_chain counts the cycles of a chain in separate launches, timed by events
//   neither   the first work-item reads two counters before and after its work: the core's
//             cycles, and a counter with a constant rate
// The launches are in src/probes/clock/launch.cpp.
#include "places.clh"

#pragma OPENCL FP_CONTRACT OFF

#define UNROLL 8

inline ulong steady_now(void) {
#if CLOCK == CLOCK_NVIDIA
  ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
#else
  return clock_now();
#endif
}

// Returns word w of the streamed data.
inline uint word_at(uint w) { return (0x7f4a7c15u * w + 0x42ef9505u) * w; }

kernel void clock_fill(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = word_at((uint)w);
}

// One step of the logistic map x -> 3.9375 x (1 - x). The map is chaotic, so its operands are as
// random as real data. Both operations round as on the host, which repeats the same sequence.
#define STEP(n)                                \
  {                                            \
    const float grown = 3.9375f * values[n];   \
    values[n] = fma(-grown, values[n], grown); \
  }

// Computes `turns` iterations of four sequences, whose first values depend on the work-item's
// number.
inline uint arithmetic(uint item, uint turns) {
  float values[4];
  for (uint n = 0; n < 4; ++n) {
    values[n] = (float)((item * 4 + n) * 2654435761u >> 9) / 8388608.0f * 0.5f + 0.25f;
  }
  for (uint turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (uint i = 0; i < UNROLL; ++i) {
      STEP(0) STEP(1) STEP(2) STEP(3)
    }
  }
  return as_uint(values[0]) + as_uint(values[1]) + as_uint(values[2]) + as_uint(values[3]);
}

// Sums `turns` * UNROLL vectors at distances of `step`. The index wraps at the end of the buffer.
inline uint stream(global const uint4* data, uint vectors, uint at, uint step, uint turns) {
  uint4 sum = (uint4)0;
  for (uint turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (uint i = 0; i < UNROLL; ++i) {
      sum += data[at];
      at += step;
      at -= at < vectors ? 0 : vectors;
    }
  }
  return sum.x + sum.y + sum.z + sum.w;
}

#define LINK value = (value + more) ^ mask;
#define LINKS_4 LINK LINK LINK LINK
#define LINKS_16 LINKS_4 LINKS_4 LINKS_4 LINKS_4
#define LINKS_64 LINKS_16 LINKS_16 LINKS_16 LINKS_16

#ifdef BY_EVENT
// Runs with one work-item. `times` receives the cycles of a chain of links * 64 links, and its last
// value.
kernel void clock_chain(uint first, uint links, uint more, uint mask, ulong never,
                        global ulong* times) {
  uint value = first;
  const ulong before = clock_after(value, never);
  for (uint link = 0; link < links; ++link) {
    LINKS_64
  }
  const ulong after = clock_after(value, never);
  times[0] = after - before;
  times[1] = value;
}
#endif

// A round has `numbers` iterations of arithmetic and `loads` iterations of streaming. If neither is
// 0, work-groups with an odd number stream, and the others compute. The first vectors of the
// work-items start at `first`, at distances of `apart`. The vectors of a work-item have distances
// of `step`. `ends` receives the final number of each work-item. With BY_CHAIN, `times` receives
// two numbers for each work-item: the minimum ticks of a chain of links * 64 links, and the chain's
// last value. With BY_EVENT, `times` stays unchanged. Otherwise, `times` receives the first
// work-item's cycles and its time by the constant-rate counter.
kernel void clock_burn(global const uint4* data, uint vectors, uint first, uint apart, uint step,
                       uint rounds, uint numbers, uint loads, uint links, uint more, uint mask,
                       ulong never, global uint* ends, global ulong* times) {
  const uint item = (uint)get_global_id(0);
  const bool is_both = numbers != 0 && loads != 0;
  const bool is_odd = (get_group_id(0) & 1) != 0;
  const uint my_numbers = is_both && is_odd ? 0 : numbers;
  const uint my_loads = is_both && !is_odd ? 0 : loads;
  uint end = 0;
#ifdef BY_CHAIN
  ulong least = never;
  uint value = item;
#elif !defined(BY_EVENT)
  const ulong core = clock_after(item, never);
  const ulong steady = steady_now();
#endif
  for (uint round = 0; round < rounds; ++round) {
    if (my_numbers != 0) end += arithmetic(item + round, my_numbers);
    if (my_loads != 0) {
      const ulong at = first + (ulong)item * apart + (ulong)round * my_loads * UNROLL * step;
      end += stream(data, vectors, (uint)(at % vectors), step, my_loads);
    }
#ifdef BY_CHAIN
    const ulong before = clock_after(value, never);
    for (uint link = 0; link < links; ++link) {
      LINKS_64
    }
    const ulong after = clock_after(value, never);
    least = min(least, after - before);
#endif
  }
  ends[item] = end;
#ifdef BY_CHAIN
  times[2 * item] = least;
  times[2 * item + 1] = value;
#elif !defined(BY_EVENT)
  const ulong core_end = clock_after(end, never);
  const ulong steady_end = steady_now();
  if (item != 0) return;
  times[0] = core_end - core;
  times[1] = steady_end - steady;
#endif
}
