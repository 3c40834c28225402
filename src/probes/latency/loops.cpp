// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/loops.hpp"

#include <algorithm>

#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::latency {
namespace {

/// Turns of the loops before the timed one and its lead: local memory is laid out by the launch.
std::uint64_t turns_before(const SeriesSpec& series, const RingShape& shape) {
  return series.space == Space::local ? shape.nodes() : 0;
}

}  // namespace

std::uint64_t usual_hops(const DeviceInfo& device) {
  return runs_items_in_turn(device) ? 16384 : 4096;
}

std::uint64_t warm_iterations(const DeviceInfo& device, const RingShape& shape) {
  const std::uint64_t lap = (shape.nodes() + shape.unroll - 1) / shape.unroll;
  // With few hops an iteration a lap is too many of them for one launch.
  const bool fits = shape.nodes() <= usual_hops(device) && lap <= max_iterations / 2;
  return fits ? lap : std::min<std::uint64_t>(lap, 4);
}

std::uint64_t max_timed(const DeviceInfo& device, const SeriesSpec& series,
                        const RingShape& shape) {
  const std::uint64_t before = warm_iterations(device, shape) + turns_before(series, shape);
  return std::max(max_iterations, before + 1) - before;
}

std::uint64_t sweep_items(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(device.max_work_group_size, 1, 1024));
}

std::uint64_t sweep_hops(std::uint64_t nodes, std::uint64_t items) {
  const std::uint64_t chains = items * chains_per_item;
  return (nodes + chains - 1) / chains;
}

bool is_native_cpu(const DeviceInfo& device) {
  return runs_items_in_turn(device) && device.isa != "spir";
}

bool is_aged_by_layout(const DeviceInfo& device, const RingShape& shape, std::uint64_t hops) {
  // A thread of a CPU writes nodes in the order of the chase, the first positions first. Only what
  // the same thread wrote behind them has surely passed through the caches that hold them: others
  // may not share these.
  if (is_native_cpu(device)) {
    return shape.nodes() / units_of(device) >= long_ring * hops;
  }
  // A GPU's work-items go through the ring side by side. Its nearest caches are empty when a kernel
  // begins, and the last one holds what was written last. What it reports may be the nearest.
  constexpr std::uint64_t caches = 4;
  const Bytes enough = std::max(reported_cache(device) * caches, mebibytes(256));
  return is_gpu(device) && Bytes{shape.working_set_bytes} >= enough &&
         shape.nodes() >= long_ring * hops;
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  const auto shape = shape_of<RingShape>(point);
  const SeriesSpec& series = series_named(point.series);
  constexpr std::uint64_t max_lead = 1;
  std::vector<KernelLoops> all{{"latency_chase", turns_before(series, shape) + max_lead +
                                                     warm_iterations(device, shape) +
                                                     max_timed(device, series, shape)}};
  if (!has_store(series.space)) return all;
  const std::uint64_t words = shape.buffer_bytes / sizeof(std::uint64_t);
  all.push_back({"latency_fill", turns_over(spread_over(device, words), words)});
  all.push_back({"latency_layout", turns_over(spread_over(device, shape.nodes()), shape.nodes())});
  all.push_back({"latency_sweep", sweep_hops(shape.nodes(), sweep_items(device))});
  return all;
}

}  // namespace clprobe::latency
