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

/// Returns the relative variation between runs of work on the host thread. With a GPU the thread
/// has its own core: in eight runs of an H200, start-ups of transfers differed by 1 to 5 % from
/// their median, and a launch in a queue by 7 %. On a CPU threads must wake each other.
constexpr double thread_share(DeviceType type) { return type == DeviceType::cpu ? 0.2 : 0.1; }

/// Returns the relative variation between runs of copies by the host, and of their start-ups. A
/// process keeps its pages, so that one run cannot show this variation. In 17 runs with an H200 or
/// H100 the rates had a standard deviation of 16 %; the interval has twice that. On a CPU the
/// reference points of the run widen every interval as well.
constexpr double copy_share(DeviceType type) { return type == DeviceType::cpu ? 0.12 : 0.32; }

/// Widens an interval to at least `share` of the value on both sides.
inline Interval of_any_run(const Interval& interval, double value, double share) {
  return {std::min(interval.low, (1.0 - share) * value),
          std::max(interval.high, (1.0 + share) * value)};
}

}  // namespace clprobe
