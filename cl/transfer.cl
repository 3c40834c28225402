// SPDX-License-Identifier: Apache-2.0
// What the probe `transfer` needs of the device: contents, marks at places all over them
// (src/probes/transfer/marks.cpp), and a copy that reads or writes the host's memory.
#include "places.clh"

#define MAX_MARKS 512u

inline uint mixed(uint bits) {
  bits = (bits ^ (bits >> 16)) * 0x7feb352du;
  bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
  return bits ^ (bits >> 16);
}

inline ulong place_of_mark(uint mark, uint marks, ulong words_in_all, uint launch) {
  if (mark == 0) return 0;
  if (mark + 1 == marks) return words_in_all - 1;
  const ulong each = words_in_all / marks;
  return mark * each + mixed(launch * MAX_MARKS + mark) % each;
}

// Words that nothing can compress. A store of 4 bytes a place.
kernel void transfer_fill(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = mixed((uint)w);
}

// A store of 4 bytes a place.
kernel void transfer_clear(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = 0;
}

// A load of 4 bytes a place, each counted as often as its place says.
kernel void transfer_total(global const uint* data, ulong words_in_all, global ulong* totals) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  ulong total = 0;
  for (ulong w = first_place(words_in_all); w < end; w += step) total += data[w] * (2 * w + 1);
  totals[get_global_id(0)] = total;
}

// A store by each of `marks` work-items.
kernel void transfer_mark(global uint* data, ulong words_in_all, uint marks, uint launch) {
  const uint mark = (uint)get_global_id(0);
  if (mark >= marks) return;
  data[place_of_mark(mark, marks, words_in_all, launch)] = mixed(launch * MAX_MARKS + mark);
}

// A load and a store by each of `marks` work-items.
kernel void transfer_gather(global const uint* data, ulong words_in_all, uint marks, uint launch,
                            global uint* found) {
  const uint mark = (uint)get_global_id(0);
  if (mark >= marks) return;
  found[mark] = data[place_of_mark(mark, marks, words_in_all, launch)];
}

// 16 bytes loaded and stored a place; one of both buffers is the host's memory.
kernel void transfer_copy(global const uint4* from, global uint4* to, ulong vectors) {
  const ulong end = end_of_places(vectors);
  const ulong step = place_step();
  for (ulong v = first_place(vectors); v < end; v += step) to[v] = from[v];
}
