// SPDX-License-Identifier: Apache-2.0
// Packs a setting into a launch (cl/prelude.clh reads the same bits), and chooses the working-set
// reductions to measure.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "profile/api/prelude.hpp"

namespace clprobe::prelude {
namespace {

// NVIDIA's drivers keep offsets in 32 bits, of which some take the last one as a sign.
constexpr unsigned dimensions_bit = 0;
constexpr std::array<unsigned, 3> folding_bits{2, 7, 12};
constexpr unsigned barriers_bit = 27;
constexpr unsigned atomics_bit = 28;
constexpr unsigned lanes_bit = 29;
constexpr unsigned fences_bit = 30;

// The masks of cl/prelude.clh have 31 bits.
constexpr std::uint64_t max_groups = (std::uint64_t{1} << no_folding) - 1;

constexpr const char* driver_chooses = "the driver chooses the work-group size";

std::uint64_t packed(unsigned bit, std::uint64_t value) { return value << bit; }

bool chooses_driver(const NdRange& launch) {
  return std::all_of(launch.local.begin(), launch.local.end(),
                     [](std::uint64_t size) { return size == 0; });
}

void check_offset(const NdRange& launch) {
  if (launch.offset[2] == 0) return;
  throw SettingError("the launch has an offset in dimension 2, which the instrumentation needs");
}

/// Refuses groups that the launch lacks, and smaller last groups, which lack work-items.
void check_dimension(const NdRange& launch, const Setting& setting, std::size_t d) {
  const std::uint32_t exponent = setting.exponents.at(d);
  if (exponent == no_folding) return;
  if (chooses_driver(launch)) throw SettingError(driver_chooses);
  const std::uint64_t whole = launch.global.at(d) / launch.local.at(d);
  const std::uint64_t last = (std::uint64_t{1} << exponent) - 1;
  if (last >= whole) {
    throw SettingError(fmt::format(
        "dimension {} has {} full-size groups, but group {} was requested", d, whole, last));
  }
}

void check_setting(const NdRange& launch, const Setting& setting) {
  for (std::size_t d = 0; d < 3; ++d) {
    // If the driver chooses, groups may be as small as one work-item.
    if (launch.global.at(d) / std::max<std::uint64_t>(launch.local.at(d), 1) >= max_groups) {
      throw SettingError(fmt::format("too many groups in dimension {}", d));
    }
    check_dimension(launch, setting, d);
  }
}

std::uint64_t count_whole_groups(const NdRange& launch, std::size_t dimension) {
  return launch.global.at(dimension) / launch.local.at(dimension);
}

std::uint32_t floor_log2(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::bit_width(number)) - 1U;
}

}  // namespace

std::array<std::uint64_t, 3> count_groups(const NdRange& launch) {
  if (chooses_driver(launch)) throw SettingError(driver_chooses);
  check_offset(launch);
  std::array<std::uint64_t, 3> groups{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t rest = launch.global.at(d) % launch.local.at(d) == 0 ? 0 : 1;
    groups.at(d) = launch.global.at(d) / launch.local.at(d) + rest;
  }
  return groups;
}

std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group) {
  if (chooses_driver(launch) || !std::has_single_bit(sub_group)) return std::nullopt;
  constexpr std::uint32_t all = ~std::uint32_t{0};
  LaneMasks masks{all, all, all};
  std::uint64_t left = sub_group;
  for (std::size_t d = 0; d < 3 && left > 1; ++d) {
    const std::uint64_t size = launch.local.at(d);
    if (size % left == 0) {
      masks.at(d) = ~static_cast<std::uint32_t>(left - 1);
      left = 1;
    } else if (left % size == 0) {
      if (size > 1) masks.at(d) = 0;
      left /= size;
    } else {
      return std::nullopt;
    }
  }
  return masks;
}

std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  std::uint64_t distinct = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    distinct *= std::min(groups.at(d), std::uint64_t{1} << setting.exponents.at(d));
  }
  return distinct;
}

NdRange encode(const NdRange& launch, const Setting& setting) {
  check_offset(launch);
  check_setting(launch, setting);
  std::uint64_t word = packed(dimensions_bit, launch.dimensions);
  for (std::size_t d = 0; d < 3; ++d) {
    word |= packed(folding_bits.at(d), no_folding - setting.exponents.at(d));
  }
  word |= packed(barriers_bit, setting.without_barriers ? 1 : 0) |
          packed(atomics_bit, setting.without_atomics ? 1 : 0) |
          packed(lanes_bit, setting.without_lanes ? 1 : 0) |
          packed(fences_bit, setting.without_fences ? 1 : 0);
  NdRange launched = launch;
  launched.dimensions = 3;
  launched.offset[2] = word;
  return launched;
}

std::vector<Setting> fold_sweep(const NdRange& launch) {
  std::vector<Setting> sweep;
  Setting setting;
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.local.at(d) == 0) return sweep;
    const std::uint64_t whole = count_whole_groups(launch, d);
    // A launch of one smaller group cannot be reduced.
    if (whole > 0) setting.exponents.at(d) = std::min(no_folding - 1, floor_log2(whole));
  }
  sweep.emplace_back();
  std::uint64_t before = count_distinct_groups(launch, sweep.back());
  while (true) {
    // If the number of groups is a power of two, the first reduction would be all groups again.
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

}  // namespace clprobe::prelude
