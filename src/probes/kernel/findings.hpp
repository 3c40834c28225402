// SPDX-License-Identifier: Apache-2.0
// What follows from the times of a replayed launch. Pure.
#pragma once

#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::kernel {

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::kernel
