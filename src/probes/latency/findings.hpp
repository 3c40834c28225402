// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `latency` say: levels, capacities, kinds of steps. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe::latency {

/// A series that has no latency, and why.
Finding not_measured(std::string_view series, std::string reason);

/// The `analyse` of the probe. Method: docs/latency.md and docs/method.md.
Findings latency_findings(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::latency
