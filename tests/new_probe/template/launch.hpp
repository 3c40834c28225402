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

/// How `open` builds the kernel of a point.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::@ID@
