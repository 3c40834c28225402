// SPDX-License-Identifier: Apache-2.0
// Bytes, and those of OpenCL C's numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/launch.hpp"

namespace clprobe::bundle {

/// Two lower-case digits for each byte.
std::string hexadecimal(std::string_view bytes);

/// Whether it is float or double.
bool is_floating(Type type);
/// The bytes of `number`, which the type can hold.
std::string scalar_of(Type type, double number);
/// The low bytes of `bits`.
std::string integer_of(Type type, std::uint64_t bits);

}  // namespace clprobe::bundle
