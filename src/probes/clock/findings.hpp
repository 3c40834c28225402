// SPDX-License-Identifier: Apache-2.0
// What the probe `clock` concludes. Pure.
#pragma once

#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::clock {

std::optional<PointProblem> find_problem_of(const Point& point);

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::clock
