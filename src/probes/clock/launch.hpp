// SPDX-License-Identifier: Apache-2.0
// Launching cl/clock.cl.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::clock {

Preparer open(Session& session);

std::vector<KernelVariant> variants();
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::clock
