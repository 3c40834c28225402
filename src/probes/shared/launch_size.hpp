// SPDX-License-Identifier: Apache-2.0
// How many work-items and how many iterations a launch has. Pure.
#pragma once

#include <cstdint>
#include <functional>

#include "clprobe/run.hpp"

namespace clprobe {

/// Compute units of a device; one where it does not say.
std::uint64_t units_of(const DeviceInfo& device);

/// Work-items of a device's largest work-group; one where it does not say.
std::uint64_t max_group_of(const DeviceInfo& device);

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

/// How many iterations, 1 to `most`, make a launch about `wanted_ns` long. `ns_of` launches so many
/// and returns what that took, in ns; it is asked for more until a quarter of that time is seen.
/// Two launches that agree count, or the least of three: one whose core somebody else had for
/// milliseconds looked long enough with one iteration, and to start launches was then most of what
/// they took. The first one may be slow for other reasons.
std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t iterations)>& ns_of);

}  // namespace clprobe
