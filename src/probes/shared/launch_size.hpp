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

/// Returns the maximum number of places of a work-item.
std::uint64_t turns_over(const LaunchSize& size, std::uint64_t places);

/// Returns true if the driver may end loops longer than max_iterations, as drivers with SPIR
/// compilers do (llvmpipe).
bool may_cut_loops(const DeviceInfo& device);

/// Returns the iterations, 1 to `most`, of a launch that takes about `wanted_ns`. `ns_of` launches
/// a number of iterations and returns the time; the number grows until a launch takes a quarter of
/// the wanted time. Two launches that agree count, or the minimum of three: a launch that was
/// interrupted for milliseconds looks long enough with one iteration. The first launch may be slow
/// for other reasons.
std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t iterations)>& ns_of);

}  // namespace clprobe
