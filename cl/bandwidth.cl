// SPDX-License-Identifier: Apache-2.0
// Bandwidth by working set. LANES neighbouring work-items form a walk, which moves the blocks of a
// region repeatedly. Per block, a work-item moves UNROLL vectors of VECTOR words; neighbouring
// work-items move neighbouring vectors. `places` has for each walk the first block of its region
// and its start in the region. Two or more walks may have the same region. One build serves all
// sizes, and compilers know no address. The launches are in src/probes/bandwidth/launch.cpp.
//   LANES   work-items of a walk
//   VECTOR  words per vector: 4 or 16
//   GROUP   size of the work-group, if it exceeds the size that compilers assume
//   IMAGE   also builds the walk over an image with 4 words per texel
#include "places.clh"

#if VECTOR == 4
typedef uint4 words;
#define UNROLL 4
// One sum per work-item suffices. While its addition waits for the previous addition, other
// work-items run.
#define NO_SUMS words sum = (words)0;
#define ADD(n) sum += loaded##n;
#define SUM sum
#define LANES_OF_VECTOR ((words)(0, 1, 2, 3))
#define TOTAL_OF(each) (each.s0 + each.s1 + each.s2 + each.s3)
#else
typedef uint16 words;
// A CPU core runs one work-item at a time, so it needs several independent sums. With one sum, a
// core reaches half of its cache's bandwidth. An iteration has eight vectors, because with four
// vectors a core reaches four fifths: the next address is known only three cycles after the present
// address.
#define UNROLL 8
#define NO_SUMS                                                             \
  words sum0 = (words)0, sum1 = (words)0, sum2 = (words)0, sum3 = (words)0; \
  words sum4 = (words)0, sum5 = (words)0, sum6 = (words)0, sum7 = (words)0;
#define ADD(n) sum##n += loaded##n;
#define SUM (sum0 + sum1 + sum2 + sum3 + sum4 + sum5 + sum6 + sum7)
#define LANES_OF_VECTOR ((words)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define TOTAL_OF_4(each) (each.s0 + each.s1 + each.s2 + each.s3)
#define TOTAL_OF(each)                                                        \
  (TOTAL_OF_4(each.lo.lo) + TOTAL_OF_4(each.lo.hi) + TOTAL_OF_4(each.hi.lo) + \
   TOTAL_OF_4(each.hi.hi))
#endif

#ifdef GROUP
#define IN_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#else
#define IN_GROUP
#endif

// clang-format off
#if UNROLL == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#endif
#define LOAD(n) const words loaded##n = data[at + n * LANES];
// All loads of an iteration use one base address. Otherwise, NVIDIA's compiler would compute an
// address per load in 32 bits, and an H200 would read 2 % less than with a native kernel.
#define LOCAL_HERE local const words* const here = set + at;
#define LOAD_LOCAL(n) const words loaded##n = here[n * LANES];
#define LOAD_TEXEL(n) const words loaded##n = read_imageui(data, (int)(at + n * LANES));

// Runs DO for each visit of a block. `at`: index of the work-item's first vector, of type INDEX.
#define WALK_BY(INDEX, DO)                                                            \
  const uint item = (uint)get_global_id(0);                                           \
  const uint2 place = places[item / LANES];                                           \
  uint block = place.y;                                                               \
  for (uint turn = 0; turn < turns; ++turn) {                                         \
    const INDEX at = ((INDEX)place.x + block) * (UNROLL * LANES) + item % LANES;      \
    DO                                                                                \
    block = block + 1 == blocks ? 0 : block + 1;                                      \
  }
#define WALK(DO) WALK_BY(ulong, DO)

#if VECTOR == 4
#define WALK_TO_READ WALK(EACH(LOAD) EACH(ADD))
#else
// The walk with a pointer instead of an index, because an indexed load takes one more operation on
// x86. A core of a Xeon read 303 GB/s from its first-level cache with indices, and 344 GB/s with a
// pointer.
#define LOAD_HERE(n) const words loaded##n = here[n * LANES];
#define WALK_TO_READ                                                                  \
  const uint item = (uint)get_global_id(0);                                           \
  const uint2 place = places[item / LANES];                                           \
  global const words* const begin = data + (ulong)place.x * (UNROLL * LANES) + item % LANES; \
  global const words* const end = begin + (ulong)blocks * (UNROLL * LANES);           \
  global const words* here = begin + (ulong)place.y * (UNROLL * LANES);               \
  for (uint turn = 0; turn < turns; ++turn) {                                         \
    EACH(LOAD_HERE) EACH(ADD)                                                         \
    here += UNROLL * LANES;                                                           \
    here = here == end ? begin : here;                                                \
  }
#endif
// clang-format on

// Reads a region. Each work-item stores the sum of its loaded words plus the number of the launch.
IN_GROUP
kernel void bandwidth_read(global const words* restrict data, global const uint2* restrict places,
                           uint blocks, uint turns, uint launch, global uint* restrict sums) {
  NO_SUMS
  WALK_TO_READ
  const words sum_of_all = SUM;
  sums[item] = TOTAL_OF(sum_of_all) + launch;
}

// Reads a region that the work-group has copied to local memory.
IN_GROUP
kernel void bandwidth_local(global const words* restrict data, global const uint2* restrict places,
                            uint blocks, uint turns, uint launch, global uint* restrict sums,
                            local words* set) {
  const uint vectors = blocks * (UNROLL * LANES);
  for (uint v = (uint)get_local_id(0); v < vectors; v += (uint)get_local_size(0)) set[v] = data[v];
  barrier(CLK_LOCAL_MEM_FENCE);
  NO_SUMS
  WALK_BY(uint, LOCAL_HERE EACH(LOAD_LOCAL) EACH(ADD))
  const words sum_of_all = SUM;
  sums[item] = TOTAL_OF(sum_of_all) + launch;
}

#ifdef IMAGE
// Reads a region of an image, one texel per vector. VECTOR must be 4.
IN_GROUP
kernel void bandwidth_image(read_only image1d_buffer_t data, global const uint2* restrict places,
                            uint blocks, uint turns, uint launch, global uint* restrict sums) {
  NO_SUMS
  WALK(EACH(LOAD_TEXEL) EACH(ADD))
  const words sum_of_all = SUM;
  sums[item] = TOTAL_OF(sum_of_all) + launch;
}
#endif

// clang-format off
// `mark` is the number of the launch. Until the walk's last visit of a block, `mark` also includes
// `earlier`, which has the bit EARLIER, so that missing iterations leave wrong words.
#define EARLIER 0x80000000u
#define MARK(earlier) const uint mark = launch + (turns - turn > blocks ? (earlier) : 0u);
#define FIRST const words first = (words)((uint)at * VECTOR + mark) + LANES_OF_VECTOR;
#define WRITE(n) data[at + n * LANES] = first + (uint)(n * LANES * VECTOR);
#define COPY(n) to[at + n * LANES] = loaded##n + mark;
#define UPDATE(n) data[at + n * LANES] = loaded##n + launch;
// clang-format on

// Stores w plus `mark` in word w. Until the last visit of a block, `mark` includes the iteration
// number. With this number, an H200 writes 4.61 TB/s to its L2, as a native kernel does; without
// it, 4.45 TB/s.
IN_GROUP
kernel void bandwidth_write(global words* restrict data, global const uint2* restrict places,
                            uint blocks, uint turns,
                            uint launch){WALK(MARK(EARLIER + turn) FIRST EACH(WRITE))}

// Copies the words and adds the number of the launch, so that words of an earlier launch fail the
// check.
IN_GROUP kernel void bandwidth_copy(global const words* restrict data, global words* restrict to,
                                    global const uint2* restrict places, uint blocks, uint turns,
                                    uint launch){WALK(EACH(LOAD) MARK(EARLIER) EACH(COPY))}

IN_GROUP kernel
    void bandwidth_update(global words* restrict data, global const uint2* restrict places,
                          uint blocks, uint turns, uint launch) {
  WALK(EACH(LOAD) EACH(UPDATE))
}

// Returns word w of the source. The host computes the sums of these words
// (src/probes/bandwidth/walks.cpp).
inline uint word_at(uint w) { return (0x7f4a7c15u * w + 0x42ef9505u) * w; }

// Fills the source. This launch is not timed.
kernel void bandwidth_fill(global uint* data, ulong words_in_all) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  for (ulong w = first_place(words_in_all); w < end; w += step) data[w] = word_at((uint)w);
}

// Counts the words that are right. Word w must be w or, with `is_filled`, word_at(w), plus `added`.
kernel void bandwidth_check(global const uint* data, ulong words_in_all, uint is_filled, uint added,
                            global uint* right) {
  const ulong end = end_of_places(words_in_all);
  const ulong step = place_step();
  uint count = 0;
  for (ulong w = first_place(words_in_all); w < end; w += step) {
    const uint base = is_filled != 0 ? word_at((uint)w) : (uint)w;
    count += data[w] == base + added ? 1 : 0;
  }
  right[get_global_id(0)] = count;
}
