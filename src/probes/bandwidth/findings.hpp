// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `bandwidth` say, as findings. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe::bandwidth {

/// Words of the finding `limit`.
inline constexpr std::string_view limited_by_units = "units";
inline constexpr std::string_view limited_by_level = "level";

/// What a stored point has that no point of this probe can have.
std::optional<PointProblem> find_problem_of(const Point& point);

/// Per series and level: bandwidth, that of a unit, capacity; of `read` also how it scales from one
/// unit to all, and what limits it.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::bandwidth
