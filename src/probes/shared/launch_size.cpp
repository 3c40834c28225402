// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/launch_size.hpp"

#include <algorithm>
#include <cmath>

namespace clprobe {

std::uint64_t units_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
}

std::uint64_t max_group_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.max_work_group_size));
}

LaunchSize spread_over(const DeviceInfo& device, std::uint64_t elements) {
  const std::uint64_t units = units_of(device);
  if (runs_items_in_turn(device)) {
    // A CPU runs work-items one after another, so a few work-items per thread suffice. Each
    // work-item has at most the number of iterations that llvmpipe allows.
    const std::uint64_t min_items = elements / max_iterations + 1;
    return {std::min(std::max(units * 4, min_items), std::max<std::uint64_t>(1, elements)), 1};
  }
  const std::uint64_t group = std::min<std::uint64_t>(128, max_group_of(device));
  const std::uint64_t min_groups = elements / (max_iterations * group) + 1;
  const std::uint64_t groups =
      std::clamp<std::uint64_t>(elements / group, 1, std::max(units * 4, min_groups));
  return {groups * group, group};
}

bool may_cut_loops(const DeviceInfo& device) { return device.isa == "spir"; }

namespace {

/// Returns the time of a launch in ns. A launch shorter than `long_enough_ns` runs once, since
/// disturbances only lengthen launches. Other launches run twice, or three times if the first two
/// times differ by more than 25 %; the minimum counts.
double ns_of_launch(const std::function<double()>& launch, double long_enough_ns) {
  constexpr int max_launches = 3;
  constexpr double max_difference = 1.25;
  double min_ns = std::max(1.0, launch());
  bool agree = false;
  for (int i = 1; i < max_launches && !agree && min_ns >= long_enough_ns; ++i) {
    const double ns = std::max(1.0, launch());
    agree = std::max(ns, min_ns) <= max_difference * std::min(ns, min_ns);
    min_ns = std::min(ns, min_ns);
  }
  return min_ns;
}

}  // namespace

std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t)>& ns_of) {
  constexpr std::uint64_t max_growth = 64;
  const double long_enough_ns = wanted_ns / 4.0;
  for (std::uint64_t iterations = 1;;) {
    const double ns = ns_of_launch([&] { return ns_of(iterations); }, long_enough_ns);
    const bool is_known = ns >= long_enough_ns || iterations >= most;
    // The next launch usually runs twice. With half of `wanted_ns`, both runs together take the
    // time of one sample.
    const double next_ns = is_known ? wanted_ns : wanted_ns / 2.0;
    const double next = std::ceil(static_cast<double>(iterations) * next_ns / ns);
    const std::uint64_t bound = std::min(most, iterations * max_growth);
    iterations = static_cast<std::uint64_t>(std::clamp(next, 1.0, static_cast<double>(bound)));
    if (is_known) return iterations;
  }
}

}  // namespace clprobe
