// SPDX-License-Identifier: Apache-2.0
// Latency and throughput of arithmetic. A work-item runs CHAINS independent chains. A step of a
// chain is one operation on each of WIDTH components, and waits for the previous step. An iteration
// has STEPS steps of each chain, so a work-item makes CHAINS * WIDTH * STEPS operations per
// iteration. The host puts clock.clh before this file. Parameters:
//   OPERATION  one of the operations below
//   CHAINS     1 to 8
//   WIDTH      components of a chain's value: 1, 2, 4, 8 or 16
//   STEPS      a power of two from 2 to 1024
//   GROUP      size of the work-group, if it exceeds the size that compilers assume
//
// All operands are arguments, so that compilers cannot compute steps in advance or merge them.
// Values stay far from zero, infinity and denormal numbers (src/probes/compute/chains.cpp).

#include "mixed.clh"

#pragma OPENCL FP_CONTRACT OFF

#define OP_FMA 0
#define OP_ADD 1
#define OP_MUL 2
#define OP_DIV 3
#define OP_SQRT 4
#define OP_RSQRT 5
#define OP_EXP2 6
#define OP_COS 7
#define OP_INT_ADD 8
#define OP_INT_MAD 9
#define OP_MAD24 10
#define OP_DOUBLE_FMA 11
#define OP_HALF_FMA 12
#define OP_DOT 13
#define OP_BARRIER 14
#define OP_MATRIX_HALF 15

#if OPERATION == OP_DOUBLE_FMA
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double argument;
#define SCALAR double
#define WORD(x) ((uint)(as_ulong(x) ^ (as_ulong(x) >> 32)))
#elif OPERATION == OP_HALF_FMA
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef float argument;
#define SCALAR half
#elif OPERATION >= OP_INT_ADD && OPERATION != OP_MATRIX_HALF
typedef uint argument;
#define SCALAR uint
#define WORD(x) (x)
#else
typedef float argument;
#define SCALAR float
#define WORD(x) as_uint(x)
#endif

// The odd and the even steps of a chain. They differ where compilers would merge equal steps.
#define A ((value)(SCALAR)first)
#define B ((value)(SCALAR)second)
#if OPERATION == OP_ADD
#define ODD(x) x = x + A;
#define EVEN(x) x = x + B;
#elif OPERATION == OP_MUL
#define ODD(x) x = x * A;
#define EVEN(x) x = x * B;
#elif OPERATION == OP_DIV
#define ODD(x) x = A / x;
#elif OPERATION == OP_SQRT
#define ODD(x) x = sqrt(x);
#elif OPERATION == OP_RSQRT
#define ODD(x) x = native_rsqrt(x);
#elif OPERATION == OP_EXP2
#define ODD(x) x = native_exp2(-x);
#elif OPERATION == OP_COS
#define ODD(x) x = native_cos(x);
#elif OPERATION == OP_INT_ADD
#define ODD(x) x = x + A;
#define EVEN(x) x = x & B;
#elif OPERATION == OP_INT_MAD
#define ODD(x) x = x * A + B;
#elif OPERATION == OP_MAD24
#define ODD(x) x = mad24(x, A, B);
#elif OPERATION == OP_DOT
#ifdef cl_khr_integer_dot_product
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#endif
#define ODD(x) x = dot_4x8packed_uu_uint(x, A) + B;
#elif OPERATION == OP_BARRIER
#define ODD(x)                  \
  barrier(CLK_LOCAL_MEM_FENCE); \
  x = x + A;
#define EVEN(x)                 \
  barrier(CLK_LOCAL_MEM_FENCE); \
  x = x & B;
#elif OPERATION == OP_MATRIX_HALF
// The sub-group multiplies a 16 x 16 matrix of ones by a 16 x 8 matrix. The odd steps add 16, since
// its numbers are 1. The even steps subtract 12, since its numbers are -1 in 12 rows, otherwise 0.
#define ODD(x) x = with_product(x, ones, ones, ones);
#define EVEN(x) x = with_product(x, ones, minus_ones, minus_half);
#else
#define ODD(x) x = fma(x, A, B);
#endif
#ifndef EVEN
#define EVEN(x) ODD(x)
#endif

// clang-format off
#define JOINED(scalar, width) scalar##width
#define VECTOR(scalar, width) JOINED(scalar, width)
#if WIDTH == 1
typedef SCALAR value;
#define EACH_PART(f, x) f(x)
#else
typedef VECTOR(SCALAR, WIDTH) value;
#define EACH_2(f, x) f(x.s0) + f(x.s1)
#define EACH_4(f, x) EACH_2(f, x) + f(x.s2) + f(x.s3)
#define EACH_8(f, x) EACH_4(f, x) + f(x.s4) + f(x.s5) + f(x.s6) + f(x.s7)
#define EACH_16(f, x) \
  EACH_8(f, x) + f(x.s8) + f(x.s9) + f(x.sa) + f(x.sb) + f(x.sc) + f(x.sd) + f(x.se) + f(x.sf)
#define EACH_PART(f, x) VECTOR(EACH_, WIDTH)(f, x)
#endif

// The result of a chain: the bits of its last value. Where OpenCL C lets the last bits depend on
// the device, the result is 1 for a value between `low` and `high`, and 0 otherwise.
#if (OPERATION >= OP_DIV && OPERATION <= OP_COS) || OPERATION == OP_HALF_FMA
#define PART(x) ((float)(x) >= low && (float)(x) <= high ? 1u : 0u)
#else
#define PART(x) WORD(x)
#endif
#define RESULT_OF(x) (EACH_PART(PART, x))

#if CHAINS == 1
#define EACH(f) f(0)
#elif CHAINS == 2
#define EACH(f) f(0) f(1)
#elif CHAINS == 3
#define EACH(f) f(0) f(1) f(2)
#elif CHAINS == 4
#define EACH(f) f(0) f(1) f(2) f(3)
#elif CHAINS == 5
#define EACH(f) f(0) f(1) f(2) f(3) f(4)
#elif CHAINS == 6
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5)
#elif CHAINS == 7
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6)
#else
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#endif

#define DECLARE(j)                                                                       \
  value x##j = (value)(SCALAR)(start + (argument)(item % 4 + j % 2 * 4) * spread) +      \
               (value)(SCALAR)((argument)(j + 1) * apart);
#define ODD_OF(j) ODD(x##j)
#define EVEN_OF(j) EVEN(x##j)
#define ADD_RESULT(j) + RESULT_OF(x##j)

// Consecutive instructions belong to different chains.
#define TWO EACH(ODD_OF) EACH(EVEN_OF)
#define STEPS_2 TWO
#define STEPS_4 STEPS_2 STEPS_2
#define STEPS_8 STEPS_4 STEPS_4
#define STEPS_16 STEPS_8 STEPS_8
#define STEPS_32 STEPS_16 STEPS_16
#define STEPS_64 STEPS_32 STEPS_32
#define STEPS_128 STEPS_64 STEPS_64
#define STEPS_256 STEPS_128 STEPS_128
#define STEPS_512 STEPS_256 STEPS_256
#define STEPS_1024 STEPS_512 STEPS_512
#define BLOCK VECTOR(STEPS_, STEPS)
// clang-format on

#if OPERATION == OP_MATRIX_HALF
// Returns sum + a * b. Each register holds two half-precision numbers. The sub-group's work-items
// hold parts of the three matrices, whose layout does not matter here (PTX ISA, mma.m16n8k16).
inline float4 with_product(float4 sum, uint a, uint b_low, uint b_high) {
  float s0 = sum.s0, s1 = sum.s1, s2 = sum.s2, s3 = sum.s3;
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)
  __asm__(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %6}, {%0, %1, %2, %3};"
      : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)
      : "r"(a), "r"(b_low), "r"(b_high));
#endif
  return (float4)(s0, s1, s2, s3);
}
#endif

// Without this hint, AMD's compiler would unroll the loop further (see latency.cl).
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

// The chains of a work-item start at `start` plus 0 to 7 times `spread`, depending on the
// work-item and the chain. `apart` is 0, which compilers cannot know: otherwise they could run
// equal chains only once. The result of a work-group is the sum of the mixed results of its
// work-items. out[0] is the time in ticks of the first work-group, from the first start to the
// last end of its work-items. out[1 + group] is the result of each work-group.
#ifdef GROUP
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
kernel void
compute_chains(argument start, argument spread, argument apart, argument first, argument second,
               float low, float high, uint iterations, ulong never, global ulong* restrict out) {
#if CLOCK_IS_OF_GROUP
  local ulong base;
#endif
  local uint begin;
  local uint end;
  local uint sum;
  const uint item = (uint)get_global_id(0);
  EACH(DECLARE)
#if OPERATION == OP_MATRIX_HALF
  const uint ones = (uint)first * 0x3c003c00u;  // pairs of 1.0
  const uint minus_ones = ones | 0x80008000u;
  const uint minus_half = minus_ones & 0xffff0000u;
#endif
  if (get_local_id(0) == 0) {
#if CLOCK_IS_OF_GROUP
    base = clock_now();
#endif
    begin = ~0u;
    end = 0;
    sum = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong before = clock_now();
  LOOP_HINT
  for (uint i = 0; i < iterations; ++i) {
    BLOCK
  }
  const uint result = 0u EACH(ADD_RESULT);
  const ulong after = clock_after(result, never);
#if CLOCK_IS_OF_GROUP
  atomic_min(&begin, (uint)(before - base));
  atomic_max(&end, (uint)(after - base));
#else
  // Clocks of sub-groups cannot be compared, but all sub-groups start together.
  atomic_min(&begin, 0u);
  atomic_max(&end, (uint)(after - before));
#endif
  atomic_add(&sum, mixed(result));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    if (get_group_id(0) == 0) out[0] = end - begin;
    out[1 + get_group_id(0)] = sum;
  }
}
