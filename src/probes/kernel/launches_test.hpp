// SPDX-License-Identifier: Apache-2.0
// Example launches and their points with made-up times.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/finding.hpp"
#include "unit/random.hpp"

namespace clprobe::kernel {

inline constexpr std::string_view triad =
    "kernel void triad(global float* a, global const float* b) {\n"
    "  a[get_global_id(0)] = b[get_global_id(0)];\n}\n";

inline AskedLaunch asked(const std::string& text, std::uint64_t groups) {
  AskedLaunch launch{.label = "triad"};
  launch.bundle.launch.program.units = {{}};
  launch.bundle.texts = {text};
  launch.bundle.options = {""};
  launch.bundle.id = "0123456789abcdef";
  launch.bundle.launch.program.units = {{bundle::sha256_of(text), ""}};
  launch.bundle.launch.kernel = "triad";
  launch.bundle.launch.range = {
      .dimensions = 1, .offset = {}, .global = {64 * groups}, .local = {64}};
  launch.bundle.launch.objects = {{.name = "a", .bytes = 4096}, {.name = "b", .bytes = 4096}};
  return launch;
}

inline DeviceInfo device_with_events() {
  DeviceInfo device;
  device.timer = Timer::event;
  device.launch_timer = Timer::event;
  return device;
}

inline Plan plan_of(const std::string& text, std::uint64_t groups) {
  Request request;
  request.launches = {asked(text, groups)};
  return plan(device_with_events(), request);
}

/// Adds three samples of about `ns` nanoseconds to the point.
inline void measure(Point& point, double ns) {
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample{.accesses = 1, .host_ns = static_cast<std::uint64_t>(ns) + 1000, .visit = visit};
    sample.event_ns = static_cast<std::uint64_t>(ns) + visit;
    point.samples.push_back(sample);
  }
  point.facts.set(deterministic_fact, std::int64_t{1});
}

/// Returns the points of a kernel that takes 1 ms without instrumentation and `ratio` ms with
/// instrumentation. With 64 or fewer distinct groups, the time is halved. With one or two distinct
/// groups, the time is 1.5 times that of all groups.
inline std::vector<Point> measured(double ratio) {
  std::vector<Point> points = plan_of(std::string(triad), 1024).points;
  for (Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    double ns = 1e6;
    if (shape.variant == Variant::instrumented) ns *= ratio;
    if (shape.distinct_groups <= 64) ns *= 0.5;
    if (shape.distinct_groups <= 2) ns *= 3;
    if (shape.variant == Variant::warm) ns = 8e5;
    if (shape.variant == Variant::ending) ns = 1e4;
    measure(point, ns);
  }
  return points;
}

inline const Finding& need(const Findings& found, std::string_view name) {
  const Finding* const finding = find_finding(found.findings, name);
  REQUIRE(finding != nullptr);
  return *finding;
}

/// Returns nine visits of about `ns` nanoseconds each, with normal noise of standard deviation
/// `noise` (relative).
inline Visits around(double ns, std::uint64_t seed, double noise = 0.002) {
  Random random(seed);
  Visits visits;
  for (int i = 0; i < 9; ++i) visits.push_back({ns * (1.0 + noise * random.normal())});
  return visits;
}

inline const Finding* find_stall(const Findings& found, std::string_view label);

/// Returns the share of the bar that is left without all causes: groups that start, and the rest.
inline double left_in(const Findings& found) {
  const Finding* const rest = find_stall(found, stack_remainder);
  REQUIRE(rest != nullptr);
  const Finding* const starting = find_stall(found, "idle: starting groups");
  return *rest->value + (starting == nullptr ? 0.0 : *starting->value);
}

/// Returns the finding of the bar's share with that label; null if there is none.
inline const Finding* find_stall(const Findings& found, std::string_view label) {
  const auto each =
      std::find_if(found.findings.begin(), found.findings.end(), [&](const Finding& finding) {
        return finding.name == stack_part_name && finding.label == label;
      });
  return each == found.findings.end() ? nullptr : &*each;
}

}  // namespace clprobe::kernel
