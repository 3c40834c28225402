// SPDX-License-Identifier: Apache-2.0
// What the probe `launch` concludes. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clprobe/probe.hpp"
#include "probes/launch/series.hpp"

namespace clprobe::launch {

/// What is found of a series, in the first place.
std::string_view main_finding_of(const SeriesSpec& series);

std::optional<PointProblem> find_problem_of(const Point& point);

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::launch
