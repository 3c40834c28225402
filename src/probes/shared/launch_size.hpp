// SPDX-License-Identifier: Apache-2.0
// How many work-items a launch over much memory has. Pure.
#pragma once

#include <cstdint>

#include "clprobe/run.hpp"

namespace clprobe {

/// Compute units of a device; one where it does not say.
std::uint64_t units_of(const DeviceInfo& device);

/// Work-items of a launch, and of each of its work-groups.
struct LaunchSize {
  std::uint64_t items;
  std::uint64_t group;
};

/// A launch over the whole device, of at most as many work-items as there are places, each of which
/// goes over at most max_iterations of them.
LaunchSize spread_over(const DeviceInfo& device, std::uint64_t places);

/// How many of so many places a work-item goes over, at most.
std::uint64_t turns_over(const LaunchSize& size, std::uint64_t places);

/// Whether the driver may end loops that are longer than max_iterations: those whose compilers
/// take SPIR, as llvmpipe's.
bool may_cut_loops(const DeviceInfo& device);

}  // namespace clprobe
