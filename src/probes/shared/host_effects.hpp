// SPDX-License-Identifier: Apache-2.0
// Effects of the host on a device's results: shared memory, and variation between runs. Pure.
#pragma once

#include <algorithm>

#include "analysis/api/statistics.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Returns true if host and device share one memory: the device is a CPU, or the driver reports it.
inline bool shares_memory_with_host(const DeviceInfo& device) {
  return runs_items_in_turn(device) || device.reported.integer_or("host_unified_memory", 0) != 0;
}

/// Returns the relative variation between runs of the host thread's own work. With a GPU the thread
/// has a core of its own: in eight runs of an H200, start-ups of transfers differed by 1 to 5 %
/// from their middle, and a launch in a queue by 7 %. On a CPU threads must wake each other.
constexpr double thread_share(DeviceType type) { return type == DeviceType::cpu ? 0.2 : 0.1; }

/// Scatter from run to run of copies by the host, from or to ordinary memory, and of their
/// start-ups. A process keeps its pages, so that one run cannot show by how much the next differs.
/// In 17 runs with an H200 or H100 the rates of one way of copying had a standard deviation of
/// 16 %, up to 1.8 to 1: the interval has twice as much. On a CPU the references of the run show
/// the disturbance, which widens every interval.
constexpr double copy_share(DeviceType type) { return type == DeviceType::cpu ? 0.12 : 0.32; }

/// Widens an interval to at least that share of the value on both sides.
inline Interval of_any_run(const Interval& interval, double value, double share) {
  return {std::min(interval.low, (1.0 - share) * value),
          std::max(interval.high, (1.0 + share) * value)};
}

}  // namespace clprobe
