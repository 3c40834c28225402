// SPDX-License-Identifier: Apache-2.0
// Bandwidth by the stride between the elements of a work-item. Each work-item moves batches x
// UNROLL elements of VECTOR words; one that copies or updates moves them twice, one that reads also
// stores a word where it is one of at most 4,096 samples. The host's side is
// src/probes/stride/launch.cpp.
//
// Which elements belong to which work-item is a matter of the arguments alone: of elements of
// 2^log2_run a work-item, work-item `item` has
//     ((item & ~(stride - 1)) << log2_run | (item & (stride - 1))) + i * stride
// (clmempatterns, E. Konstantinidis 2018), so that stride 1 gives each its own run and a stride of
// the whole grid makes neighbours move neighbours.
//
// Elements are moved in their own type and added up as bits, since sums of floating point depend
// on the order. Word w of the data is (square * w + line) * w + constant, wrapping: what a
// work-item must find is then a square in the place of its first element, which it checks itself.

#define TYPE_INT 0
#define TYPE_FLOAT 1
#define TYPE_DOUBLE 2

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if VECTOR == 1
#define OF_WIDTH(name) name
#else
#define OF_WIDTH(name) PASTE(name, VECTOR)
#endif

#if TYPE == TYPE_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef ulong word;
typedef OF_WIDTH(ulong) words;
typedef OF_WIDTH(double) element;
#define AS_WORDS OF_WIDTH(as_ulong)
#define AS_ELEMENT OF_WIDTH(as_double)
#else
typedef uint word;
typedef OF_WIDTH(uint) words;
#define AS_WORDS OF_WIDTH(as_uint)
#if TYPE == TYPE_FLOAT
typedef OF_WIDTH(float) element;
#define AS_ELEMENT OF_WIDTH(as_float)
#else
typedef OF_WIDTH(int) element;
#define AS_ELEMENT OF_WIDTH(as_int)
#endif
#endif

// A place among the elements: 32 bits where they are enough, which GPUs add faster.
#if WIDE
typedef ulong position;
#else
typedef uint position;
#endif

#if VECTOR == 1
#define LANES ((words)0)
#elif VECTOR == 2
#define LANES ((words)(0, 1))
#elif VECTOR == 4
#define LANES ((words)(0, 1, 2, 3))
#elif VECTOR == 8
#define LANES ((words)(0, 1, 2, 3, 4, 5, 6, 7))
#else
#define LANES ((words)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#endif

// A macro: a vector as an argument of a function warns on CPUs whose registers are smaller.
#if VECTOR == 1
#define TOTAL_OF(each) (each)
#elif VECTOR == 2
#define TOTAL_OF(each) (each.s0 + each.s1)
#elif VECTOR == 4
#define TOTAL_OF(each) (each.s0 + each.s1 + each.s2 + each.s3)
#else
#define TOTAL_OF_8(each) \
  (each.s0 + each.s1 + each.s2 + each.s3 + each.s4 + each.s5 + each.s6 + each.s7)
#if VECTOR == 8
#define TOTAL_OF(each) TOTAL_OF_8(each)
#else
#define TOTAL_OF(each) (TOTAL_OF_8(each.lo) + TOTAL_OF_8(each.hi))
#endif
#endif

// Unrolled by macros, which every compiler obeys: all loads of a batch before the first use.
#if UNROLL == 1
#define EACH(DO) DO(0)
#elif UNROLL == 2
#define EACH(DO) DO(0) DO(1)
#elif UNROLL == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#elif UNROLL == 8
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#else
// clang-format off
#define EACH(DO)                                                                            \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)                                           \
  DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
// clang-format on
#endif

// STRIDE as a constant is for tools/accuracy, which compares: the probe passes it as an argument.
#ifdef STRIDE
#define STRIDE_OF(argument) ((position)STRIDE)
#else
#define STRIDE_OF(argument) (argument)
#endif

inline position first_of(position item, position stride, uint log2_run) {
  const position low = stride - 1;
  return ((item & ~low) << log2_run) | (item & low);
}

kernel void stride_read(global const element* restrict data, global word* restrict out,
                        position stride_argument, uint log2_run, position first, uint batches,
                        word square, word line, word constant_part, word launch, uint sample_shift,
                        uint samples) {
  const position stride = STRIDE_OF(stride_argument);
  const position item = (position)get_global_id(0);
  const position begin = first_of(item, stride, log2_run);
  position at = begin + first * stride;
  words sum = (words)0;
  for (uint batch = 0; batch < batches; ++batch) {
// clang-format off
#define LOAD(n) const element loaded##n = data[at]; at += stride;
#define ADD(n) sum += AS_WORDS(loaded##n);
    // clang-format on
    EACH(LOAD)
    EACH(ADD)
#undef LOAD
#undef ADD
  }
  const word found = TOTAL_OF(sum);
  const word place = (word)begin;
  if (found != (square * place + line) * place + constant_part) out[samples] = launch;
  if ((item & (((position)1 << sample_shift) - 1)) == 0) {
    out[item >> sample_shift] = found ^ launch;
  }
}

kernel void stride_write(global element* restrict data, position stride_argument, uint log2_run,
                         position first, uint batches, word launch) {
  const position stride = STRIDE_OF(stride_argument);
  position at = first_of((position)get_global_id(0), stride, log2_run) + first * stride;
  for (uint batch = 0; batch < batches; ++batch) {
// clang-format off
#define STORE(n) data[at] = AS_ELEMENT((words)((word)at * VECTOR + launch) + LANES); at += stride;
    // clang-format on
    EACH(STORE)
#undef STORE
  }
}

// Adds the launch's number: what an earlier launch left behind is then no copy.
kernel void stride_copy(global const element* restrict from, global element* restrict to,
                        position stride_argument, uint log2_run, position first, uint batches,
                        word launch) {
  const position stride = STRIDE_OF(stride_argument);
  position at = first_of((position)get_global_id(0), stride, log2_run) + first * stride;
  position behind = at;
  for (uint batch = 0; batch < batches; ++batch) {
// clang-format off
#define LOAD(n) const words loaded##n = AS_WORDS(from[at]) + launch; at += stride;
#define STORE(n) to[behind] = AS_ELEMENT(loaded##n); behind += stride;
    // clang-format on
    EACH(LOAD)
    EACH(STORE)
#undef LOAD
#undef STORE
  }
}

kernel void stride_update(global element* restrict data, position stride_argument, uint log2_run,
                          position first, uint batches, word launch) {
  const position stride = STRIDE_OF(stride_argument);
  position at = first_of((position)get_global_id(0), stride, log2_run) + first * stride;
  position behind = at;
  for (uint batch = 0; batch < batches; ++batch) {
// clang-format off
#define LOAD(n) const words loaded##n = AS_WORDS(data[at]) + launch; at += stride;
#define STORE(n) data[behind] = AS_ELEMENT(loaded##n); behind += stride;
    // clang-format on
    EACH(LOAD)
    EACH(STORE)
#undef LOAD
#undef STORE
  }
}

// Outside of all timing: the words that a launch moved, or all of a buffer's. They lie in blocks of
// `block` words, the first at `first` and each `blocks_apart` behind the one before, which is
// another way to say what the kernels above do. Work-item (x, y) has blocks_each blocks from
// y * blocks_each on, and of each the words x * apart and then every step-th, `each` of them.
// (Without a division, of which LLVM would make an instruction that Oclgrind does not know.)
// clang-format off
#define WALK(DO)                                                                      \
  for (ulong b = 0; b < blocks_each; ++b) {                                           \
    const ulong begin = first + (get_global_id(1) * blocks_each + b) * blocks_apart;  \
    ulong in_block = get_global_id(0) * apart;                                        \
    for (ulong n = 0; n < each && in_block < block; ++n) {                            \
      const ulong at = begin + in_block;                                              \
      const word place = (word)at;                                                    \
      const word right_word = (square * place + line) * place + constant_part;        \
      DO                                                                              \
      in_block += step;                                                               \
    }                                                                                 \
  }
// clang-format on

// One store of a word each.
kernel void stride_fill(global word* data, ulong apart, ulong step, ulong each, ulong blocks_each,
                        ulong first, ulong block, ulong blocks_apart, word square, word line,
                        word constant_part) {
  WALK(data[at] = right_word;)
}

// One load of a word each; counts those that are right.
kernel void stride_check(global const word* data, ulong apart, ulong step, ulong each,
                         ulong blocks_each, ulong first, ulong block, ulong blocks_apart,
                         word square, word line, word constant_part, global uint* right) {
  uint count = 0;
  WALK(count += data[at] == right_word ? 1 : 0;)
  right[get_global_id(1) * get_global_size(0) + get_global_id(0)] = count;
}
