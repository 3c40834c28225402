// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `latency` say: levels, capacities, kinds of steps. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::latency {

// Labels of the finding `host_memory`: where the device finds what the host may map.
inline constexpr std::string_view kept_on_host = "host";
inline constexpr std::string_view kept_on_device = "device";

/// Label of the finding `beside_global` where the whole curve is that of global memory.
inline constexpr std::string_view alike_global = "as global";

/// What a stored point has that no point of this probe can have.
std::optional<PointProblem> find_problem_of(const Point& point);

/// Method: docs/latency.md and docs/method.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::latency
