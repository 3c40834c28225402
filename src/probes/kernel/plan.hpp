// SPDX-License-Identifier: Apache-2.0
// What is launched of each kernel. Pure.
#pragma once

#include <span>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::kernel {

/// The launch as it was; then, where its text allows, behind the prelude and with ever fewer
/// distinct groups; then without barriers and atomics; then with ever fewer groups at once.
Plan plan(const DeviceInfo& device, const Request& request);

/// In view of the sweep: the folding that costs least, by other groups, and without barriers and
/// atomics; in view of the groups at once: whole waves of them; and noise beside a kernel that is
/// short enough for it.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

}  // namespace clprobe::kernel
