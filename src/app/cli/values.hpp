// SPDX-License-Identifier: Apache-2.0
// Values of flags, read from text. A function that refuses a text throws a UsageError that quotes
// the word and shows a valid form; the caller adds the flag's name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"

namespace clprobe::cli {

/// Returns the parts of `text` between commas. A part may be empty.
std::vector<std::string_view> split_list(std::string_view text);

/// Returns a size above 0 from a text such as "128" or "64KiB".
Bytes parse_size(std::string_view text);

/// Returns the ranges in a comma list of sizes ("64KiB"), ranges ("1KiB-1GiB") and ranges with a
/// ratio between successive sizes ("1KiB-1GiB*2"). Without "*", the ratio is 0, so that the probe
/// chooses the ratio.
std::vector<SizeRange> parse_sizes(std::string_view text);

/// Returns a time above 0 and up to 1000 h from a text such as "30s", "500ms", "2min" or "1h".
std::chrono::duration<double> parse_duration(std::string_view text);

/// Returns a number of milliseconds, `least` to `most` inclusive, from a text such as "5s", "500ms"
/// or "500".
std::uint64_t parse_milliseconds(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns a rate in Hz, 1 kHz to 1 THz inclusive, from a text such as "1.98GHz" or "1980 MHz".
double parse_frequency(std::string_view text);

/// Returns a whole number, `least` to `most` inclusive.
std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns the whole numbers in a comma list of numbers and ranges ("1-32"), without repetitions,
/// in the order typed: at most 256 numbers, each from `least` to `most` inclusive.
std::vector<int> parse_wholes(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns a percentage (0 to 100 %, inclusive) as a share: 0.03 for "3%", 0.005 for "0.5 %".
double parse_share(std::string_view text);

/// Returns a count above 0 from a text such as "65536", "64K" (K, M, G and T are powers of 1024) or
/// "2^16".
std::uint64_t parse_count(std::string_view text);

/// Returns an output path and the format that its extension names. The format of a stream ("-" or a
/// device) is set later, by --format.
Output parse_output(std::string_view path);

/// True for "-" (stdout) and devices, whose format is set by --format instead of an extension.
bool is_stream_path(std::string_view path);

/// Returns the value of a probe's option. The caller must have checked the words of a choice.
OptionValue read_value(const ValueSpec& spec, std::string_view text);

}  // namespace clprobe::cli
