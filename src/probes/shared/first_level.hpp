// SPDX-License-Identifier: Apache-2.0
// Findings at the ends of a curve: before its first level, at the end of a level, and after its
// last level. Pure.
#pragma once

#include <optional>
#include <span>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Makes a finding of one level of a curve, without a value.
Finding of_level(std::string_view name, std::string_view series, int level, std::string_view unit);

/// Returns the number of the first visible level of a curve: usually 1, but 2 if a faster level
/// has no plateau.
int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels);

/// Returns `first` as the finding of a first level that has no plateau. The finding has no value;
/// both ends of its interval are the value at the point faster_than_first(). Returns nothing if the
/// first level has a plateau.
std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first);

/// Returns `made` with the size at which the level ends. For a level that does not end, the
/// largest working set is the lower bound.
Finding with_end(Finding made, const Level& level, std::span<const CurvePoint> curve);

/// Returns `made` with the value at the largest working set. The interval includes that working
/// set's interval and the extremes after the last plateau. Returns nothing if the curve ends in a
/// plateau. A curve rises without a plateau if its pages exceed the TLB or if other programs use
/// the cache. The unit is as for `at_largest_size`.
std::optional<Finding> beyond_last(Finding made, const Level& last,
                                   std::span<const CurvePoint> curve, std::span<const Point> points,
                                   const DeviceInfo& device);

/// Returns `made` with value, interval, method and reason of the largest size, for a series without
/// levels. The unit of `made` is "seconds", or "bytes_per_second" for points in ns per byte. At
/// least one point of the series must have an estimate.
Finding at_largest_size(Finding made, std::span<const Point> points, const DeviceInfo& device);

}  // namespace clprobe
