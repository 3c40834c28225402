// SPDX-License-Identifier: Apache-2.0
// How long a probe is likely to take, for those who wait.
#pragma once

#include "clprobe/budget.hpp"
#include "clprobe/device_info.hpp"

namespace clprobe {

/// Whether a budget is a limit that nobody means to reach, as of a probe that has each point once.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// Whether points are left out when the time is used up. A simulated device says the same however
/// long that takes its host, which nobody knows before.
inline bool has_limit(const Budget& budget, const DeviceInfo& device) {
  return budget.is_asked_for || !is_simulated(device);
}

/// In seconds: the budget, which probes use up; of a limit, what a probe with few points takes.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

}  // namespace clprobe
