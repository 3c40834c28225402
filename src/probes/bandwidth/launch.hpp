// SPDX-License-Identifier: Apache-2.0
// Measuring the points of the probe `bandwidth` (cl/bandwidth.cl).
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::bandwidth {

/// Prepares points of `Shape`: buffers, data, launches and their proof. One iteration goes once
/// over the working set. Throws DeviceError, Unsupported and cl::Error.
Preparer open(Session& session);
/// How `open` builds the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);
/// As Probe::trace.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);
/// As Probe::loops.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::bandwidth
