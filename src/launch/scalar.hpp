// SPDX-License-Identifier: Apache-2.0
// Values of OpenCL C's types, as a person or the layer writes them.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/launch.hpp"
#include "run/cursor.hpp"

namespace clprobe::bundle {

/// Throws RunFormatError where it is no integer, or not from `least` to `most`.
std::uint64_t number_up_to(const json::Cursor& cursor, std::uint64_t least, std::uint64_t most);

/// Throws RunFormatError where it is no type's name.
Type type_in(const json::Cursor& cursor);

/// The bytes of one number of that type. Throws RunFormatError where it is none, or out of range.
std::string scalar_in(const json::Cursor& cursor, Type type);

/// The bytes of a number, or of the up to 16 of a vector.
std::string vector_in(const json::Cursor& value, const json::Cursor& type);

/// The bytes that hexadecimal digits stand for.
std::string bytes_in(const json::Cursor& hex);

/// The bytes of `number`, which the type can hold.
std::string scalar_of(Type type, double number);
/// The low bytes of `bits`.
std::string integer_of(Type type, std::uint64_t bits);

/// Whether it is float or double.
bool is_floating(Type type);

}  // namespace clprobe::bundle
