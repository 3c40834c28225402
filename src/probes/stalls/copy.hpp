// SPDX-License-Identifier: Apache-2.0
// The case `implicit`: an array worked on by way of local memory, by explicit copies or by
// async_work_group_copy, or where it is. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"
#include "probes/stalls/noise.hpp"

namespace clprobe::stalls {

/// Words of local memory that a group works on at a time.
inline constexpr std::uint32_t chunk_words = 1024;

/// The bars.
inline constexpr std::string_view all_copies[]{"implicit, local memory", "implicit, async copy",
                                               "implicit, direct"};

/// Between two clock reads of a group, in the kernel's order: a copy to local memory is started,
/// waited for, worked on, and brought back.
inline constexpr std::string_view all_copy_phases[]{"start", "copy", "work", "copy back"};

/// The build option for the way of a bar, by its place among all_copies.
std::string way_option(std::uint32_t way);

/// Its place among them; nothing for another word.
std::optional<std::size_t> place_of_copy_phase(std::string_view phase);

/// What a point asks of stalls_copy.
struct CopyShape {
  std::uint32_t way;
  std::uint32_t groups;
  std::uint32_t work_items;
  std::uint32_t from_mask;  ///< of a chunk's number
  std::uint32_t to_mask;
  std::uint32_t steps;
  bool is_chain;
  std::uint32_t noise_groups;  ///< that do nothing else, behind the others
  Noise noise;
  std::uint64_t words;  ///< of each of the two buffers
  std::string phase;    ///< whose ticks count, or empty: the launch as a whole

  /// Throws std::out_of_range for a point without the parameters.
  static CopyShape of(const Point& point);
};

/// All sets of causes of each bar, noise and, by a clock, its phases.
std::vector<Point> copy_points(const DeviceInfo& device, const Limits& limits);

/// The words that a launch leaves in chunk `number` of its target.
std::vector<std::uint32_t> copied_chunk(const CopyShape& shape, std::uint32_t number,
                                        std::uint32_t addend);

/// What work-item `item` of the `group`-th group that makes noise leaves behind.
std::uint32_t noise_result(const CopyShape& shape, std::uint32_t addend, std::uint32_t iterations,
                           std::uint32_t group, std::uint32_t item);

}  // namespace clprobe::stalls
