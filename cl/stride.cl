// SPDX-License-Identifier: Apache-2.0
// Bandwidth by the stride between the elements of a work-item. Each work-item moves batches *
// UNROLL elements of VECTOR words. A copy or an update moves each element twice, by a load and by a
// store. A read also stores one word for each of at most 4,096 sampled work-items. The launches are
// in src/probes/stride/launch.cpp.
//
// The arguments determine the elements of a work-item. Each work-item has 2^log2_run elements.
// Element i of work-item `item` has the index
//     ((item & ~(stride - 1)) << log2_run | (item & (stride - 1))) + i * stride
// (clmempatterns, E. Konstantinidis 2018). Stride 1 gives each work-item a contiguous run; a stride
// of the whole grid makes neighbouring work-items move neighbouring elements.
//
// Elements are moved in their type but summed as integers, because floating-point sums depend on
// the order of additions. Word w of the data is (square * w + line) * w + constant, wrapping. The
// sum of a work-item's words is then a quadratic function of its first word, which the work-item
// checks.

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

// Index of an element. The index has 32 bits if these suffice, because GPUs add 32-bit numbers
// faster.
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

// Sum of a vector's components. A macro, because a function with a vector argument would cause
// warnings on CPUs with smaller registers.
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

// Unrolls a batch, so that all its loads precede the first use. Macros unroll with every compiler.
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

// The probe passes the stride as an argument. For comparison, bench/native/stride_argument.cpp
// builds with a constant.
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

// Copies the words and adds the number of the launch, so that words of an earlier launch fail the
// check.
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

// Loop over the words that a launch moved, or over a whole buffer; not timed. The words are in
// blocks of `block` words, which start at `first` and are blocks_apart apart. Work-item (x, y)
// visits blocks_each blocks from block y * blocks_each on. In each block, it visits `each` words
// from x * apart on, at distances of `step`. The loop has no divisions, because LLVM would make
// them an instruction that Oclgrind does not know.
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

// Fills the words with the source data.
kernel void stride_fill(global word* data, ulong apart, ulong step, ulong each, ulong blocks_each,
                        ulong first, ulong block, ulong blocks_apart, word square, word line,
                        word constant_part) {
  WALK(data[at] = right_word;)
}

// Counts the words that are right.
kernel void stride_check(global const word* data, ulong apart, ulong step, ulong each,
                         ulong blocks_each, ulong first, ulong block, ulong blocks_apart,
                         word square, word line, word constant_part, global uint* right) {
  uint count = 0;
  WALK(count += data[at] == right_word ? 1 : 0;)
  right[get_global_id(1) * get_global_size(0) + get_global_id(0)] = count;
}
