// SPDX-License-Identifier: Apache-2.0
// Fences and special functions in a text.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "prelude/reach.hpp"

namespace clprobe::prelude {

inline constexpr std::array<std::string_view, 4> fence_names{
    "mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"};

/// Those that GPUs have a unit for, those of two arguments last. A division by `/` is none of them.
inline constexpr std::array<std::string_view, 41> special_functions{
    "sin",         "cos",          "tan",         "exp",           "exp2",         "exp10",
    "log",         "log2",         "log10",       "sqrt",          "rsqrt",        "native_sin",
    "native_cos",  "native_tan",   "native_exp",  "native_exp2",   "native_exp10", "native_log",
    "native_log2", "native_log10", "native_sqrt", "native_rsqrt",  "half_sin",     "half_cos",
    "half_tan",    "half_exp",     "half_exp2",   "half_exp10",    "half_log",     "half_log2",
    "half_log10",  "half_sqrt",    "half_rsqrt",  "native_recip",  "half_recip",   "pow",
    "powr",        "native_powr",  "half_powr",   "native_divide", "half_divide"};

inline constexpr std::size_t functions_of_two = 6;

/// Of the statements of assembly that are reached.
struct FencesInAssembly {
  bool is_any{false};  ///< one is a fence of PTX, and nothing besides
  bool are_all{true};  ///< there is no other one
};
FencesInAssembly find_fences_in_assembly(const Reach& reach);

}  // namespace clprobe::prelude
