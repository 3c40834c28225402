// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `stride` say, as findings. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::stride {

/// What a stored point has that no point of this probe can have.
std::optional<PointProblem> find_problem_of(const Point& point);

/// Per series: bandwidth and the stride of it, class, knee, sub-group, sector, droop, dips, advice.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::stride
