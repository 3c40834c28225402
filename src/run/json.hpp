// SPDX-License-Identifier: Apache-2.0
// The parts of a run document as JSON values. The worker's protocol speaks the same values, one a
// line. Besides run, worker and simulator only report includes this, for the document of a
// comparison.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "run/cursor.hpp"

namespace clprobe::json {

/// A part of a document, or what the worker's protocol speaks of: of `PreparedPoint` all but the
/// function that samples it. Throws std::invalid_argument when a number is not finite.
template <typename T>
Json encode(const T& value);

/// What `encode` made, of the type asked for. Throws RunFormatError with the path within `value`.
/// A `PreparedPoint` comes back without `sample`.
template <typename T>
T decode(const Json& value);

/// An array of runs needs 8; the rest is for facts yet to come, not for nesting bombs.
inline constexpr std::size_t deepest_nesting = 16;

/// Parses text. Throws RunFormatError where it is no JSON, is cut short, repeats a key, nests too
/// deep, or has a number that is not finite.
Json parse(std::string_view text);

/// On one line, in ASCII: a driver's string cannot smuggle an escape sequence into a terminal.
/// Bytes that are no UTF-8 become U+FFFD.
std::string one_line(const Json& value);

/// The same over several lines: whatever fits on a line stays on it, so that a sample is a line of
/// a diff and a run remains small. Ends with a newline.
std::string many_lines(const Json& value);

}  // namespace clprobe::json
