// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `latency` say: levels, capacities, kinds of steps. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::latency {

/// What a stored point has that no point of this probe can have.
std::optional<PointProblem> find_problem_of(const Point& point);

/// Method: docs/latency.md and docs/method.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::latency
