// SPDX-License-Identifier: Apache-2.0
// The ends of a curve's levels, and what it shows before the first and behind the last. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/levels.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// A finding of one level of a curve, still without a value.
Finding of_level(std::string_view name, std::string_view series, int level, std::string_view unit);

/// The number of the first of a curve's levels: 2 where a nearer one was lost.
int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels);

/// The finding of a level that was lost, which is made of `first`: what the point that shows it
/// took, as an interval, and no value. Nothing where none was lost.
std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first);

/// `made` with the bracket of the level's end, or with the largest set as its bound.
Finding with_end(Finding made, const Level& level, std::span<const CurvePoint> curve);

/// `made` with the value of the largest set where the curve goes on behind the last plateau without
/// a further one, and with the extremes there: pages whose translations no longer fit, or a cache
/// that others use as well. It is no level, and all that is known of memory. Its unit is as below.
std::optional<Finding> beyond_last(Finding made, const Level& last,
                                   std::span<const CurvePoint> curve);

/// The value of a series without levels at its largest size, with the interval of that point. The
/// unit of `made` is "seconds", or "bytes_per_second" of points in ns a byte. At least one point of
/// the series has an estimate.
Finding at_largest_size(Finding made, std::span<const Point> points, const DeviceInfo& device);

}  // namespace clprobe
