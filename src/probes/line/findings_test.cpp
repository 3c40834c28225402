// SPDX-License-Identifier: Apache-2.0
// Plans and findings of the probe `line`, from hand-made points.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probes/line/line.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::line {
namespace {

DeviceInfo gpu_at_1_ghz() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.global_memory = gibibytes(16);
  device.max_allocation = gibibytes(4);
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  return device;
}

DeviceInfo cpu_at_1_ghz() {
  DeviceInfo device = gpu_at_1_ghz();
  device.type = DeviceType::cpu;
  return device;
}

Point timed_point(std::string_view series, const Shape& shape, std::uint64_t cycles) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    point.samples.push_back({.accesses = 1000, .ticks = 1000 * cycles, .visit = visit});
  }
  return point;
}

/// A device with 512 lines in L1 (30 cycles) and 16,384 in L2 (200 cycles), before memory (600
/// cycles). Both have lines of `line` bytes.
std::uint64_t cycles_of(const Shape& shape, std::uint64_t line) {
  const std::uint64_t lines = shape.nodes * std::min(line, shape.step_bytes) / line;
  return lines <= 512 ? 30 : lines <= 16384 ? 200 : 600;
}

/// The plan and its refinement with the times of that device. Pairs more than `fetch` bytes apart
/// need two misses; from there to `shelf`, the second word takes 60 cycles.
std::vector<Point> measured_points(std::uint64_t line, std::uint64_t fetch, std::uint64_t shelf) {
  const DeviceInfo device = gpu_at_1_ghz();
  const auto timed = [&](const std::vector<Point>& points) {
    std::vector<Point> all;
    for (const Point& each : points) {
      const auto shape = shape_of<Shape>(each);
      const std::uint64_t miss = each.series == cold_series ? 600 : 200;
      const std::uint64_t distance = shape.distance_bytes.value_or(0);
      const std::uint64_t second = distance < fetch ? 30 : distance < shelf ? 100 : miss;
      all.push_back(
          timed_point(each.series, shape, distance == 0 ? cycles_of(shape, line) : miss + second));
    }
    return all;
  };
  std::vector<Point> points = timed(probe.plan(device, {}).points);
  const std::vector<Point> more = timed(probe.refine(device, {}, points));
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

ProbeResult result_of(const std::vector<Point>& points, const DeviceInfo& device) {
  ProbeResult result;
  result.findings = analyse(device, points).findings;
  return result;
}

std::string card_of(std::uint64_t line, std::uint64_t fetch, std::uint64_t shelf = 0) {
  const Card made =
      card(result_of(measured_points(line, fetch, std::max(fetch, shelf)), gpu_at_1_ghz()));
  return made.lines.empty() ? "" : made.lines.front().text;
}

std::set<std::string> labels_of(const std::vector<Finding>& findings) {
  std::set<std::string> labels;
  for (const Finding& each : findings) {
    if (each.name == "filling") labels.insert(each.label);
  }
  return labels;
}

}  // namespace

TEST_CASE("line: each level's line and what it fetches") {
  CHECK(card_of(128, 32) == "L1 128 B (fetches 32 B), L2 128 B (fetches 32 B)");
  CHECK(card_of(64, 64) == "L1 64 B (fetches 64 B), L2 64 B (fetches 64 B)");
  CHECK(card_of(32, 32) == "L1 32 B (fetches 32 B), L2 32 B (fetches 32 B)");
  CHECK(card_of(512, 512) ==
        "L1 at least 256 B (fetches 512 B), L2 at least 256 B (fetches 512 B)");
}

TEST_CASE("line: a step that is not clear has a reason") {
  // At all distances, the second word takes as long, or the step is less than 1.6.
  std::vector<Point> points = measured_points(128, 1024, 1024);
  const Finding* fetch = nullptr;
  auto findings = analyse(gpu_at_1_ghz(), points).findings;
  fetch = find_finding(findings, "fetch", pairs_series);
  REQUIRE(fetch != nullptr);
  CHECK(fetch->value == 512.0);
  CHECK_FALSE(fetch->high.has_value());
  for (Point& each : points) {
    const auto shape = shape_of<Shape>(each);
    if (each.series != pairs_series || shape.distance_bytes.value_or(0) < 64) continue;
    each = timed_point(each.series, shape, 245);
  }
  findings = analyse(gpu_at_1_ghz(), points).findings;
  fetch = find_finding(findings, "fetch", pairs_series);
  CHECK_FALSE(fetch->value.has_value());
  CHECK(fetch->reason ==
        "no clear step: loading the second word takes 1.50 times as long at 64 bytes as at 32 "
        "bytes");
  CHECK(fetch->low.has_value() == false);
}

TEST_CASE("line: a level that fetches neighbours is neither sectored nor filled by lines") {
  const DeviceInfo device = gpu_at_1_ghz();
  CHECK(labels_of(analyse(device, measured_points(128, 32, 32)).findings) ==
        std::set<std::string>{"sectored"});
  CHECK(labels_of(analyse(device, measured_points(64, 64, 64)).findings) ==
        std::set<std::string>{"lines"});
  CHECK(labels_of(analyse(device, measured_points(64, 64, 128)).findings) ==
        std::set<std::string>{"neighbours"});
  CHECK(labels_of(analyse(device, measured_points(64, 128, 128)).findings) ==
        std::set<std::string>{"neighbours"});
}

TEST_CASE("line: a prefetcher that brings neighbours does not change what a miss fetches") {
  const auto findings = analyse(gpu_at_1_ghz(), measured_points(64, 64, 128)).findings;
  const Finding* const fetch = find_finding(findings, "fetch", pairs_series);
  REQUIRE(fetch != nullptr);
  CHECK(fetch->value == 64.0);
  CHECK(fetch->low == 64.0);
  CHECK(fetch->high == 64.0);
}

TEST_CASE("line: on a CPU, the latency of the next level may depend on the distance") {
  std::vector<Point> points = measured_points(128, 32, 32);
  for (Point& each : points) {
    const auto shape = shape_of<Shape>(each);
    if (each.series == spacing_series && shape.step_bytes < 256 && cycles_of(shape, 128) == 200) {
      each = timed_point(each.series, shape, 100);
    }
  }
  const auto of_cpu = analyse(cpu_at_1_ghz(), points).findings;
  const Finding* const line = find_finding(of_cpu, "line", spacing_series);
  REQUIRE(line != nullptr);
  CHECK(line->value == 128.0);
  const auto of_gpu = analyse(gpu_at_1_ghz(), points).findings;
  CHECK(find_finding(of_gpu, "line", spacing_series)->value != 128.0);
}

TEST_CASE("line: rings that are missing leave a reason, and no value") {
  std::vector<Point> points = measured_points(128, 32, 32);
  std::erase_if(points, [](const Point& each) {
    return shape_of<Shape>(each).step_bytes == 64 && shape_of<Shape>(each).nodes > 700;
  });
  const auto findings = analyse(gpu_at_1_ghz(), points).findings;
  const Finding* const line = find_finding(findings, "line", spacing_series);
  REQUIRE(line != nullptr);
  CHECK_FALSE(line->value.has_value());
  CHECK(line->reason.starts_with("too few rings"));
  CHECK(analyse(gpu_at_1_ghz(), {}).findings.empty());
}

TEST_CASE("line: pairs that miss all caches need memory, and are not for CPUs") {
  const auto of_gpu = shapes_by_series<Shape>(probe.plan(gpu_at_1_ghz(), {}));
  REQUIRE(of_gpu.contains(std::string(cold_series)));
  for (const Shape& each : of_gpu.at(std::string(cold_series))) {
    CHECK(each.flush_bytes == mebibytes(256).count);
    CHECK(each.ring_bytes() + *each.flush_bytes <= each.buffer_bytes);
    CHECK(warm_hops(gpu_at_1_ghz(), each) == 0);
  }
  Request small;
  small.max_memory = mebibytes(64);
  for (const Plan& each : {probe.plan(cpu_at_1_ghz(), {}), probe.plan(gpu_at_1_ghz(), small)}) {
    CHECK_FALSE(shapes_by_series<Shape>(each).contains(std::string(cold_series)));
    CHECK(find_finding(each.findings, "fetch", cold_series) != nullptr);
  }
  CHECK(probe.plan(gpu_at_1_ghz(), small).memory <= small.max_memory);
}

TEST_CASE("line: rings fit the buffer, and nodes their steps") {
  for (const Point& each : measured_points(128, 32, 32)) {
    const auto shape = shape_of<Shape>(each);
    CHECK(shape.ring_bytes() <= shape.buffer_bytes);
    for (std::uint32_t node = 0; node < std::min<std::uint64_t>(shape.nodes, 600); ++node) {
      const std::uint64_t offset = shape.offset_of(node);
      CHECK(offset / shape.step_bytes == node);
      CHECK(offset % shape.align_bytes == 0);
    }
  }
}

TEST_CASE("line: a launch walks small rings before it reads the clock") {
  const Shape small{.nodes = 100};
  const Shape large{.nodes = 100000};
  CHECK(warm_hops(gpu_at_1_ghz(), small) == 112);
  CHECK(warm_hops(gpu_at_1_ghz(), large) == 0);
  CHECK(warm_hops(cpu_at_1_ghz(), large) == 100000);
}

}  // namespace clprobe::line
