// SPDX-License-Identifier: Apache-2.0
// Kernels with almost no work, so that the cost of their launches dominates. Each work-item adds to
// a counter atomically, because launches may overlap. The host checks the counter, so that dropped
// or repeated launches fail. A work-item moves 4 bytes.
//   PROGRAM  a number that makes programs of equal text differ

#define EACH_4(of, n) of(n##0) of(n##1) of(n##2) of(n##3)
#define EACH_16(of, n) EACH_4(of, n##0) EACH_4(of, n##1) EACH_4(of, n##2) EACH_4(of, n##3)
#define EACH_64(of) EACH_16(of, 0) EACH_16(of, 1) EACH_16(of, 2) EACH_16(of, 3)
#define ARGUMENT(n) , uint a##n
#define SUM(n) +a##n

// A kernel with two arguments.
kernel void launch_count(global uint* counter, uint more) { atomic_add(counter, more); }

// Kernels with the two arguments of launch_count and 4, 16 or 64 additional arguments.
kernel void launch_count_4(global uint* counter, uint more EACH_4(ARGUMENT, 0)) {
  atomic_add(counter, more EACH_4(SUM, 0));
}

kernel void launch_count_16(global uint* counter, uint more EACH_16(ARGUMENT, 0)) {
  atomic_add(counter, more EACH_16(SUM, 0));
}

kernel void launch_count_64(global uint* counter, uint more EACH_64(ARGUMENT)) {
  atomic_add(counter, more EACH_64(SUM));
}

// Runs for some microseconds, so that the next launch is queued before this launch ends. The work
// is a chain of `turns` dependent steps, which compilers cannot shorten.
kernel void launch_spin(global uint* counter, uint more, uint turns) {
  uint value = more;
  for (uint turn = 0; turn < turns; ++turn) value = (value * 1664525u) ^ 1013904223u;
  atomic_add(counter, value == 0 ? more + 1 : more);
}

// A kernel that is never launched. Programs with different PROGRAM then also differ after
// preprocessing, which is the text that compiler caches compare.
kernel void launch_number(global long* number) { *number = PROGRAM; }
