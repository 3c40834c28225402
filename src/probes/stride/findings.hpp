// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `stride` say, as findings. Pure.
#pragma once

#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::stride {

/// Per series: bandwidth and the stride of it, class, knee, sub-group, sector, droop, dips, advice.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::stride
