// SPDX-License-Identifier: Apache-2.0
// Which foldings are tried.
#include <algorithm>
#include <bit>
#include <optional>

#include "clprobe/prelude.hpp"

namespace clprobe::prelude {
namespace {

std::uint64_t count_whole_groups(const NdRange& launch, std::size_t dimension) {
  return launch.global.at(dimension) / launch.local.at(dimension);
}

std::uint32_t floor_log2(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::bit_width(number)) - 1U;
}

/// The window of this number in the dimension that has most room for it, if it fits.
std::optional<Setting> place_window(const NdRange& launch, const Setting& setting,
                                    std::size_t dimension, std::uint32_t number) {
  const std::uint64_t whole = count_whole_groups(launch, dimension);
  const std::uint32_t exponent = setting.exponents.at(dimension);
  // Eight windows cover the launch, and of these the last ones may be beyond its end.
  const std::uint32_t shift =
      std::max(exponent, floor_log2(whole) - std::min(2U, floor_log2(whole)));
  const std::uint64_t last = (std::uint64_t{number} << shift) + (std::uint64_t{1} << exponent) - 1;
  if (last >= whole) return std::nullopt;
  Setting placed = setting;
  placed.window = {static_cast<std::uint32_t>(dimension), number, shift};
  return placed;
}

}  // namespace

std::vector<Setting> fold_sweep(const NdRange& launch) {
  std::vector<Setting> sweep;
  Setting setting;
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.local.at(d) == 0) return sweep;
    const std::uint64_t whole = count_whole_groups(launch, d);
    // A launch of one smaller group has nothing to fold.
    if (whole > 0) setting.exponents.at(d) = std::min(no_folding - 1, floor_log2(whole));
  }
  sweep.emplace_back();
  std::uint64_t before = count_distinct_groups(launch, sweep.back());
  while (true) {
    // Where the number of groups is a power of two this is all of them again.
    const std::uint64_t distinct = count_distinct_groups(launch, setting);
    if (distinct < before) sweep.push_back(setting);
    before = distinct;
    std::size_t largest = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t exponent = setting.exponents.at(d);
      if (exponent == no_folding) continue;
      if (setting.exponents.at(largest) == no_folding ||
          exponent >= setting.exponents.at(largest)) {
        largest = d;
      }
    }
    std::uint32_t& exponent = setting.exponents.at(largest);
    if (exponent == 0 || exponent == no_folding) return sweep;
    --exponent;
  }
}

std::vector<Setting> windows_of(const NdRange& launch, const Setting& setting) {
  std::vector<Setting> windows{setting};
  std::size_t roomiest = 3;
  std::uint64_t most = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint32_t exponent = setting.exponents.at(d);
    if (exponent == no_folding) continue;
    const std::uint64_t room = count_whole_groups(launch, d) >> exponent;
    if (room > most) {
      most = room;
      roomiest = d;
    }
  }
  if (roomiest == 3) return windows;
  std::vector<Setting> others;
  for (std::uint32_t number = 1; number < 8; ++number) {
    const auto placed = place_window(launch, setting, roomiest, number);
    if (placed) others.push_back(*placed);
  }
  if (others.size() > 1) windows.push_back(others.at((others.size() - 1) / 2));
  if (!others.empty()) windows.push_back(others.back());
  return windows;
}

}  // namespace clprobe::prelude
