// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `banks` say of banks and conflicts, and of the model
// E = c1 * w * l * k + c2. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/model.hpp"

namespace clprobe::banks {

inline bool in_cycles(const DeviceInfo& device) {
  return device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
}

inline std::string_view time_unit(const DeviceInfo& device) {
  return in_cycles(device) ? "cycles" : "seconds";
}

/// A time in the unit of the findings.
inline double in_unit(double ns, const DeviceInfo& device) {
  return in_cycles(device) ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

inline Interval in_unit(const Interval& ns, const DeviceInfo& device) {
  return {in_unit(ns.low, device), in_unit(ns.high, device)};
}

/// Estimates of the visits, if the estimate of all does not hold how far they are apart.
inline std::vector<double> visits_beside(const Estimate& time, const Point& point,
                                         const DeviceInfo& device) {
  return time.holds_visits ? std::vector<double>{} : visit_estimates_ns(point, device);
}

/// Joins the interval of an estimate with that of the visits' median.
inline Interval with_visits(const Interval& estimated, std::span<const double> visits) {
  if (visits.empty()) return estimated;
  const Interval usual = median_interval(visits);
  return {std::min(estimated.low, usual.low), std::max(estimated.high, usual.high)};
}

/// The series of findings about the memory as a whole.
inline constexpr std::string_view of_memory = "local memory";

/// Judges the banks by loads of 4 and 8 bytes, or else by whatever was measured; nothing without a
/// measured pattern.
std::optional<Verdict> find_verdict(const DeviceInfo& device, std::span<const Point> points);

/// The `analyse` of the probe. Method: docs/banks.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Minimum time of independent accesses with so many wavefronts together on a discrete memory
/// machine: its memory takes one wavefront every `way_time` and answers an
/// access `latency` after it began, all others while it waits. In any unit.
/// Source: K. Nakano, Simple memory machine models for GPUs, 2014.
double discrete_memory_machine_time(double wavefronts, double latency, double way_time);

/// Adds the line of loads and of stores, where it is off, and up to 8 points one by one. The ratio
/// to the bound needs the findings of load-latency and load-throughput for the same words, which
/// are in `found` already.
void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model);

/// Charts of what the model's points took over the product of their three numbers, the mean of
/// those with one product, with the line that was found.
std::vector<CardPlot> model_plots(const ProbeResult& result);

/// Findings on the card of a device. Pure.
Card card(const ProbeResult& result);

}  // namespace clprobe::banks
