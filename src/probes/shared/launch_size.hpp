// SPDX-License-Identifier: Apache-2.0
// How many work-items a launch over much memory has. Pure.
#pragma once

#include <cstdint>

#include "clprobe/run.hpp"

namespace clprobe {

/// Work-items of a launch, and of each of its work-groups.
struct LaunchSize {
  std::uint64_t items;
  std::uint64_t group;
};

/// A launch over the whole device, of at most as many work-items as there are places.
LaunchSize spread_over(const DeviceInfo& device, std::uint64_t places);

}  // namespace clprobe
