// SPDX-License-Identifier: Apache-2.0
// Launching the kernels of cl/launch.cl.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::launch {

/// Turns of a kernel that goes on for a while: some microseconds on a GPU.
inline constexpr std::uint64_t spin_turns = 2000;

Preparer open(Session& session);

std::vector<KernelVariant> variants();
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::launch
