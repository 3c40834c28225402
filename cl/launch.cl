// SPDX-License-Identifier: Apache-2.0
// Kernels that do next to nothing, so that launching them is what takes the time. Each work-item
// adds to a counter, atomically, since launches may run at the same time: one that was dropped or
// made twice shows. One work-item moves 4 bytes.
//   PROGRAM  a number that makes programs of the same text differ

#define EACH_4(of, n) of(n##0) of(n##1) of(n##2) of(n##3)
#define EACH_16(of, n) EACH_4(of, n##0) EACH_4(of, n##1) EACH_4(of, n##2) EACH_4(of, n##3)
#define EACH_64(of) EACH_16(of, 0) EACH_16(of, 1) EACH_16(of, 2) EACH_16(of, 3)
#define ARGUMENT(n) , uint a##n
#define SUM(n) +a##n

// Two arguments.
kernel void launch_count(global uint* counter, uint more) { atomic_add(counter, more); }

// Two arguments, and 4, 16 or 64 more.
kernel void launch_count_4(global uint* counter, uint more EACH_4(ARGUMENT, 0)) {
  atomic_add(counter, more EACH_4(SUM, 0));
}

kernel void launch_count_16(global uint* counter, uint more EACH_16(ARGUMENT, 0)) {
  atomic_add(counter, more EACH_16(SUM, 0));
}

kernel void launch_count_64(global uint* counter, uint more EACH_64(ARGUMENT)) {
  atomic_add(counter, more EACH_64(SUM));
}

// Goes on for some microseconds, so that the next launch is there when it ends: a chain of `turns`
// dependent steps, whose end nobody can foretell without them.
kernel void launch_spin(global uint* counter, uint more, uint turns) {
  uint value = more;
  for (uint turn = 0; turn < turns; ++turn) value = (value * 1664525u) ^ 1013904223u;
  atomic_add(counter, value == 0 ? more + 1 : more);
}

// Never launched: programs of other numbers are others for a compiler's cache, too, that looks
// behind the preprocessor.
kernel void launch_number(global long* number) { *number = PROGRAM; }
