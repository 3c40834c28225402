// SPDX-License-Identifier: Apache-2.0
// The parts of a run document as JSON values. The worker's protocol uses the same values.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/run.hpp"
#include "run/cursor.hpp"

namespace clprobe::json {

/// Encodes a part of a document. Throws std::invalid_argument when a number is not finite.
template <typename T>
Json encode(const T& value);

/// Decodes what `encode` made. Throws RunFormatError with the path within `value`.
template <typename T>
T decode(const Json& value);

/// Maximum nesting of a document. An array of runs needs 8 levels.
inline constexpr std::size_t deepest_nesting = 16;

/// Parses text. Throws RunFormatError where it is no JSON, is cut short, repeats a key, nests too
/// deep, or has a number that is not finite.
Json parse(std::string_view text);

/// Writes one line of ASCII, so that a driver's string cannot send an escape sequence to a
/// terminal. Bytes that are no UTF-8 become U+FFFD.
std::string one_line(const Json& value);

/// Writes ASCII over several lines. What fits on a line stays on it, so that a sample is one line
/// of a diff. Ends with a newline.
std::string many_lines(const Json& value);

}  // namespace clprobe::json
