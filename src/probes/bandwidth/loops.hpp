// SPDX-License-Identifier: Apache-2.0
// How long the loops of cl/bandwidth.cl may be. Pure.
#pragma once

#include <cstdint>

#include "clprobe/run.hpp"
#include "probes/bandwidth/shape.hpp"

namespace clprobe::bandwidth {

/// Of a launch: what the kernel's counter, and the driver, allow.
std::uint64_t max_iterations_of(const DeviceInfo& device, const Shape& shape);

}  // namespace clprobe::bandwidth
