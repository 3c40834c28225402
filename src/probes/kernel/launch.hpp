// SPDX-License-Identifier: Apache-2.0
// Replaying the launches of the bundles that this process was told of.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::kernel {

/// Makes what all points share; the Preparer that it returns owns it.
Preparer open(Session& session);

/// The ways to build cl/kernel.cl.
std::vector<KernelVariant> variants();

/// Of our own kernels; nobody knows how long those of others are.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::kernel
