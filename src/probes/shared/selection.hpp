// SPDX-License-Identifier: Apache-2.0
// Selection of series, words, numbers and sizes by a request. Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

/// Returns the names, summaries and titles of a table, for Probe::series.
template <typename Spec, std::size_t Count>
constexpr std::array<Series, Count> declare_series(const std::array<Spec, Count>& all) {
  std::array<Series, Count> declared{};
  for (std::size_t i = 0; i < Count; ++i) {
    declared[i] = {all[i].name, all[i].summary};
    if constexpr (requires { all[i].title; }) declared[i].title = all[i].title;
  }
  return declared;
}

/// Returns true if the driver reports the OpenCL extension `name`.
inline bool has_extension(const DeviceInfo& device, std::string_view name) {
  const std::string all = " " + device.reported.text_or("extensions", "") + " ";
  return all.find(fmt::format(" {} ", name)) != std::string::npos;
}

/// Returns true if `name` is among `named`, or `named` is empty.
inline bool is_wanted(std::span<const std::string> named, std::string_view name) {
  return named.empty() || std::find(named.begin(), named.end(), name) != named.end();
}

inline bool wants(const Request& request, std::string_view series) {
  return is_wanted(request.series, series);
}

/// Returns the words of a table (clprobe/words.hpp), in the order of the table, for a Choice or
/// Choices.
template <typename Table>
constexpr auto words_of_table(const Table& table) {
  std::array<std::string_view, sizeof(Table) / sizeof(table[0])> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = table[i].word;
  return words;
}

/// Returns the values of the requested words of a Choices. All words are known, since the command
/// line refuses unknown words.
template <typename Table>
auto values_in(const Table& table, const std::vector<std::string>& words) {
  std::vector<decltype(std::begin(table)->value)> values;
  for (const std::string& word : words) {
    if (const auto value = value_in(table, word)) values.push_back(*value);
  }
  return values;
}

inline std::vector<int> numbers_in(const std::vector<std::string>& words) {
  std::vector<int> numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) numbers.push_back(std::stoi(word));
  return numbers;
}

/// Returns the first of `numbers` that exceeds `most`. Returns nothing if no number exceeds
/// `most`.
inline std::optional<int> find_beyond(const std::vector<int>& numbers, std::int64_t most) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [&](int each) { return each > most; });
  return found == numbers.end() ? std::nullopt : std::optional(*found);
}

/// Returns an error message if --sizes exceeds `largest`, the largest measurable size. Otherwise
/// returns an empty string.
inline std::string beyond_room(const Request& request, Bytes largest) {
  for (const SizeRange& range : request.own.sizes("sizes")) {
    if (range.last <= largest) continue;
    return fmt::format(
        "--sizes: {} is more than {}; choose at most {}", format_bytes(range.last),
        request.max_memory.count != 0 ? "--max-memory allows" : "the measured memory can hold",
        format_bytes(largest));
  }
  return {};
}

/// Expands ranges to sizes up to `largest`. Each range includes its end. In a range without its
/// own ratio, `ratio_at(size)` is the ratio of the next size to `size`.
template <typename RatioAt>
std::vector<Bytes> expand_ranges(const std::vector<SizeRange>& ranges, Bytes largest,
                                 RatioAt ratio_at) {
  std::vector<Bytes> sizes;
  for (const SizeRange& range : ranges) {
    const Bytes last = std::min(range.last, largest);
    auto size = static_cast<double>(range.first.count);
    while (size < static_cast<double>(last.count)) {
      sizes.push_back({static_cast<std::uint64_t>(size)});
      size *= range.ratio > 1.0 ? range.ratio : ratio_at(size);
    }
    if (range.first <= last) sizes.push_back(last);
  }
  return sizes;
}

/// Sorts ascending sizes into an order in which each next size halves a gap between earlier sizes.
/// A quick run that ends early has then measured evenly spread sizes.
inline std::vector<Bytes> halving_gaps(const std::vector<Bytes>& sizes) {
  if (sizes.size() < 2) return sizes;
  std::vector<Bytes> order{sizes.front(), sizes.back()};
  for (std::size_t gap = std::bit_ceil(sizes.size()); gap > 1; gap /= 2) {
    for (std::size_t i = gap / 2; i + 1 < sizes.size(); i += gap) order.push_back(sizes[i]);
  }
  return order;
}

/// Minimum number of sizes of a curve with reference points. A shorter curve takes too little time
/// for disturbances to matter.
inline constexpr std::size_t min_followed_sizes = 8;

/// Returns a working set that exceeds the caches of nearly all devices: twice the reported cache,
/// and at least 256 MiB. Some drivers report the first cache instead of the last cache, and few
/// last caches exceed 128 MiB.
inline Bytes beyond_caches(const DeviceInfo& device) {
  return std::max(reported_cache(device) * 2, mebibytes(256));
}

}  // namespace clprobe
