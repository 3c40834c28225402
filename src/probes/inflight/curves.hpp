// SPDX-License-Identifier: Apache-2.0
// Which points make the Thread-Latency curves of the probe `inflight`. Pure.
#pragma once

#include <span>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/asked.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// What all points of a target have, for a shape of any kind.
Shape shape_for(const DeviceInfo& device, const Asked& asked, std::string_view target);

/// The curves of a first look, and the work-groups without loads.
std::vector<Point> plan_curves(const DeviceInfo& device, const Asked& asked);

/// Around each jump every second number of work-items; and, where the jumps without mergers may be
/// those of a limit, what mergers say.
std::vector<Point> refine_curves(const DeviceInfo& device, const Asked& asked,
                                 std::span<const Point> points);

}  // namespace clprobe::inflight
