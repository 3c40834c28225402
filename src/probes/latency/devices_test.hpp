// SPDX-License-Identifier: Apache-2.0
// For the tests of `latency`: devices, requests, and curves whose levels are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/latency/latency.hpp"

namespace clprobe::latency {

inline DeviceInfo big_gpu() {
  DeviceInfo device;
  device.name = "Big GPU";
  device.type = DeviceType::gpu;
  device.isa = "nvptx";
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(256);
  device.max_allocation = gibibytes(64);
  device.local_memory = kibibytes(48);
  device.constant_buffer = kibibytes(64);
  device.cache_line = Bytes{128};
  device.image_buffer_pixels = 268435456;
  device.pointers_stay_valid = true;
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

inline DeviceInfo phone() {
  DeviceInfo device = big_gpu();
  device.name = "Phone";
  device.isa = "spir";
  device.global_memory = mebibytes(64);
  device.max_allocation = mebibytes(16);
  device.local_memory = kibibytes(32);
  device.image_buffer_pixels = 65536;
  device.cache_line = Bytes{64};
  device.pointers_stay_valid = false;
  device.timer = Timer::event;
  device.clock = {};
  return device;
}

inline DeviceInfo cpu() {
  DeviceInfo device = phone();
  device.name = "CPU";
  device.type = DeviceType::cpu;
  device.isa = "x86";
  device.global_memory = gibibytes(6);
  device.max_allocation = gibibytes(2);
  device.local_memory = kibibytes(512);
  device.constant_buffer = kibibytes(512);
  device.image_buffer_pixels = 134217728;
  return device;
}

/// AMD GPU: constants are ordinary memory, and a uniform chase has its own cache.
inline DeviceInfo amd() {
  DeviceInfo device = big_gpu();
  device.name = "AMD";
  device.isa = "amdgcn-gfx90a";
  device.global_memory = gibibytes(64);
  device.max_allocation = gibibytes(54);
  device.constant_buffer = gibibytes(54);
  device.local_memory = kibibytes(64);
  return device;
}

inline DeviceInfo bare() {
  DeviceInfo device = phone();
  device.name = "Bare";
  device.image_buffer_pixels = 0;
  device.constant_buffer = Bytes{};
  device.local_memory = Bytes{};
  device.cache_line = Bytes{};
  return device;
}

inline std::vector<DeviceInfo> all_devices() { return {big_gpu(), phone(), cpu(), amd(), bare()}; }

inline void set_sizes(Request& request, std::vector<SizeRange> sizes) {
  request.own.set("sizes", std::move(sizes));
}

inline void set_address(Request& request, AddressForm form) {
  request.own.set("address", std::vector<std::string>{std::string(to_word(form))});
}

inline std::uint64_t number(const Point& point, std::string_view name) {
  return static_cast<std::uint64_t>(point.parameters.integer(name));
}

inline std::vector<std::uint64_t> sizes_of(std::span<const Point> points, std::string_view series) {
  std::vector<std::uint64_t> sizes;
  for (const Point& point : points) {
    if (point.series == series) sizes.push_back(number(point, "working_set_bytes"));
  }
  return sizes;
}

inline Plan plan_of(const DeviceInfo& device, const Request& request = {}) {
  return probe.plan(device, request);
}

/// Typical requests. Every device must have a valid plan for each request.
inline std::vector<Request> many_requests() {
  std::vector<Request> all(1);
  for (const Effort effort : {Effort::quick, Effort::thorough}) {
    all.emplace_back().effort = effort;
  }
  for (const AddressForm form : {AddressForm::pointer, AddressForm::index, AddressForm::offset}) {
    set_address(all.emplace_back(), form);
  }
  for (const Bytes most : {kibibytes(1), kibibytes(100), mebibytes(3), mebibytes(16)}) {
    all.emplace_back().max_memory = most;
  }
  for (const Bytes step : {Bytes{8}, Bytes{64}, Bytes{200}, kibibytes(4), mebibytes(1)}) {
    all.emplace_back().own.set("step", step);
  }
  set_sizes(all.emplace_back(), {{kibibytes(4), kibibytes(64), 2.0}});
  set_sizes(all.emplace_back(), {{Bytes{1}, mebibytes(1), 0.0}, {mebibytes(1), mebibytes(1), 0.0}});
  set_sizes(all.emplace_back(), {{Bytes{100}, Bytes{100}, 0.0}});
  set_sizes(all.emplace_back(), {{gibibytes(1), gibibytes(1), 0.0}});
  all.emplace_back().series = {"global", "image"};
  return all;
}

inline std::string options_of(const Point& point) {
  return build_options(series_named(point.series), shape_of<RingShape>(point));
}

inline std::set<std::string> series_of(std::span<const Point> points) {
  std::set<std::string> series;
  for (const Point& point : points) series.insert(point.series);
  return series;
}

/// Plateau of a simulated curve. At a size beyond the capacity, the share of the size that does
/// not fit misses.
struct Plateau {
  double ns;
  double capacity_bytes;  // 0: the last plateau
};

inline double time_at(const std::vector<Plateau>& plateaus, double size) {
  double time = 0.0;
  double nearer = 0.0;
  for (const Plateau& plateau : plateaus) {
    const bool is_last = plateau.capacity_bytes == 0.0;
    const double within = is_last ? 1.0 : std::min(1.0, plateau.capacity_bytes / size);
    time += plateau.ns * (within - nearer);
    nearer = within;
  }
  return time;
}

/// Gives every point of `series` samples with the clock of big_gpu(), which has 2 ticks per ns.
inline void take_samples(std::vector<Point>& points, std::string_view series,
                         const std::function<double(double)>& time_of) {
  constexpr std::uint64_t accesses = 100'000;
  for (Point& point : points) {
    if (point.series != series) continue;
    const double ns = time_of(static_cast<double>(number(point, "working_set_bytes")));
    Sample sample{.accesses = accesses};
    sample.ticks = static_cast<std::uint64_t>(2.0 * ns * static_cast<double>(accesses));
    sample.event_ns = *sample.ticks / 2;
    sample.host_ns = *sample.ticks / 2;
    point.samples = {sample, sample, sample};
  }
}

inline void take_samples(std::vector<Point>& points, std::string_view series,
                         const std::vector<Plateau>& plateaus) {
  take_samples(points, series, [&](double size) { return time_at(plateaus, size); });
}

/// Returns a curve whose plateaus have sharp ends: each rise ends at 1.15 times the capacity, so
/// that plateaus of similar capacity stay distinct.
inline std::function<double(double)> sharp(std::vector<Plateau> plateaus) {
  return [plateaus = std::move(plateaus)](double size) {
    double time = plateaus.front().ns;
    for (std::size_t i = 1; i < plateaus.size(); ++i) {
      const double beyond = (size / plateaus[i - 1].capacity_bytes - 1.0) / 0.15;
      time += (plateaus[i].ns - plateaus[i - 1].ns) * std::clamp(beyond, 0.0, 1.0);
    }
    return time;
  };
}

inline std::vector<Plateau> three_levels() {
  return {{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {450.0, 0.0}};
}

inline std::vector<Point> measured(const DeviceInfo& device, const Request& request) {
  std::vector<Point> points = plan_of(device, request).points;
  take_samples(points, "global", three_levels());
  return points;
}

inline std::vector<Finding> findings_of(const Findings& found, std::string_view series,
                                        std::string_view name) {
  std::vector<Finding> chosen;
  for (const Finding& finding : found.findings) {
    if (finding.series == series && finding.name == name) chosen.push_back(finding);
  }
  return chosen;
}

}  // namespace clprobe::latency
