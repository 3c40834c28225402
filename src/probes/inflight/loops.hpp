// SPDX-License-Identifier: Apache-2.0
// How long the loops of cl/inflight.cl are. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// Timed rounds of a launch, at most: each has lines of its own.
std::uint64_t max_rounds(const Shape& shape);

/// Of every kernel that a point's launches run.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::inflight
