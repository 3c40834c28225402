// SPDX-License-Identifier: Apache-2.0
// The unit of the probe's times: cycles where the clock counts those, else seconds. Pure.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"

namespace clprobe::banks {

inline bool in_cycles(const DeviceInfo& device) {
  return device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
}

inline std::string_view time_unit(const DeviceInfo& device) {
  return in_cycles(device) ? "cycles" : "seconds";
}

/// A time in the unit of the findings.
inline double in_unit(double ns, const DeviceInfo& device) {
  return in_cycles(device) ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

inline Interval in_unit(const Interval& ns, const DeviceInfo& device) {
  return {in_unit(ns.low, device), in_unit(ns.high, device)};
}

/// What visits say by themselves, where an estimate does not hold how far they are apart.
inline std::vector<double> visits_beside(const Estimate& time, const Point& point,
                                         const DeviceInfo& device) {
  return time.holds_visits ? std::vector<double>{} : visit_estimates_ns(point, device);
}

/// As wide as that of an estimate and that of the median of what visits or passes say by
/// themselves.
inline Interval with_visits(const Interval& estimated, std::span<const double> visits) {
  if (visits.empty()) return estimated;
  const Interval usual = median_interval(visits);
  return {std::min(estimated.low, usual.low), std::max(estimated.high, usual.high)};
}

}  // namespace clprobe::banks
