// SPDX-License-Identifier: Apache-2.0
// Values of flags, read from text. Each function throws a UsageError that quotes the word and says
// what to write; the caller adds the flag's name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"

namespace clprobe::cli {

/// The parts of `text` between commas, which may be empty.
std::vector<std::string_view> split_list(std::string_view text);

/// A size above 0: "128", "64KiB".
Bytes parse_size(std::string_view text);

/// A comma list of "64KiB", "1KiB-1GiB" or "1KiB-1GiB*2". Without "*" the ratio is 0: the probe's.
std::vector<SizeRange> parse_sizes(std::string_view text);

/// "30s", "500ms", "2min", "1h", above 0.
std::chrono::duration<double> parse_duration(std::string_view text);

/// "5s", "500ms" or "500", in whole milliseconds from `least` to `most`.
std::uint64_t parse_milliseconds(std::string_view text, std::uint64_t least, std::uint64_t most);

/// "1.98GHz", "1980 MHz", in Hz: from 1 kHz to 1 THz.
double parse_frequency(std::string_view text);

/// A whole number from `least` to `most`.
std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most);

/// A comma list of whole numbers from `least` to `most` and of ranges "1-32", each number once, in
/// the order in which they come.
std::vector<int> parse_wholes(std::string_view text, std::uint64_t least, std::uint64_t most);

/// "3%" or "0.5 %", as a share: 0.03, 0.005. From 0 to 100 %.
double parse_share(std::string_view text);

/// A count above 0: "65536", "64K" (K, M, G and T are powers of 1024) or "2^16".
std::uint64_t parse_count(std::string_view text);

/// The path with the format of its extension. A stream ("-" or a device) gets `table` until
/// --format is known.
Output parse_output(std::string_view path);

/// True for stdout and devices, which take the format of --format.
bool is_stream_path(std::string_view path);

/// The value of a probe's option. The words of a choice must have been checked.
OptionValue read_value(const ValueSpec& spec, std::string_view text);

}  // namespace clprobe::cli
