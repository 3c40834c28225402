// SPDX-License-Identifier: Apache-2.0
// Where a kernel's cycles go: exactly on simulated machines, and on devices what can be told
// without counters. Method: docs/stalls.md.
#include <chrono>

#include "clprobe/probe.hpp"
#include "probes/stalls_device.hpp"
#include "probes/stalls_simulated.hpp"

namespace clprobe {

extern const Probe stalls;

namespace {

bool is_simulated(const DeviceInfo& device) { return device.type == "simulated"; }

std::string check(const DeviceInfo& device, const Limits& limits) {
  return is_simulated(device) ? stalls_simulated::check(device, limits) : std::string();
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  if (is_simulated(device)) return stalls_simulated::plan(device, limits);
  return stalls_device::plan(device, limits);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  return is_simulated(device) ? stalls_simulated::analyse(points)
                              : stalls_device::analyse(device, points);
}

// Few points, of which each is a kernel as a whole: a search with one queue takes seconds to
// simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

}  // namespace

const Probe stalls{
    .id = "stalls",
    .title = "Stalls",
    .question = "Where do a kernel's cycles go?",
    .quantity = Quantity::seconds_per_access,
    .check = check,
    .budgets = budgets,
    .plan = plan,
    .prepare = stalls_device::prepare,
    .trace = stalls_simulated::trace,
    .variants = stalls_device::variants,
    .analyse = analyse,
};

}  // namespace clprobe
