// SPDX-License-Identifier: Apache-2.0
// How the groups of a kernel fill the device, and what all that is known of it comes to. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "clprobe/kernel_places.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::kernel {

/// Of the kernel of that label. What is not believed is not returned.
KernelPlaces add_places(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found);

/// What the program gains at most, where the kernel has `app_share` of its device time, and one
/// sentence.
void add_conclusions(const KernelCauses& causes, const KernelPlaces& places,
                     std::optional<double> app_share, const std::string& label, Findings& found);

}  // namespace clprobe::kernel
