// SPDX-License-Identifier: Apache-2.0
// The plan of `inflight`, what it refuses, its lines and its findings; no OpenCL.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "clprobe/simulated.hpp"
#include "probes/inflight_findings.hpp"
#include "probes/inflight_shape.hpp"

namespace clprobe {
namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = "gpu";
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.compute_units = 132;
  device.cache_line = {128};
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.timer = Timer::clock;
  device.clock = {.kind = ClockKind::nvidia, .rate = ClockRate::core_cycles, .ticks_per_ns = 2.0};
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device = gpu();
  device.type = "cpu";
  device.sub_group_size = 1;
  device.cache_line = {64};
  return device;
}

const Probe& probe() { return *find_probe("inflight"); }

std::set<std::string> series_of(const Plan& plan) {
  std::set<std::string> series;
  for (const Point& each : plan.points) series.insert(each.series);
  return series;
}

Point block(int loads, int merger, const char* mode, int items) {
  Point point;
  point.series = "cache-x" + std::to_string(loads);
  point.parameters = {{"target", std::string("cache")},   {"buffer_bytes", std::int64_t{1 << 20}},
                      {"line_bytes", std::int64_t{128}},  {"sub_group", std::int64_t{32}},
                      {"loads", std::int64_t{loads}},     {"merger", std::int64_t{merger}},
                      {"merger_mode", std::string(mode)}, {"work_items", std::int64_t{items}}};
  return point;
}

TEST_CASE("a GPU with a clock gets curves of both targets, and chains") {
  const Plan plan = probe().plan(gpu(), {});
  const std::set<std::string> series = series_of(plan);
  for (const char* const name : {"overhead", "cache-x1", "cache-x8", "memory-x1", "memory-x4",
                                 "cache-chains", "memory-chains"}) {
    CAPTURE(name);
    CHECK(series.contains(name));
  }
  CHECK_FALSE(series.contains("host-x1"));
  CHECK(plan.findings.empty());
  for (const Point& each : plan.points) {
    const InflightShape shape = InflightShape::of(each);
    CHECK(shape.work_items <= 1024);
    CHECK(shape.lines_per_round() * 2 <= shape.lines);
    CHECK((shape.lines & (shape.lines - 1)) == 0);
  }
}

TEST_CASE("without a clock, and on processors, chains alone are measured, and why is said") {
  DeviceInfo blind = gpu();
  blind.timer = Timer::event;
  for (const DeviceInfo& device : {blind, cpu()}) {
    const Plan plan = probe().plan(device, {});
    CHECK(series_of(plan) == std::set<std::string>{"cache-chains", "memory-chains"});
    REQUIRE(plan.findings.size() == 1);
    CHECK(plan.findings.front().name == "limit");
    CHECK_FALSE(plan.findings.front().reason.empty());
  }
  for (const Point& each : probe().plan(cpu(), {}).points) {
    CHECK(InflightShape::of(each).work_items == 1);
  }
}

TEST_CASE("what is asked for is what is planned") {
  Limits limits;
  limits.in_flight = {{32, 64}, {2}, {1, 4}, {"memory"}};
  const Plan plan = probe().plan(gpu(), limits);
  CHECK(series_of(plan) == std::set<std::string>{"overhead", "memory-x2", "memory-x2-within-4",
                                                 "memory-x2-across-4", "memory-chains"});
  const auto planned = std::count_if(plan.points.begin(), plan.points.end(),
                                     [](const Point& each) { return each.series == "memory-x2"; });
  CHECK(planned == 2);
}

TEST_CASE("what a device can never do is refused in one line with the nearest choice") {
  Limits limits;
  limits.in_flight.work_items = {64, 2048};
  CHECK(probe().check(gpu(), limits) ==
        "--work-items: 2048 are more than a work-group of it has: choose 1 to 1024");
  limits = {};
  limits.in_flight.mergers = {4096};
  CHECK(probe().check(gpu(), limits).starts_with("--mergers: 4096"));
  limits = {};
  limits.in_flight = {{1024}, {16}, {32}, {"cache"}};
  CHECK(probe().check(gpu(), limits).empty());
}

TEST_CASE("the cycle of lines visits each line once and can be entered anywhere") {
  for (const std::uint32_t lines : {1U, 2U, 8U, 4096U}) {
    const LineCycle cycle{lines - 1};
    std::set<std::uint32_t> seen;
    std::uint32_t line = 0;
    for (std::uint32_t k = 0; k < lines; ++k) {
      CHECK(cycle.at(k) == line);
      seen.insert(line);
      line = cycle.after(line);
    }
    CHECK(seen.size() == lines);
    CHECK(line == 0);
  }
}

TEST_CASE("mergers share lines within a sub-group or across") {
  const InflightShape within = InflightShape::of(block(1, 4, "within", 64));
  CHECK(within.place_of(0) == within.place_of(3));
  CHECK(within.place_of(3) != within.place_of(4));
  CHECK(within.lines_per_load() == 16);
  const InflightShape across = InflightShape::of(block(1, 2, "across", 128));
  CHECK(across.place_of(5) == across.place_of(37));
  CHECK(across.place_of(5) != across.place_of(6));
  CHECK(across.place_of(5) != across.place_of(69));
  CHECK(across.lines_per_load() == 64);
}

TEST_CASE("the witness counts every load of every round") {
  const InflightShape one = InflightShape::of(block(1, 1, "within", 2));
  const LineCycle cycle = one.cycle();
  // Rounds 0 and 1 of two work-items, from line 6.
  const std::uint64_t expected =
      std::uint64_t{cycle.after(6)} + cycle.after(7) + cycle.after(8) + cycle.after(9);
  CHECK(one.block_witness(6, 1) == expected);
  CHECK(one.block_witness(6, 2) > expected);
}

/// Samples of a pool of `capacity` requests: what does not fit waits for those before.
std::vector<Point> curve(int loads, int capacity, double latency) {
  constexpr double interval = 0.3;
  std::vector<Point> points;
  for (int n = 2; n <= 512; n += 2) {
    Point point = block(loads, 1, "within", n);
    const int waits = (n * loads - 1) / capacity;
    const double cycles = latency + interval * n * loads + waits * (latency - interval * capacity);
    point.samples.assign(
        3, {.accesses = 1, .ticks = static_cast<std::uint64_t>(cycles), .host_ns = 1000});
    points.push_back(point);
  }
  return points;
}

TEST_CASE("jumps at as many requests are a pool, through the probe's own findings") {
  std::vector<Point> points;
  for (const int loads : {1, 2, 3}) {
    for (Point& each : curve(loads, 200, 400.0)) points.push_back(std::move(each));
  }
  const Findings found = probe().analyse(gpu(), points);
  const auto limit = std::find_if(found.findings.begin(), found.findings.end(),
                                  [](const Finding& each) { return each.name == "limit"; });
  REQUIRE(limit != found.findings.end());
  CAPTURE(limit->reason);
  CHECK(limit->label == "MSHR");
  const auto requests = std::find_if(found.findings.begin(), found.findings.end(),
                                     [](const Finding& each) { return each.name == "requests"; });
  REQUIRE(requests != found.findings.end());
  CHECK(*requests->low <= 200);
  CHECK(*requests->high >= 200);
}

TEST_CASE("without points nothing is found, and a failed point counts for nothing") {
  CHECK(probe().analyse(gpu(), {}).findings.empty());
  std::vector<Point> points = curve(1, 200, 400.0);
  for (Point& each : points) each.failure = "lost";
  CHECK(probe().analyse(gpu(), points).findings.empty());
}

}  // namespace
}  // namespace clprobe
