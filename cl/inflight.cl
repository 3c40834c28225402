// SPDX-License-Identifier: Apache-2.0
// Number of loads that one work-group can have outstanding. The host puts clock.clh before this
// file.
//   inflight_block   each work-item makes LOADS independent loads of 4 bytes per round, in
//                    rounds + 1 rounds
//   inflight_chains  each work-item makes CHAINS * hops dependent loads of 4 bytes
//   inflight_loaded  one pointer chase next to work-groups that stream vectors of 16 bytes
// Parameters:
//   LOADS    independent loads per work-item and round, 0 to 16
//   CHAINS   concurrent chains per work-item, 1 to 32
//   LINE_WORDS  4-byte words per line, a power of two. The number is a constant, so that a hop is a
//               load and a shift. A multiplication takes 4 more cycles on an x86 CPU.
//   GROUP    size of the work-group, if it exceeds the size that compilers assume
//   OWN_TIMES  if defined, each sub-group's begin and end are stored as well
// The first word of each line has the number of the next line. These numbers link all lines to a
// single cycle.

#include "places.clh"

// On an x86 CPU, a clock read by a builtin function (clock.clh) is not ordered with loads. In a
// work-group, barriers order the reads. The time of a single work-item needs a fence.
#if CLOCK == CLOCK_CPU && defined(CLOCK_WITHOUT_ASM) && defined(__x86_64__)
#define WAIT_FOR_LOADS __builtin_ia32_lfence()
#else
#define WAIT_FOR_LOADS
#endif

// Returns the next line, by a congruential generator of full period (Hull and Dobell 1962). The
// number of lines must be a power of two.
inline uint next_line(uint line, uint mask) { return (line * 2891336453u + 1013904223u) & mask; }

// Fills the buffer with random words and links the lines to a cycle. Unwritten or compressible
// memory would be read too fast. Each word is one 4-byte store.
kernel void inflight_fill(global uint* data, uint mask, uint line_words) {
  const ulong words = ((ulong)mask + 1) * line_words;
  const ulong end = end_of_places(words);
  const ulong step = place_step();
  for (ulong i = first_place(words); i < end; i += step) {
    const uint line = (uint)(i / line_words);
    const uint mixed = ((uint)i * 2654435761u) ^ (line >> 3);
    data[i] = i % line_words == 0 ? next_line(line, mask) : mixed;
  }
}

// Loads a word of each line to fill the caches.
kernel void inflight_touch(global const uint* data, uint mask, uint line_words,
                           global ulong* sink) {
  ulong sum = 0;
  const ulong lines = (ulong)mask + 1;
  const ulong end = end_of_places(lines);
  const ulong step = place_step();
  for (ulong line = first_place(lines); line < end; line += step) {
    sum += data[line * line_words];
  }
  if (sum == ~0ul) sink[0] = sum;
}

// Returns the index of a work-item's line among the lines that one load of all work-items accesses.
// `merger` neighbouring work-items share a line. With `is_across`, equal lanes of `merger`
// neighbouring sub-groups share a line.
inline uint place_of(uint item, uint merger, uint is_across, uint sub_group) {
  const uint within = item / merger;
  const uint across = item / sub_group / merger * sub_group + item % sub_group;
  return is_across ? across : within;
}

// Runs one work-group. Each round is between two barriers and loads new lines:
//   first + (round * LOADS + load) * per_load + place
// Round 0 loads the code and is not timed. In a kernel that was built for a larger work-group,
// work-items from `items` on only wait at the barriers.
//
// A round lasts from the first exit of a sub-group from one barrier to the first exit from the next
// barrier. If sub-groups have separate clocks, the times of the first work-item count. out: ticks
// of all rounds, then the sum of each work-item's loaded words. With OWN_TIMES, two numbers per
// sub-group follow, summed over the rounds: the delay of its begin after the first sub-group's
// begin, and the time until its values arrived.
#ifdef GROUP
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
kernel void
inflight_block(global const uint* data, uint mask, uint line_words, uint first, uint per_load,
               uint rounds, uint merger, uint is_across, uint sub_group, ulong never, uint items,
               global ulong* restrict out) {
  local uint word;
  local ulong base;
  local uint begin;
  local uint end;
  const uint item = (uint)get_local_id(0);
#ifdef GROUP
  const uint is_idle = item >= items;
#else
  const uint is_idle = 0;
#endif
#if LOADS > 0
  const uint place = place_of(item, merger, is_across, sub_group);
#endif
  ulong sum = 0;
  ulong ticks = 0;
#ifdef OWN_TIMES
  ulong late = 0;
  ulong took = 0;
#endif
  if (item == 0) word = 0;
  for (uint round = 0; round <= rounds; ++round) {
    if (item == 0) {
      base = clock_now();
      begin = ~0u;
      end = ~0u;
    }
#if LOADS > 0
    // Addresses are computed before the clock read, so that only the loads are timed.
    global const uint* at[LOADS];
    ulong ready = sum;
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {
      const uint line = (first + (round * LOADS + k) * per_load + place) & mask;
      at[k] = data + (ulong)line * line_words;
      ready += (ulong)at[k];
    }
    if (ready == never) out[0] = ready;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong before = clock_behind_barrier(&word, never);
#ifdef OWN_TIMES
    WAIT_FOR_LOADS;
#endif
#if LOADS > 0
    if (!is_idle) {
      uint loaded[LOADS];
#pragma unroll
      for (uint k = 0; k < LOADS; ++k) loaded[k] = *(at[k] + CLOCK_LATE(before, never));
#pragma unroll
      for (uint k = 0; k < LOADS; ++k) sum += loaded[k];
    }
#endif
    // A barrier does not wait for loads. This conditional store waits for the loads, because its
    // condition needs the loaded values.
    if (sum == never) out[0] = sum;
#ifdef OWN_TIMES
    WAIT_FOR_LOADS;
    const ulong own_end = clock_after(sum, never);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong after = clock_behind_barrier(&word, never);
    if (CLOCK_IS_OF_GROUP || item == 0) {
      atomic_min(&begin, (uint)(before - base));
      atomic_min(&end, (uint)(after - base));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && round > 0) ticks += end - begin;
#ifdef OWN_TIMES
    if (round > 0) {
      late += (uint)(before - base) - begin;
      took += own_end - before;
    }
    // After this barrier, all work-items have read `base` and `begin`, and the first work-item may
    // reset them.
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  if (item == 0) out[0] = ticks;
  if (!is_idle) out[1 + item] = sum;
#ifdef OWN_TIMES
  if (!is_idle && item % sub_group == 0) {
    const uint own = 1 + items + item / sub_group * 2;
    out[own] = late;
    out[own + 1] = took;
  }
#endif
}

// Runs one work-group. Chain c of work-item i starts at starts[i + c * work-items]. out: ticks of
// all hops by the first work-item, then the sum of each work-item's last lines.
#ifdef GROUP
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
kernel void
inflight_chains(global const uint* data, global const uint* starts, uint hops, ulong never,
                global ulong* restrict out) {
  local uint word;
  const uint item = (uint)get_local_id(0);
  const uint items = (uint)get_local_size(0);
  uint at[CHAINS];
  ulong sum = 0;
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c) {
    at[c] = starts[item + c * items];
    sum += at[c];
  }
  if (item == 0) word = 0;
  if (sum == never) out[0] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong before = clock_behind_barrier(&word, never);
  for (uint hop = 0; hop < hops; ++hop) {
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) at[c] = data[(ulong)at[c] * LINE_WORDS];
  }
  sum = 0;
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c) sum += at[c];
  if (sum == never) out[0] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong after = clock_behind_barrier(&word, never);
  if (item == 0) out[0] = after - before;
  out[1 + item] = sum;
}

// Returns the base of streamed word `index`, which contains the base plus 1. The difference counts
// loaded words, so that a loop without loads has a wrong checksum.
inline uint stream_word(uint index) { return index * 2654435761u; }

// Fills the streamed buffer. Each word is one 4-byte store.
kernel void inflight_fill_stream(global uint* words, uint mask) {
  const ulong count = (ulong)mask + 1;
  const ulong end = end_of_places(count);
  const ulong step = place_step();
  for (ulong i = first_place(count); i < end; i += step) {
    words[i] = stream_word((uint)i) + 1;
  }
}

inline uint count_of(uint4 found, uint vector) {
  const uint4 index = vector * 4 + (uint4)(0, 1, 2, 3);
  const uint4 ones = found - index * 2654435761u;
  return ones.x + ones.y + ones.z + ones.w;
}

// Loads turns * 4 vectors of 16 bytes, 4 at a time, and returns the number of loaded words.
inline uint stream_round(global const uint4* words, uint mask, uint first, uint items, uint item,
                         uint turns) {
  uint sum = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    uint4 found[4];
#pragma unroll
    for (uint k = 0; k < 4; ++k) {
      found[k] = words[(first + (turn * 4 + k) * items + item) & mask];
    }
#pragma unroll
    for (uint k = 0; k < 4; ++k) {
      sum += count_of(found[k], (first + (turn * 4 + k) * items + item) & mask);
    }
  }
  return sum;
}

// Returns `value` after `delay` dependent multiplications, which take time.
inline uint wait_for(uint value, uint delay) {
  for (uint i = 0; i < delay; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

// Work-group 0 chases pointers with one work-item. The work-item repeats `lead` untimed loads until
// the other work-groups stream, at most `most_leads` times, and twice more. Then the work-item
// times `hops` loads in two halves.
//
// Each work-item of the other work-groups loads turns * 4 vectors of 16 bytes per round, and
// performs `delay` multiplications between rounds. All waits are bounded, because work-groups may
// run one after another. A stream ends when the chase ends, after `rounds` rounds, or after
// `most_ticks` ticks.
//
// progress[0] counts the rounds of all streams. progress[64], which is in another cache line, is
// set when the chase ends. The rounds during each half of the chase show whether streams and chase
// overlapped. out: ticks of the hops, ticks from the first to the last read of progress[0], and the
// rounds in each half. Next are the number of repetitions of `lead` and the last line of the chase.
// Then follow the rounds and the loaded words of each streaming work-group.
kernel void inflight_loaded(global const uint* data, uint start, uint lead, uint most_leads,
                            uint hops, global const uint4* words, uint mask, uint first, uint turns,
                            uint rounds, uint delay, ulong most_ticks, ulong never,
                            volatile global uint* progress, global ulong* restrict out) {
  local uint seen[2];
  local uint total;
  const uint item = (uint)get_local_id(0);
  const uint items = (uint)get_local_size(0);
  const uint group = (uint)get_group_id(0);
  if (group == 0) {
    if (item == 0) {
      uint at = start;
      uint leads = 0;
      uint more = most_leads;
      while (leads < more) {
        for (uint hop = 0; hop < lead; ++hop) at = data[(ulong)at * LINE_WORDS];
        ++leads;
        const uint is_streaming = atomic_add(&progress[0], at == ~0u ? 1u : 0u) != 0;
        if (is_streaming && more == most_leads) more = leads + 2;
      }
      const uint count0 = atomic_add(&progress[0], 0u);
      const ulong begin = clock_after((ulong)at + count0, never);
      at += begin == never ? 1 : 0;
      for (uint hop = 0; hop < hops / 2; ++hop) at = data[(ulong)at * LINE_WORDS];
      const ulong pause = clock_after(at, never);
      const uint count1 = atomic_add(&progress[0], pause == never ? 1u : 0u);
      const ulong resume = clock_after(count1, never);
      at += resume == never ? 1 : 0;
      for (uint hop = hops / 2; hop < hops; ++hop) at = data[(ulong)at * LINE_WORDS];
      const ulong end = clock_after(at, never);
      const uint count2 = atomic_add(&progress[0], end == never ? 1u : 0u);
      const ulong last = clock_after(count2, never);
      atomic_xchg(&progress[64], 1u);
      out[0] = pause - begin + (end - resume);
      out[1] = last - begin;
      out[2] = count1 - count0;
      out[3] = count2 - count1;
      out[4] = leads;
      out[5] = at;
    }
  } else {
    const uint others = (uint)get_num_groups(0) - 1;
    const ulong begin = clock_after(item, never);
    uint sum = 0;
    uint round = 0;
    uint is_over = 0;
    if (item == 0) total = 0;
    for (; round < rounds && is_over == 0; ++round) {
      const uint place = first + (round * others + group - 1) * items * turns * 4;
      sum += stream_round(words, mask, place, items, item, turns);
      const uint waited = wait_for(sum, delay);
      if (item == 0) {
        atomic_inc(&progress[0]);
        const ulong now = clock_after(waited, never);
        seen[round & 1] = progress[64] != 0 || now - begin > most_ticks;
      }
      if (waited == never) out[0] = waited;
      barrier(CLK_LOCAL_MEM_FENCE);
      is_over = seen[round & 1];
    }
    atomic_add(&total, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
      out[4 + 2 * group] = round;
      out[5 + 2 * group] = total;
    }
  }
}
