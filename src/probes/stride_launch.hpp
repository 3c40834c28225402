// SPDX-License-Identifier: Apache-2.0
// Preparing a point of the probe `stride` (cl/stride.cl): buffers, data, launches and their proof.
#pragma once

#include "clprobe/probe.hpp"

namespace clprobe {

/// Point parameters: those of StrideShape, and buffer_bytes (the largest buffer of the plan, which
/// all points share). One iteration is a batch of each work-item. Throws DeviceError, Unsupported
/// and cl::Error.
Work prepare_stride(Session& session, const Point& point);

}  // namespace clprobe
