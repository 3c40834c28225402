// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::@ID@ {

extern const Probe probe;

namespace {

/// A point of so many chains whose multiplications took `ns` each, by a clock of 1 tick per ns.
Point measured(std::int64_t chains, std::uint64_t ns) {
  Point point;
  point.series = "multiply";
  point.parameters = {{"chains", chains}};
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample;
    sample.accesses = 1000;
    sample.ticks = 1000 * ns;
    sample.visit = visit;
    point.samples.push_back(sample);
  }
  return point;
}

DeviceInfo device_with_clock() {
  DeviceInfo device;
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  return device;
}

}  // namespace

TEST_CASE("@ID@: a point for each number of chains") {
  Request request;
  CHECK(probe.plan(DeviceInfo{}, request).points.size() == 5);
  request.own.set("chains", std::vector<int>{3, 5});
  const Plan plan = probe.plan(DeviceInfo{}, request);
  REQUIRE(plan.points.size() == 2);
  CHECK(plan.points[0].parameters.integer("chains") == 3);
  CHECK(plan.points[1].parameters.integer("chains") == 5);
}

TEST_CASE("@ID@: latency of one chain, throughput of the best") {
  const std::vector<Point> points{measured(1, 4), measured(8, 1)};
  const Findings found = probe.analyse(device_with_clock(), points);
  REQUIRE(found.findings.size() == 2);
  CHECK(*found.findings[0].value == doctest::Approx(4e-9));
  CHECK(*found.findings[1].value == doctest::Approx(1e9));
}

TEST_CASE("@ID@: without one chain the latency is not known, and says why") {
  const std::vector<Point> points{measured(8, 1)};
  const Findings found = probe.analyse(device_with_clock(), points);
  REQUIRE(found.findings.size() == 2);
  CHECK_FALSE(found.findings[0].value.has_value());
  CHECK(found.findings[0].reason.starts_with("not measured"));
}

}  // namespace clprobe::@ID@
