// SPDX-License-Identifier: Apache-2.0
// Points of the probe `stalls` for tests, with times that follow from known causes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

extern const Probe probe;

inline DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.local_memory = kibibytes(48);
  device.clock.kind = ClockKind::nvidia;
  device.clock.ticks_per_ns = 2.0;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  return device;
}

inline Plan plan_of(std::vector<std::string> cases, const DeviceInfo& device = gpu()) {
  Request request;
  request.own.set("case", std::move(cases));
  return probe.plan(device, request);
}

inline Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  return probe.analyse(device, points);
}

/// Sets four samples of whole launches at and slightly around `ns`. The slowest takes 1.3 * `ns`.
inline void set_time(Point& point, double ns) {
  for (const double factor : {0.999, 1.0, 1.002, 1.3}) {
    Sample sample;
    sample.accesses = 1000;
    sample.event_ns = static_cast<std::uint64_t>(std::llround(ns * factor * 1000.0));
    sample.host_ns = *sample.event_ns;
    point.samples.push_back(sample);
  }
}

inline void set_ticks(Point& point, std::uint64_t ticks) {
  for (int k = 0; k < 3; ++k) {
    Sample sample;
    sample.accesses = 1;
    sample.ticks = ticks;
    sample.host_ns = ticks;
    point.samples.push_back(sample);
  }
}

inline const Finding* find(const Findings& found, std::string_view name, std::string_view series,
                           std::string_view label = {}) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.series == series && (label.empty() || each.label == label)) {
      return &each;
    }
  }
  return nullptr;
}

inline double value_of(const Findings& found, std::string_view name, std::string_view series,
                       std::string_view label = {}) {
  const Finding* const finding = find(found, name, series, label);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->value.has_value());
  return *finding->value;
}

/// Sets times in which each cause costs the nanoseconds that `costs` gives, independently of other
/// causes, and `base` remains. Removes the points that measure issue.
inline void measure(std::vector<Point>& points, const std::map<std::string, double>& costs,
                    double base, const std::map<std::string, double>& noise_costs = {}) {
  std::erase_if(points, [](const Point& each) { return crowd_of(each) > 0; });
  for (Point& point : points) {
    const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
    const auto set = static_cast<std::uint64_t>(point.parameters.integer("idealised"));
    double ns = base;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      if (((set >> i) & 1U) == 0) ns += costs.at(std::string(label_of(causes[i])));
    }
    const std::string noise = point.parameters.text_or("noise", "");
    if (const auto cost = noise_costs.find(noise); cost != noise_costs.end()) {
      ns += cost->second * static_cast<double>(point.parameters.integer("noise_amount"));
    }
    set_time(point, ns);
  }
}

/// Returns true if the point's build has the cause.
inline bool has_cause(const Point& point, Cause cause) {
  const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
  const auto set = static_cast<std::uint64_t>(point.parameters.integer("idealised"));
  const auto at = std::find(causes.begin(), causes.end(), cause) - causes.begin();
  return ((set >> static_cast<unsigned>(at)) & 1U) == 0;
}

}  // namespace clprobe::stalls
