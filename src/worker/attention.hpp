// SPDX-License-Identifier: Apache-2.0
// How both processes wait for each other, and where the host's own speed is what is measured.
#pragma once

#include <chrono>
#include <cstddef>

#include "clprobe/run.hpp"

namespace clprobe {

/// Longer than a visit of a short point takes. Who waits for more may as well sleep.
inline constexpr std::chrono::microseconds longest_look{300};

/// Whether the speed of the thread that launches is a part of what is timed. What a CPU device
/// computes is done by its driver's threads.
bool is_of_host(const Point& point, const DeviceInfo& device);

/// Whether a process that waits for the other may look instead of going to sleep. Not beside a CPU
/// device, whose cores it would take, and not where a host has few.
bool may_look(const DeviceInfo& device, std::size_t host_cores);

}  // namespace clprobe
