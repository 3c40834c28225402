// SPDX-License-Identifier: Apache-2.0
// The operations of the probe `compute`, and the operands of their chains.
#pragma once

#include <array>
#include <string_view>

namespace clprobe::compute {

/// Type of an operation's numbers.
enum class Number { float32, uint32, float64, float16 };

/// Effort of an operation: one instruction or a few, one instruction of a slow function unit, or a
/// sequence of instructions.
enum class Weight { light, special, sequence };

/// An operation, and the operands of its chains. Chains start at `start` plus 0 to 7 times
/// `spread`. The other numbers are operands, or the range of a chain's end (see below).
struct Operation {
  std::string_view name{};     ///< name of the series
  std::string_view summary{};  ///< summary of the series
  std::string_view macro{};    ///< name in cl/compute.cl
  Number number{Number::float32};
  Weight weight{Weight::light};
  /// True if OpenCL C prescribes every bit of the result, so that the host can compute it.
  bool is_exact{true};
  int flops{0};  ///< floating-point operations per operation, for operations that define peaks
  double start{0.25};
  double spread{1.0 / 1024};
  double first{0.0};   ///< first operand
  double second{0.0};  ///< second operand
  double low{0.0};     ///< minimum of a chain's end, if not exact
  double high{0.0};    ///< maximum of a chain's end, if not exact
};

// Values of exact chains move slowly through normal numbers, so that a missing iteration changes
// the end. The values of other chains alternate (div, half) or approach a number. These are the
// solutions of x = sqrt(x), x = 1 / sqrt(x), x = 2^-x and x = cos(x).
inline constexpr double almost_1 = 1.0 - 1.0 / (1 << 20);
inline constexpr double above_1 = 1.0 + 1.0 / (1 << 10);
inline constexpr double solution_of_exp2 = 0.641186;
inline constexpr double solution_of_cos = 0.739085;
// Relative distance that a chain's end may have from its exact end.
inline constexpr double tolerance = 0.002;

inline constexpr double below(double value) { return value * (1.0 - tolerance); }
inline constexpr double beyond(double value) { return value * (1.0 + tolerance); }

inline constexpr std::string_view dot_product = "dot-product";
inline constexpr std::string_view matrix_product = "matrix-half";
inline constexpr std::string_view group_barrier = "barrier";

/// All operations, in the order of the report.
inline constexpr std::array all_operations{
    Operation{.name = "fma",
              .summary = "fused multiply-add of floats",
              .macro = "OP_FMA",
              .flops = 2,
              .first = -almost_1,
              .second = 2.9},
    Operation{.name = "double-fma",
              .summary = "fused multiply-add of doubles",
              .macro = "OP_DOUBLE_FMA",
              .number = Number::float64,
              .flops = 2,
              .first = -almost_1,
              .second = 2.9},
    Operation{.name = "half-fma",
              .summary = "fused multiply-add of pairs of half-precision numbers",
              .macro = "OP_HALF_FMA",
              .number = Number::float16,
              .is_exact = false,
              .flops = 2,
              .start = 0.75,
              .spread = 0.0,
              .first = -1.0,
              .second = 3.0,
              .low = below(0.75),
              .high = beyond(0.75)},
    Operation{.name = "add",
              .summary = "addition of floats",
              .macro = "OP_ADD",
              .first = 0.75,
              .second = -0.75 + 1.0 / (1 << 22)},
    Operation{.name = "mul",
              .summary = "multiplication of floats",
              .macro = "OP_MUL",
              .first = above_1,
              .second = (1.0 - 1.0 / (1 << 22)) / above_1},
    Operation{.name = "int-add",
              .summary = "alternating addition and bitwise AND of integers",
              .macro = "OP_INT_ADD",
              .number = Number::uint32,
              .start = 77.0,
              .spread = 12345.0,
              .first = 0x2545f491,
              .second = 0x7fffffdf},
    Operation{.name = "int-mad",
              .summary = "multiplication and addition of integers",
              .macro = "OP_INT_MAD",
              .number = Number::uint32,
              .start = 77.0,
              .spread = 12345.0,
              .first = 1664525.0,
              .second = 1013904223.0},
    Operation{.name = "mad24",
              .summary = "mad24 of 24-bit integers",
              .macro = "OP_MAD24",
              .number = Number::uint32,
              .start = 1.0,
              .spread = 5.0,
              .first = 1.0,
              .second = 1.0},
    Operation{
        .name = dot_product,
        .summary = "dot product of two 4-byte vectors (dot_4x8packed_uu_uint), and an addition",
        .macro = "OP_DOT",
        .number = Number::uint32,
        .start = 77.0,
        .spread = 12345.0,
        .first = 0x7f3d5b29,
        .second = 0x9e3779b9},
    Operation{.name = "div",
              .summary = "division of floats",
              .macro = "OP_DIV",
              .weight = Weight::sequence,
              .is_exact = false,
              .start = 1.41,
              .spread = 0.0,
              .first = 2.7,
              .low = below(1.41),
              .high = beyond(1.41)},
    Operation{.name = "sqrt",
              .summary = "square root of a float",
              .macro = "OP_SQRT",
              .weight = Weight::sequence,
              .is_exact = false,
              .start = 1.9,
              .low = below(1.0),
              .high = beyond(1.0)},
    Operation{.name = "native-rsqrt",
              .summary = "native_rsqrt of a float",
              .macro = "OP_RSQRT",
              .weight = Weight::special,
              .is_exact = false,
              .start = 1.9,
              .low = below(1.0),
              .high = beyond(1.0)},
    Operation{.name = "native-exp2",
              .summary = "native_exp2 of a negated float",
              .macro = "OP_EXP2",
              .weight = Weight::special,
              .is_exact = false,
              .start = 0.5,
              .low = below(solution_of_exp2),
              .high = beyond(solution_of_exp2)},
    Operation{.name = "native-cos",
              .summary = "native_cos of a float",
              .macro = "OP_COS",
              .weight = Weight::special,
              .is_exact = false,
              .start = 0.5,
              .low = below(solution_of_cos),
              .high = beyond(solution_of_cos)},
    Operation{.name = matrix_product,
              .summary = "product of half-precision matrices (mma.m16n8k16), by 16 products each",
              .macro = "OP_MATRIX_HALF",
              .weight = Weight::special,
              .flops = 32,
              .start = 1.0,
              .spread = 1.0,
              .first = 1.0},
    Operation{.name = group_barrier,
              .summary = "barrier of a work-group, for local memory",
              .macro = "OP_BARRIER",
              .number = Number::uint32,
              .weight = Weight::special,
              .start = 77.0,
              .spread = 12345.0,
              .first = 0x2545f491,
              .second = 0x7fffffdf},
};

}  // namespace clprobe::compute
