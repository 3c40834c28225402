// SPDX-License-Identifier: Apache-2.0
// The ends of a curve's levels, and findings before the first level and after the last. Pure.
#pragma once

#include <optional>
#include <span>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Makes a finding of one level of a curve, without a value.
Finding of_level(std::string_view name, std::string_view series, int level, std::string_view unit);

/// Returns the number of the first visible level of a curve: 2 if a nearer one is lost.
int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels);

/// Returns `first` as the finding of a lost level, with the value of the point that shows it as
/// interval, and without a value; nothing if no level is lost.
std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first);

/// Returns `made` with the bracket of the level's end, or with the largest set as lower bound.
Finding with_end(Finding made, const Level& level, std::span<const CurvePoint> curve);

/// Returns `made` with the value of the largest set, and with the extremes after the last plateau,
/// if the curve continues there without a plateau: translations no longer fit, or others use the
/// cache. This is no level, but the only information about memory. The unit is as for
/// `at_largest_size`.
std::optional<Finding> beyond_last(Finding made, const Level& last,
                                   std::span<const CurvePoint> curve);

/// Returns `made` with the value of a series without levels at its largest size, and with that
/// point's interval. The unit of `made` is "seconds", or "bytes_per_second" for points in ns per
/// byte. At least one point of the series must have an estimate.
Finding at_largest_size(Finding made, std::span<const Point> points, const DeviceInfo& device);

}  // namespace clprobe
