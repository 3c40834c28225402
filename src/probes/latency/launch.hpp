// SPDX-License-Identifier: Apache-2.0
// A chase as the engine runs it: on a device (launch.cpp), and on the simulator (trace.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::latency {

/// Prepares rings that share one store and their small buffers.
Preparer open(Session& session);
/// How `open` builds the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// The same chase for the simulator: the ring was walked once before, then `iterations` of `unroll`
/// hops. Throws Unsupported for memories that no machine has.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::latency
