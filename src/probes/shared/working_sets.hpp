// SPDX-License-Identifier: Apache-2.0
// Sizes of a plan: those that were requested, the order in which they are visited, and those of
// reference points. Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"

namespace clprobe {

/// Refuses requested sizes above `largest`, which is what can be measured. Empty where all can be.
inline std::string beyond_room(const Request& request, Bytes largest) {
  for (const SizeRange& range : request.own.sizes("sizes")) {
    if (range.last <= largest) continue;
    return fmt::format(
        "--sizes: {} is more than {}; choose at most {}", format_bytes(range.last),
        request.max_memory.count != 0 ? "--max-memory allows" : "the probe's buffers can hold",
        format_bytes(largest));
  }
  return {};
}

/// Expands ranges into sizes up to `largest`, each range with its end. A range without a ratio of
/// its own has `ratio_at(size)` between a size and the next.
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

/// Rising sizes in an order that halves the gaps between those before: wherever time cuts a quick
/// run off, what was measured is spread evenly.
inline std::vector<Bytes> halving_gaps(const std::vector<Bytes>& sizes) {
  if (sizes.size() < 2) return sizes;
  std::vector<Bytes> order{sizes.front(), sizes.back()};
  for (std::size_t gap = std::bit_ceil(sizes.size()); gap > 1; gap /= 2) {
    for (std::size_t i = gap / 2; i + 1 < sizes.size(); i += gap) order.push_back(sizes[i]);
  }
  return order;
}

/// A curve of fewer sizes has no reference points: it is over before anything could disturb it.
inline constexpr std::size_t min_followed_sizes = 8;

/// A working set that no cache holds, as small as can be: some drivers report the nearest cache,
/// and no last cache is much larger than 128 MiB.
inline Bytes beyond_caches(const DeviceInfo& device) {
  return std::max(reported_cache(device) * 2, mebibytes(256));
}

}  // namespace clprobe
