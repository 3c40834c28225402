// SPDX-License-Identifier: Apache-2.0
// Kernels of the probe `transfer`. The kernels fill buffers, write and read marks (`Marks` in
// src/probes/transfer/transfer.hpp), and copy between device memory and host memory.
#include "mixed.clh"
#include "places.clh"

#define MAX_MARKS 512u

inline ulong place_of_mark(uint mark, uint marks, ulong words_in_all, uint launch) {
  if (mark == 0) return 0;
  if (mark + 1 == marks) return words_in_all - 1;
  const ulong each = words_in_all / marks;
  return mark * each + mixed(launch * MAX_MARKS + mark) % each;
}

// Fills a buffer with incompressible words. Each word is one 4-byte store.
kernel void transfer_fill(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = mixed((uint)w);
}

// Writes the marks, one per work-item.
kernel void transfer_mark(global uint* data, ulong words_in_all, uint marks, uint launch) {
  const uint mark = (uint)get_global_id(0);
  if (mark >= marks) return;
  data[place_of_mark(mark, marks, words_in_all, launch)] = mixed(launch * MAX_MARKS + mark);
}

// Reads the marks, one per work-item, and stores them in `found`.
kernel void transfer_gather(global const uint* data, ulong words_in_all, uint marks, uint launch,
                            global uint* found) {
  const uint mark = (uint)get_global_id(0);
  if (mark >= marks) return;
  found[mark] = data[place_of_mark(mark, marks, words_in_all, launch)];
}

// Copies vectors of 16 bytes. One of the two buffers is allocated as host memory.
kernel void transfer_copy(global const uint4* from, global uint4* to, ulong vectors) {
  const ulong end = end_of_places(vectors);
  const ulong step = place_step();
  for (ulong v = first_place(vectors); v < end; v += step) to[v] = from[v];
}
