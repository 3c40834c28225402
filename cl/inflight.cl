// SPDX-License-Identifier: Apache-2.0
// How many loads one work-group can have outstanding. clock.clh is put before this file.
// inflight_block: each work-item makes LOADS independent loads of 4 bytes a round, (rounds + 1) x
// LOADS in all; inflight_chains: CHAINS x hops dependent loads of 4 bytes a work-item.
// Parameters:
//   LOADS    independent loads of a work-item in a round, 0 to 16
//   CHAINS   chases of a work-item side by side, 1 to 32
// The first word of each line names another line, so that all lines are a single cycle.

// A congruential generator of full period (Hull and Dobell 1962): lines are a power of two.
inline uint next_line(uint line, uint mask) { return (line * 2891336453u + 1013904223u) & mask; }

// Random contents: unwritten or compressible memory reads too fast. One store of 4 bytes a word.
kernel void inflight_fill(global uint* data, uint mask, uint line_words) {
  const ulong words = ((ulong)mask + 1) * line_words;
  for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
    const uint line = (uint)(i / line_words);
    const uint mixed = ((uint)i * 2654435761u) ^ (line >> 3);
    data[i] = i % line_words == 0 ? next_line(line, mask) : mixed;
  }
}

// Reads a word of each line, so that caches hold what they can. One load a line.
kernel void inflight_touch(global const uint* data, uint mask, uint line_words,
                           global ulong* sink) {
  ulong sum = 0;
  for (ulong line = get_global_id(0); line <= mask; line += get_global_size(0)) {
    sum += data[line * line_words];
  }
  if (sum == ~0ul) sink[0] = sum;
}

// The place of a work-item's line among those of a load: neighbours share lines, or the same lanes
// of neighbouring sub-groups do.
inline uint place_of(uint item, uint merger, uint is_across, uint sub_group) {
  const uint within = item / merger;
  const uint across = item / sub_group / merger * sub_group + item % sub_group;
  return is_across ? across : within;
}

// One work-group. Each round lies between two barriers and touches lines of its own: lines
// first + round * LOADS * per_load + load * per_load + place. Round 0 is not timed: it fetches the
// instructions. out: ticks of the rounds as the first work-item sees them, then what each
// work-item has loaded, summed.
kernel void inflight_block(global const uint* data, uint mask, uint line_words, uint first,
                           uint per_load, uint rounds, uint merger, uint is_across, uint sub_group,
                           ulong never, global ulong* restrict out) {
  const uint item = (uint)get_local_id(0);
  ulong sum = 0;
  ulong ticks = 0;
  for (uint round = 0; round <= rounds; ++round) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong before = clock_after(sum, never);
    // Loads must not be made before the clock is read: their addresses depend on it.
    const uint late = before == never ? 1 : 0;
#if LOADS > 0
    const uint place = place_of(item, merger, is_across, sub_group);
    const uint base = first + round * LOADS * per_load + place + late;
    uint loaded[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {
      loaded[k] = data[(ulong)((base + k * per_load) & mask) * line_words];
    }
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) sum += loaded[k];
#endif
    // A barrier does not wait for loads, but what may be stored before it does.
    if (sum + late == never) out[0] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong after = clock_after(sum, never);
    if (round > 0) ticks += after - before;
  }
  if (item == 0) out[0] = ticks;
  out[1 + item] = sum;
}

// One work-group; chain c of work-item i starts at starts[i + c * work-items]. out: ticks of all
// hops as the first work-item sees them, then the sum of the lines at which each work-item ended.
kernel void inflight_chains(global const uint* data, uint line_words, global const uint* starts,
                            uint hops, ulong never, global ulong* restrict out) {
  const uint item = (uint)get_local_id(0);
  const uint items = (uint)get_local_size(0);
  uint at[CHAINS];
  ulong sum = 0;
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c) {
    at[c] = starts[item + c * items];
    sum += at[c];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong before = clock_after(sum, never);
  for (uint hop = 0; hop < hops; ++hop) {
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) at[c] = data[(ulong)at[c] * line_words];
  }
  sum = 0;
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c) sum += at[c];
  if (sum == never) out[0] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong after = clock_after(sum, never);
  if (item == 0) out[0] = after - before;
  out[1 + item] = sum;
}
