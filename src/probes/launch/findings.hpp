// SPDX-License-Identifier: Apache-2.0
// What the probe `launch` concludes. Pure.
#pragma once

#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::launch {

std::optional<PointProblem> find_problem_of(const Point& point);

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::launch
