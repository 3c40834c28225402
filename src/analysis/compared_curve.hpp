// SPDX-License-Identifier: Apache-2.0
// The points of a probe, as curves that can be compared. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clprobe/compare.hpp"
#include "clprobe/estimate.hpp"

namespace clprobe {

/// A point, and the time of its access where it has one that is above 0.
struct TimedPoint {
  const Point* point{nullptr};
  std::optional<Estimate> time{};
};

/// Those of each series, series and points in the order of the result.
std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device);

/// Of the points of one series, of which there is one at least. `is_rate`: values are bytes a
/// second, else seconds. `shown`: the parameter along which the probe's view has them.
ComparedCurve curve_of(const std::vector<TimedPoint>& points, bool is_rate,
                       const std::string& shown);

}  // namespace clprobe
