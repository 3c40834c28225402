// SPDX-License-Identifier: Apache-2.0
#include "probes/bandwidth/series.hpp"

#include <algorithm>
#include <bit>

#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::bandwidth {
namespace {

constexpr std::uint64_t gpu_lanes = 128;
constexpr std::uint64_t gpu_vector = 4;
constexpr std::uint64_t min_gpu_lanes = 64;
constexpr std::uint64_t largest_group = 1024;
// As many work-items as a GPU's compute unit holds at once.
constexpr std::uint64_t items_of_unit = 2048;
// A line of a CPU, so that each vector is one.
constexpr std::uint64_t cpu_vector = 16;
// More than one a thread, which ends when it likes.
constexpr std::uint64_t cpu_walks_of_unit = 4;

std::uint64_t units_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
}

std::uint64_t largest_group_of(const DeviceInfo& device) {
  return std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(
      device.max_work_group_size, 1, static_cast<std::int64_t>(largest_group))));
}

/// Work-items side by side, without blocks yet.
Shape lanes_of(const DeviceInfo& device) {
  const std::uint64_t largest = largest_group_of(device);
  if (runs_items_in_turn(device) || largest < min_gpu_lanes) {
    return {.lanes = 1, .vector = cpu_vector, .group = 1};
  }
  const std::uint64_t lanes = std::min(gpu_lanes, largest);
  return {.lanes = lanes, .vector = gpu_vector, .group = lanes};
}

std::uint64_t groups_of_unit(const DeviceInfo& device, const Shape& shape) {
  if (shape.lanes == 1) return runs_items_in_turn(device) ? cpu_walks_of_unit : items_of_unit;
  return std::max<std::uint64_t>(1, items_of_unit / shape.group);
}

}  // namespace

const SeriesSpec* series_named(std::string_view name) {
  const auto* const found = std::find_if(all_series.begin(), all_series.end(),
                                         [&](const SeriesSpec& each) { return each.name == name; });
  return found == all_series.end() ? nullptr : found;
}

std::optional<Shape> shape_for(const SeriesSpec& series, const DeviceInfo& device, Bytes wanted) {
  Shape shape = lanes_of(device);
  shape.operation = series.operation;
  shape.timer = device.launch_timer;
  // Those that share a region are in large groups, so that one unit has many; those that write have
  // parts of their own, and the fewer they are the smaller these can be.
  if (series.sharing != Sharing::walk && shape.lanes > 1) shape.group = largest_group_of(device);
  const std::uint64_t directions = series.operation == Operation::copy ? 2 : 1;
  const std::uint64_t blocks = wanted.count / directions / shape.block_bytes();
  if (blocks == 0) return std::nullopt;
  const std::uint64_t walks_of_group = shape.group / shape.lanes;
  const std::uint64_t groups = groups_of_unit(device, shape);
  std::uint64_t units = series.is_one_unit ? 1 : units_of(device);
  switch (series.sharing) {
    case Sharing::all:
      shape.walks = walks_of_group * (series.is_one_unit ? 1 : groups * units);
      shape.blocks = blocks;
      break;
    case Sharing::unit:
      shape.regions = groups * units;
      shape.walks = walks_of_group * shape.regions;
      shape.blocks = blocks / groups;
      break;
    case Sharing::walk:
      shape.walks = std::min(blocks, walks_of_group * groups * units);
      shape.regions = shape.walks;
      shape.blocks = blocks / shape.walks;
      break;
  }
  if (shape.blocks == 0) return std::nullopt;
  // Where drivers end loops that are longer, more work-items do the work; one unit has no more.
  if (may_cut_loops(device) && shape.step() > max_iterations) {
    if (series.sharing != Sharing::all || series.is_one_unit) return std::nullopt;
    while (shape.step() > max_iterations) shape.walks *= 2;
  }
  shape.working_set_bytes = shape.touched_bytes() * directions;
  if (series.sharing == Sharing::unit) shape.working_set_bytes /= units;
  return shape;
}

Bytes smallest_set(const SeriesSpec& series, const DeviceInfo& device) {
  const Shape lanes = lanes_of(device);
  const std::uint64_t block = lanes.block_bytes();
  const std::uint64_t group = lanes.lanes > 1 ? largest_group_of(device) : lanes.group;
  Shape in_groups = lanes;
  in_groups.group = group;
  const std::uint64_t directions = series.operation == Operation::copy ? 2 : 1;
  constexpr Bytes min_cpu = kibibytes(4);
  std::uint64_t bytes = block;
  if (series.sharing == Sharing::unit) bytes = block * groups_of_unit(device, in_groups);
  if (series.sharing == Sharing::walk) bytes = block * units_of(device) * directions;
  return std::max(Bytes{bytes}, lanes.lanes == 1 ? min_cpu : Bytes{});
}

}  // namespace clprobe::bandwidth
