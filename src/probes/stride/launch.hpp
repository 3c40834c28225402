// SPDX-License-Identifier: Apache-2.0
// Preparing a point of the probe `stride` (cl/stride.cl): buffers, data, launches and their proof.
#pragma once

#include "clprobe/probe.hpp"

namespace clprobe::stride {

/// Point parameters: those of StrideShape, and buffer_bytes (the largest buffer of the plan, which
/// all points share). One iteration is a batch of each work-item. Throws DeviceError, Unsupported
/// and cl::Error.
Work prepare_stride(Session& session, const Point& point);

/// What one compute unit has of it, for the simulator: as many work-groups as it holds at once,
/// some batches of each. Accesses are those of the device, whose other compute units do the same
/// meanwhile. Throws Unsupported for memory of the host.
SimulatedWork trace_stride(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::stride
