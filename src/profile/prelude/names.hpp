// SPDX-License-Identifier: Apache-2.0
// Functions of OpenCL C that the instrumentation replaces.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace clprobe::prelude {

/// Work-item functions that cl/prelude.clh replaces.
inline constexpr std::array<std::string_view, 5> renamed{
    "get_group_id", "get_global_id", "get_global_offset", "get_global_linear_id", "get_work_dim"};
/// Work-item functions that an entry (cl/entry.clh) replaces in addition.
inline constexpr std::array<std::string_view, 2> renamed_by_entry{"get_num_groups",
                                                                  "get_global_size"};

/// Special functions, which a unit of its own computes on GPUs; those of two arguments are last.
/// Division by `/` does not count.
inline constexpr std::array<std::string_view, 41> special_functions{
    "sin",         "cos",          "tan",         "exp",           "exp2",         "exp10",
    "log",         "log2",         "log10",       "sqrt",          "rsqrt",        "native_sin",
    "native_cos",  "native_tan",   "native_exp",  "native_exp2",   "native_exp10", "native_log",
    "native_log2", "native_log10", "native_sqrt", "native_rsqrt",  "half_sin",     "half_cos",
    "half_tan",    "half_exp",     "half_exp2",   "half_exp10",    "half_log",     "half_log2",
    "half_log10",  "half_sqrt",    "half_rsqrt",  "native_recip",  "half_recip",   "pow",
    "powr",        "native_powr",  "half_powr",   "native_divide", "half_divide"};

inline constexpr std::size_t functions_of_two = 6;

}  // namespace clprobe::prelude
