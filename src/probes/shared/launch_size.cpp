// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/launch_size.hpp"

#include <algorithm>

#include "probes/shared/work_group.hpp"

namespace clprobe {

std::uint64_t units_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
}

LaunchSize spread_over(const DeviceInfo& device, std::uint64_t places) {
  const std::uint64_t units = units_of(device);
  if (runs_items_in_turn(device)) {
    // A CPU runs the items of a group one after another, so that a few per thread are enough; but
    // none may have more iterations than llvmpipe makes.
    const std::uint64_t min_items = places / max_iterations + 1;
    return {std::min(std::max(units * 4, min_items), std::max<std::uint64_t>(1, places)), 1};
  }
  const std::uint64_t group =
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(device.max_work_group_size, 1, 128));
  const std::uint64_t min_groups = places / (max_iterations * group) + 1;
  const std::uint64_t groups =
      std::clamp<std::uint64_t>(places / group, 1, std::max(units * 4, min_groups));
  return {groups * group, group};
}

std::uint64_t turns_over(const LaunchSize& size, std::uint64_t places) {
  return (places + size.items - 1) / size.items;
}

bool may_cut_loops(const DeviceInfo& device) { return device.isa == "spir"; }

}  // namespace clprobe
