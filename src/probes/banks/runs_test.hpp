// SPDX-License-Identifier: Apache-2.0
// Devices, and samples that these devices would give, for the tests of `banks`.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/findings.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::banks {

inline const Probe& banks_probe() { return *find_probe("banks"); }

using GivenOptions = std::vector<std::pair<std::string_view, OptionValue>>;
using Ints = std::vector<int>;
using Words = std::vector<std::string>;

inline Request asking(const GivenOptions& options, const std::vector<std::string>& series = {}) {
  Request request;
  request.series = series;
  for (const auto& [name, value] : options) request.own.set(name, value);
  return request;
}

inline Shape shape_at(const Point& point) { return shape_of<Shape>(point); }

/// Returns the number of wavefronts that the pattern of a point takes with these banks.
inline int wavefronts_at(const Point& point, const Model& model) {
  const Shape shape = shape_at(point);
  return wavefronts_of(offsets_of(shape.pattern, shape.word_bytes, shape.lanes), shape.word_bytes,
                       model);
}

inline DeviceInfo gpu() {
  DeviceInfo device;
  device.name = "GPU";
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.local_memory = kibibytes(48);
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

inline DeviceInfo wave64() {
  DeviceInfo device = gpu();
  device.sub_group_size = 64;
  device.max_work_group_size = 256;
  device.local_memory = kibibytes(64);
  return device;
}

inline DeviceInfo phone() {
  DeviceInfo device = gpu();
  device.sub_group_size = 1;  // not reported
  device.max_work_group_size = 128;
  device.local_memory = kibibytes(16);
  device.timer = Timer::event;
  device.clock = {};
  return device;
}

inline DeviceInfo cpu() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.sub_group_size = 8;
  device.max_work_group_size = 4096;
  device.local_memory = mebibytes(2);
  device.clock.rate = ClockRate::constant_rate;
  device.reported = {{"local_memory_type", std::int64_t{2}}};
  return device;
}

/// Returns the planned points without transpositions. transpose_test.cpp tests the transpositions.
inline std::vector<Point> accesses_for(const DeviceInfo& device, const Request& request = {}) {
  std::vector<Point> points = banks_probe().plan(device, request).points;
  std::erase_if(points, is_transposition);
  return points;
}

inline std::set<std::string> series_of(std::span<const Point> points) {
  std::set<std::string> series;
  for (const Point& point : points) series.insert(point.series);
  return series;
}

/// Gives each point samples of a device with the banks of `model`. An access of a chain takes 23
/// cycles and 2 per wavefront, other accesses 0.1 cycles and 1 per wavefront. The conflict model is
/// E = w * l * k + 300. With `costs_nothing` every access takes one wavefront.
inline void take_samples(std::vector<Point>& points, const Model& model,
                         bool costs_nothing = false) {
  for (Point& point : points) {
    const double wavefronts = costs_nothing ? 1.0 : wavefronts_at(point, model);
    const AccessKind& kind = kind_of(point.series);
    double cycles = kind.is_chain ? 23.0 + 2.0 * wavefronts : 0.1 + wavefronts;
    if (kind.is_single) {
      const auto accesses = static_cast<double>(point.parameters.integer("sub_groups") *
                                                point.parameters.integer("instructions"));
      cycles = wavefronts + 300.0 / accesses;
    }
    constexpr std::uint64_t accesses = 1'000'000;
    Sample sample{.accesses = accesses};
    sample.ticks = static_cast<std::uint64_t>(cycles * static_cast<double>(accesses));
    point.samples = {sample, sample};
  }
}

inline const Finding* find(const Findings& found, std::string_view name, std::string_view series) {
  const auto finding =
      std::find_if(found.findings.begin(), found.findings.end(),
                   [&](const Finding& each) { return each.name == name && each.series == series; });
  return finding == found.findings.end() ? nullptr : &*finding;
}

inline double value_of(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find(found, name, series);
  REQUIRE(finding != nullptr);
  return finding->value.value_or(-1.0);
}

/// Returns the points of a run on a device with the banks of `model`, without transpositions.
inline std::vector<Point> measured(const DeviceInfo& device, const Request& request,
                                   const Model& model) {
  std::vector<Point> points = accesses_for(device, request);
  take_samples(points, model);
  std::vector<Point> more = banks_probe().refine(device, request, points);
  take_samples(more, model);
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

}  // namespace clprobe::banks
