// SPDX-License-Identifier: Apache-2.0
// What a curve shows where it has no plateau: at its largest size, or before its first level. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/levels.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// The number of the first of a curve's levels: 2 where a nearer one was lost.
int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels);

/// The finding of a level that was lost, which is made of `first`: what the point that shows it
/// took, as an interval, and no value. Nothing where none was lost.
std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first);

/// The value of a series without levels at its largest size, with the interval of that point. The
/// unit of `made` is "seconds", or "bytes_per_second" of points in ns a byte. At least one point of
/// the series has an estimate.
Finding at_largest_size(Finding made, std::span<const Point> points, const DeviceInfo& device);

}  // namespace clprobe
