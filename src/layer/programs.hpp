// SPDX-License-Identifier: Apache-2.0
// Which program a kernel is of, and what that was made from.
#pragma once

#include <cstddef>
#include <string_view>

#include "layer/opencl.hpp"

namespace clprobe::layer {

void wrap_programs(cl_icd_dispatch& table);

/// The text in this place, as clCreateProgramWithSource takes it: a length of 0, or none, is that
/// of a C string.
inline std::string_view source_at(const char** strings, const std::size_t* lengths,
                                  std::size_t place) {
  const bool has_length = lengths != nullptr && lengths[place] != 0;
  return has_length ? std::string_view(strings[place], lengths[place])
                    : std::string_view(strings[place]);
}

}  // namespace clprobe::layer
