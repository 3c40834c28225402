// SPDX-License-Identifier: Apache-2.0
// Kernels that are built to wait for one thing: what they do, which causes can be taken away from
// each, and what they must compute. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"
#include "probes/stalls/causes.hpp"
#include "probes/stalls/noise.hpp"

namespace clprobe::stalls {

/// One iteration of a work-item, in units of four operations or loads (cl/stalls.cl), and the work-
/// items that do it.
struct MicroCase {
  std::string_view name;
  Cause built_for;
  std::uint32_t groups_per_unit;        ///< of a GPU; no more than it holds at once
  std::uint32_t noisy_groups_per_unit;  ///< where half of a group's work-items make noise
  std::uint32_t work_items;             ///< of a group, at most
  std::uint32_t far_loads;              ///< of eight, or single ones where it is a chase
  bool is_chase;
  std::uint32_t near_loads;
  std::uint32_t tile_loads;
  std::uint32_t tile_stride;
  std::uint32_t chain_steps;
  std::uint32_t turn_steps;
  bool has_barrier;
  bool is_divergent;  ///< lanes take turns, and not sub-groups
  /// Of noise "1", in the order of all_noise: operations, local loads, cache loads, memory loads.
  std::uint32_t noise_units[4];
};

std::span<const MicroCase> all_micro_cases();
/// Null when there is none of that name.
const MicroCase* find_micro_case(std::string_view name);

/// What a point asks of stalls_mixed: its arguments.
struct MicroShape {
  std::uint32_t groups;
  std::uint32_t work_items;  ///< of a group, those that only make noise among them
  std::uint32_t workers;
  std::uint32_t far_loads;
  std::uint32_t far_mask;
  bool is_chase;
  std::uint32_t near_loads;
  std::uint32_t near_mask;
  std::uint32_t tile_loads;
  std::uint32_t tile_stride;
  std::uint32_t chain_steps;
  bool is_chain;
  std::uint32_t turn_steps;
  std::uint32_t turn_shift;
  std::uint32_t turn_mask;
  bool has_barrier;
  Noise noise;
  std::uint64_t words;  ///< of the buffer

  /// Throws std::out_of_range for a point without the parameters.
  static MicroShape of(const Point& point);
};

/// The points of a case: all sets of its causes, then noise of each kind.
std::vector<Point> micro_points(const MicroCase& micro, const DeviceInfo& device,
                                const Limits& limits);

inline constexpr std::uint32_t line_words = 32;
inline constexpr std::uint32_t tile_words = 1024;
/// No compiler knows them: a generator's factor, and some bits.
inline constexpr std::uint32_t step_multiplier = 747796405;
inline constexpr std::uint32_t step_addend = 0x9e3779b9;

inline std::uint32_t step(std::uint32_t x, std::uint32_t addend = step_addend) {
  return (x * step_multiplier) ^ addend;
}

/// What work-item `item` of group `group` stores.
std::uint32_t micro_result(const MicroShape& shape, std::uint32_t launch, std::uint32_t iterations,
                           std::uint32_t group, std::uint32_t item);

/// Buffers of which loads hit main memory, the second-level cache, and the first. All powers of
/// two.
struct Footprints {
  std::uint64_t far_bytes;
  std::uint64_t near_bytes;
  std::uint64_t first_bytes;
  bool is_lumped;  ///< no memory for more than the caches may hold
};

Footprints footprints_of(const DeviceInfo& device, const Limits& limits);

/// Work-items of a group, at most `most`: a power of two.
std::int64_t group_of(const DeviceInfo& device, std::int64_t most);

/// Whether the person asked for the case, or for none in particular.
bool is_wanted(std::string_view name, const Limits& limits);

}  // namespace clprobe::stalls
