// SPDX-License-Identifier: Apache-2.0
// Bytes of OpenCL C's numbers.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/launch.hpp"

namespace clprobe::bundle {

/// Whether it is float or double.
bool is_floating(Type type);
/// The bytes of `number`, which the type can hold.
std::string scalar_of(Type type, double number);
/// The low bytes of `bits`.
std::string integer_of(Type type, std::uint64_t bits);

}  // namespace clprobe::bundle
