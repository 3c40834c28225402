// SPDX-License-Identifier: Apache-2.0
// Launching cl/@ID@.cl.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::@ID@ {

/// Ticks and the witness, which a launch leaves behind.
constexpr Bytes result_bytes{16};

/// Makes what all points share; the Preparer that it returns owns it.
Preparer open(Session& session);

/// Every way to build the kernel, for the tests that compile it for devices that nobody has here.
std::vector<KernelVariant> variants();

/// How long the kernel's loop is, at most: some drivers end longer ones than `max_iterations`.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::@ID@
