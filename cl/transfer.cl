// SPDX-License-Identifier: Apache-2.0
// Kernels of the probe `transfer`: contents, marks throughout them (`Marks` in
// src/probes/transfer/transfer.hpp), and a copy that reads or writes the host's memory.
#include "mixed.clh"
#include "places.clh"

#define MAX_MARKS 512u

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
