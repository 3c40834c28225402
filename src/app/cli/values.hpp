// SPDX-License-Identifier: Apache-2.0
// Values of flags, read from text. Each function throws a UsageError that quotes the word and shows
// a valid form; the caller adds the flag's name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"

namespace clprobe::cli {

/// Returns the parts of `text` between commas, which may be empty.
std::vector<std::string_view> split_list(std::string_view text);

/// Returns a size above 0: "128", "64KiB".
Bytes parse_size(std::string_view text);

/// Returns ranges of a comma list of "64KiB", "1KiB-1GiB" or "1KiB-1GiB*2". The ratio is 0 without
/// "*": the probe chooses it.
std::vector<SizeRange> parse_sizes(std::string_view text);

/// Returns a time above 0: "30s", "500ms", "2min", "1h".
std::chrono::duration<double> parse_duration(std::string_view text);

/// Returns milliseconds from `least` to `most`: "5s", "500ms" or "500".
std::uint64_t parse_milliseconds(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns a rate in Hz, from 1 kHz to 1 THz: "1.98GHz", "1980 MHz".
double parse_frequency(std::string_view text);

/// Returns a whole number from `least` to `most`.
std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns whole numbers from `least` to `most` of a comma list of numbers and ranges ("1-32"),
/// each number once, in the order typed.
std::vector<int> parse_wholes(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Returns a percentage from 0 to 100 % as a share: 0.03 for "3%", 0.005 for "0.5 %".
double parse_share(std::string_view text);

/// Returns a count above 0: "65536", "64K" (K, M, G and T are powers of 1024) or "2^16".
std::uint64_t parse_count(std::string_view text);

/// Returns the path with the format of its extension. Streams ("-", devices) get the format of
/// --format later.
Output parse_output(std::string_view path);

/// True for stdout and devices, whose format is that of --format.
bool is_stream_path(std::string_view path);

/// Returns the value of a probe's option. Words of a choice must have been checked.
OptionValue read_value(const ValueSpec& spec, std::string_view text);

}  // namespace clprobe::cli
