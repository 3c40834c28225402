// SPDX-License-Identifier: Apache-2.0
// What launches with few distinct groups, and without barriers and atomics, say of a kernel. Pure.
#pragma once

#include <span>
#include <string>

#include "clprobe/kernel_causes.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::kernel {

/// Of the kernel of that label. What is not believed is not returned.
KernelCauses add_causes(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found);

}  // namespace clprobe::kernel
