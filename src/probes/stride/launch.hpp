// SPDX-License-Identifier: Apache-2.0
// Measuring the points of the probe `stride` (cl/stride.cl), on a device and on a simulated one.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::stride {

/// Prepares points of `Shape`: buffers, data, launches and their proof. One iteration is a batch of
/// each work-item. Throws DeviceError, Unsupported and cl::Error.
Preparer open(Session& session);
/// How `open` builds the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// What one compute unit has of it, for the simulator: as many work-groups as it holds at once,
/// some batches of each. Accesses are those of the device, whose other compute units do the same
/// meanwhile. Throws Unsupported for memory of the host.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::stride
