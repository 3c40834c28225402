// SPDX-License-Identifier: Apache-2.0
// The launches of cl/inflight.cl as the engine runs them: on a device (launch.cpp,
// loaded_launch.cpp), and on the simulator (trace.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::inflight {

/// Prepares points that share the memory of each target and the small buffers. A point is refused
/// (Unsupported) for work-groups that the kernel does not take, and where work-groups that must run
/// side by side run one after another.
Preparer open(Session& session);
/// How `open` builds the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// The same for the simulator; throws Unsupported for the host's memory and for streams.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::inflight
