// SPDX-License-Identifier: Apache-2.0
// Conversion of OpenCL C's numbers to bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/api/bundle.hpp"

namespace clprobe::bundle {

/// Returns two lower-case digits for each byte.
std::string hexadecimal(std::string_view bytes);

/// True for float and double.
bool is_floating(Type type);
/// Returns the bytes of `number`, which the type can hold.
std::string scalar_of(Type type, double number);
/// Returns the low bytes of `bits`.
std::string integer_of(Type type, std::uint64_t bits);

}  // namespace clprobe::bundle
