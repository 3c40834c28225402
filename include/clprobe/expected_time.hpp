// SPDX-License-Identifier: Apache-2.0
// Expected time of a probe.
#pragma once

#include "clprobe/budget.hpp"
#include "clprobe/device_info.hpp"

namespace clprobe {

/// Returns whether the budget is only an upper limit, as for a probe that visits each point once.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// Returns whether points are left out when the time is used up. A simulated device measures all of
/// its points, unless the user requested a time.
inline bool has_limit(const Budget& budget, const DeviceInfo& device) {
  return budget.is_asked_for || !is_simulated(device);
}

/// Seconds: the budget, which probes use up; for an upper limit, the time of a few points.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

}  // namespace clprobe
