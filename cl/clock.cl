// SPDX-License-Identifier: Apache-2.0
// How many cycles a second the cores make while all units work.
//
// A work-item of clock_burn makes 8 operations for each of UNROLL steps of a turn of arithmetic,
// and reads 16 bytes for each of a turn of streaming. How its cycles are counted:
//   BY_CHAIN  of a CPU: each work-item counts, between blocks of work, the ticks (at a constant
//   rate)
//             of a chain of operations of one cycle each
//   BY_EVENT  clock_chain does, beside the loads: it counts cycles, and events say how long it took
//   neither   the first work-item reads two counters before and behind its work: that of its core's
//             cycles and one that goes on at a constant rate
// The host's side is src/probes/clock/launch.cpp.
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

// Word w of what is read.
inline uint word_at(uint w) { return (0x7f4a7c15u * w + 0x42ef9505u) * w; }

kernel void clock_fill(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = word_at((uint)w);
}

// x (1 - x) times nearly 4: a sequence that never settles, so that operands stay as random as those
// of real data. A product and a fused one, rounded as the host rounds them.
#define STEP(n)                                \
  {                                            \
    const float grown = 3.9375f * values[n];   \
    values[n] = fma(-grown, values[n], grown); \
  }

// `turns` of four sequences. What each work-item begins with follows from its number.
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

// `turns` times UNROLL vectors, each `step` behind the one before, round and round.
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
// By one work-item. `times` gets the cycles of a chain of `links` times 64 links, and its end.
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

// Rounds of `numbers` turns of arithmetic and `loads` of streaming; where there are both, groups of
// an odd number stream. The first work-item's first vector is `first`, the next one's lies `apart`
// of it, and each is `step` behind the one before. `ends` gets what each work-item has reached.
// `times` gets: of the first work-item the cycles and the constant time of its work; of BY_CHAIN
// for each work-item the least ticks of a chain of `links` times 64 links, and its end.
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
