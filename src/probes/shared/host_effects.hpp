// SPDX-License-Identifier: Apache-2.0
// Effects of the host on a device's results: shared memory, and variation between runs. Pure.
#pragma once

#include <algorithm>

#include "analysis/api/statistics.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Returns true if host and device share one memory: the device is a CPU, or the driver reports
/// shared memory.
inline bool shares_memory_with_host(const DeviceInfo& device) {
  return runs_items_in_turn(device) || device.reported.integer_or("host_unified_memory", 0) != 0;
}

/// Returns the relative variation, between runs, of work on the host thread. With a GPU the thread
/// has a core for itself. In eight runs of an H200, start-ups of transfers differed from their
/// median by 1 to 5 %. Launches in a queue differed by 7 %. On a CPU device the driver's threads
/// must wake each other, so the variation is larger.
constexpr double thread_share(DeviceType type) { return type == DeviceType::cpu ? 0.2 : 0.1; }

/// Returns the relative variation, between runs, of copies by the host and of their start-ups. A
/// process keeps its pages, so a single run cannot show this variation. In 17 runs with an H200 or
/// H100 the standard deviation of the rates was 16 %; the returned 32 % is twice as much. On a CPU
/// device 12 % suffice, since the reference points widen every interval as well.
constexpr double copy_share(DeviceType type) { return type == DeviceType::cpu ? 0.12 : 0.32; }

/// Returns the interval, widened to at least `share` of the value on each side.
inline Interval of_any_run(const Interval& interval, double value, double share) {
  return {std::min(interval.low, (1.0 - share) * value),
          std::max(interval.high, (1.0 + share) * value)};
}

}  // namespace clprobe
