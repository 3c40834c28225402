// SPDX-License-Identifier: Apache-2.0
// Intervals of what depends on the host's state.
#pragma once

#include <algorithm>

#include "clprobe/device_info.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// Of what the host's thread does itself. Beside a GPU it is on cores that nobody else slows down:
/// in eight runs with an H200 start-ups of transfers were 1 to 5 % off their middle, and a launch
/// in a queue 7 %. A CPU's launches are the work of threads that wake each other.
constexpr double thread_share(DeviceType type) { return type == DeviceType::cpu ? 0.2 : 0.1; }

/// Of copies by the host, from or to ordinary memory, and of their start-ups. A process keeps the
/// pages that it got, so that no run sees by how much the next one differs. In 17 runs with an H200
/// or H100 the rates of one way of copying had a standard deviation of 16 %, up to 1.8 to 1: the
/// interval has twice as much. A CPU's run meets the same host by its references, whose disturbance
/// widens every interval.
constexpr double copy_share(DeviceType type) { return type == DeviceType::cpu ? 0.12 : 0.32; }

/// An interval that holds at least so large a share of the value on both sides of it.
inline Interval of_any_run(const Interval& interval, double value, double share) {
  return {std::min(interval.low, (1.0 - share) * value),
          std::max(interval.high, (1.0 + share) * value)};
}

}  // namespace clprobe
