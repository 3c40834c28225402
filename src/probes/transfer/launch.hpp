// SPDX-License-Identifier: Apache-2.0
// Transfers through OpenCL, and launching cl/transfer.cl.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::transfer {

Preparer open(Session& session);

/// Every way to build the kernels.
std::vector<KernelVariant> variants();
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::transfer
