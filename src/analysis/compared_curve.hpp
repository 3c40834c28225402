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

/// A series of the baseline that another run measured less of, or not at all.
struct Cut {
  std::string series{};
  std::string reason{};
};

/// The series of which the other run has no point, less than half of the baseline's points or, of
/// one device, of its range of sizes. Without those that are measured only where others call for
/// it.
std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device);

}  // namespace clprobe
