// SPDX-License-Identifier: Apache-2.0
// The parts of a run document as JSON values. The worker's protocol speaks the same values, one a
// line. Besides run and worker only report includes this, for the document of a comparison, and
// simulator, for machines.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "run/cursor.hpp"

namespace clprobe::json {

/// All throw std::invalid_argument when a number is not finite.
Json encode(const Parameters& parameters);
Json encode(const Sample& sample);
Json encode(const Point& point);
Json encode(const Finding& finding);
Json encode(const Warning& warning);
Json encode(const KernelBuild& build);
Json encode(const ProbeResult& result);
Json encode(const Clock& clock);
Json encode(const DeviceInfo& device);
Json encode(const Measurement& measurement);
Json encode(const Run& run);
/// The facts of a prepared point: everything but the function that runs it.
Json encode(const Work& work);

/// What `encode` made, of the type asked for. Throws RunFormatError with the path within `value`.
/// A `Work` comes back without its `run`.
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
