// SPDX-License-Identifier: Apache-2.0
// Sizes of launches: work-items, work-groups and iterations, with the build options that follow
// from them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// Maximum work-group size of kernels that are built without a size option. Compilers assign
/// registers for groups of this size.
inline constexpr std::uint64_t usual_group = 256;

/// Maximum number of iterations of all loops of a work-item together. llvmpipe silently ends loops
/// after 65,535 iterations.
inline constexpr std::uint64_t max_iterations = 60000;

/// Returns the build option for a kernel that runs in groups of exactly `work_items` work-items.
inline std::string large_group(std::uint64_t work_items) {
  return " -DGROUP=" + std::to_string(work_items);
}

/// Build option for groups of more than one work-item on a CPU (see cl/clock.clh).
inline constexpr std::string_view clock_without_asm = " -DCLOCK_WITHOUT_ASM";

/// Returns the number of compute units. Returns 1 if the device reports none.
std::uint64_t units_of(const DeviceInfo& device);

/// Returns the maximum work-group size. Returns 1 if the device reports none.
std::uint64_t max_group_of(const DeviceInfo& device);

/// Number of work-items of a launch, and of each of its work-groups.
struct LaunchSize {
  std::uint64_t items;
  std::uint64_t group;
};

/// Returns the size of a launch that spreads a loop over `elements` across the whole device. Each
/// work-item has at most max_iterations elements.
LaunchSize spread_over(const DeviceInfo& device, std::uint64_t elements);

/// Returns true if the driver may end loops after max_iterations. Drivers with SPIR compilers,
/// such as llvmpipe, end longer loops.
bool may_cut_loops(const DeviceInfo& device);

/// Returns the number of iterations, from 1 to `most`, of a launch that takes about `wanted_ns`.
/// `ns_of` launches a number of iterations and returns the time in ns. The number grows until a
/// launch takes a quarter of `wanted_ns`. A launch of that length is repeated, since an
/// interruption of milliseconds can make even one iteration look long enough.
std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t iterations)>& ns_of);

}  // namespace clprobe
