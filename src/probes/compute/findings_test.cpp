// SPDX-License-Identifier: Apache-2.0
// Checks findings and card of hand-made results of a device whose numbers are known.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/compute/compute.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::compute {
namespace {

// A GPU of 100 compute units at 2 GHz with 128 lanes each: an operation of a chain takes 4 cycles.
constexpr std::uint64_t units = 100;

DeviceInfo gpu_of_100() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = units;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

Point made_point(std::string_view series, const Shape& shape) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  return point;
}

/// A point of one compute unit: so many operations in each of three visits of so many ticks.
Point of_unit(std::string_view series, int chains, int sub_groups, std::uint64_t operations,
              std::uint64_t ticks, int width = 1) {
  Point point =
      made_point(series, {.chains = chains, .width = width, .sub_groups = sub_groups, .lanes = 32});
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    point.samples.push_back({.accesses = operations, .ticks = ticks, .visit = visit});
  }
  return point;
}

/// A point of the whole device: so many operations in visits of these times.
Point of_device(std::string_view series, int work, std::uint64_t operations,
                const std::vector<std::uint64_t>& times_ns, int chains = 4) {
  Point point = made_point(series, {.scope = Scope::device, .chains = chains, .work = work});
  std::uint64_t visit = 0;
  for (const std::uint64_t ns : times_ns) {
    point.samples.push_back({.accesses = operations, .event_ns = ns, .visit = visit++});
  }
  return point;
}

/// The points of an operation whose peak is 99 % of units x 128 x 2 GHz.
std::vector<Point> usual(std::string_view series) {
  constexpr std::uint64_t operations = units * 128 * 2'000'000;  // a millisecond at the full rate
  return {of_unit(series, 1, 1, 32 * 1000, 4000), of_unit(series, 4, 8, 1'280'000, 10'000),
          of_unit(series, 8, 32, 1'270'000, 10'000),
          of_device(series, 1, operations, {1'010'000, 1'020'000, 1'030'000}),
          of_device(series, 2, 2 * operations, {2'020'000, 2'020'000, 2'020'000})};
}

double value_in(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find_value(found.findings, name, series);
  return finding == nullptr ? -1.0 : *finding->value;
}

}  // namespace

TEST_CASE("compute: latency, rate of a unit and peak of a device whose numbers are known") {
  const Findings found = analyse(gpu_of_100(), usual("fma"));
  CHECK(1e9 * value_in(found, "latency", "fma") == doctest::Approx(2.0));
  CHECK(value_in(found, "latency_cycles", "fma") == doctest::Approx(4.0));
  CHECK(value_in(found, "unit_rate", "fma") == doctest::Approx(128.0));
  CHECK(find_value(found.findings, "unit_rate", "fma")->method == "4 chains x 8 sub-groups");
  CHECK(value_in(found, "peak", "fma") == doctest::Approx(25.6e12 / 1.01));
  CHECK(value_in(found, "peak_flops", "fma") == doctest::Approx(51.2e12 / 1.01));
  CHECK(value_in(found, "unit_scaling", "fma") == doctest::Approx(1.0 / 1.01));
  CHECK(value_in(found, "doubling", "fma") == doctest::Approx(2.0 * 1.01 / 1.02));
  // The quartiles of the times for once the work.
  const Finding& doubling = *find_value(found.findings, "doubling", "fma");
  CHECK(*doubling.low == doctest::Approx(2.0 * 1.01 / 1.025));
  CHECK(*doubling.high == doctest::Approx(2.0 * 1.01 / 1.015));
  CHECK(found.warnings.empty());
}

TEST_CASE("compute: only operations of floating point have FLOP/s") {
  const Findings found = analyse(gpu_of_100(), usual("int-mad"));
  CHECK(value_in(found, "peak", "int-mad") == doctest::Approx(25.6e12 / 1.01));
  CHECK(find_finding(found.findings, "peak_flops") == nullptr);
}

TEST_CASE("compute: without an in-kernel clock of core cycles there are seconds alone") {
  DeviceInfo device = gpu_of_100();
  device.clock.rate = ClockRate::constant_rate;
  const Findings found = analyse(device, usual("fma"));
  CHECK(1e9 * value_in(found, "latency", "fma") == doctest::Approx(2.0));
  CHECK(find_finding(found.findings, "latency_cycles") == nullptr);
  CHECK(find_value(found.findings, "unit_rate")->unit == "operations_per_second");
  CHECK(value_in(found, "unit_rate", "fma") == doctest::Approx(256e9));
}

TEST_CASE("compute: the latency is that of the narrowest chain that runs alone") {
  std::vector<Point> points{of_unit("fma", 1, 1, 16 * 32 * 1000, 9000, 16),
                            of_unit("fma", 2, 1, 2 * 32 * 1000, 3000),
                            of_unit("fma", 1, 2, 2 * 32 * 1000, 3000)};
  CHECK(value_in(analyse(gpu_of_100(), points), "latency_cycles", "fma") == doctest::Approx(9.0));
  points.push_back(of_unit("fma", 1, 1, 32 * 1000, 4000));
  CHECK(value_in(analyse(gpu_of_100(), points), "latency_cycles", "fma") == doctest::Approx(4.0));
  points.erase(points.begin());
  points.pop_back();
  CHECK(find_finding(analyse(gpu_of_100(), points).findings, "latency") == nullptr);
}

TEST_CASE("compute: the peak is that of the fastest number of chains, by the longer launches") {
  std::vector<Point> points{of_device("fma", 1, 1'000'000, {1000, 1000}),
                            of_device("fma", 2, 2'000'000, {2000, 2000}),
                            of_device("fma", 1, 1'000'000, {540, 540}, 8),
                            of_device("fma", 2, 2'000'000, {1000, 1000}, 8)};
  Findings found = analyse(gpu_of_100(), points);
  CHECK(value_in(found, "peak", "fma") == doctest::Approx(2e12));
  CHECK(value_in(found, "doubling", "fma") == doctest::Approx(2.0 * 500 / 540).epsilon(0.001));
  points.pop_back();
  found = analyse(gpu_of_100(), points);
  CHECK(value_in(found, "peak", "fma") == doctest::Approx(1e12));
  CHECK(value_in(found, "doubling", "fma") == doctest::Approx(2.0));
}

TEST_CASE("compute: a barrier has a latency for one sub-group and for the most, and no rate") {
  // 1000 barriers of 32 lanes: 20 cycles for one sub-group, 64 for 32.
  const Findings found =
      analyse(gpu_of_100(), {{of_unit("barrier", 1, 1, 32 * 1000, 20'000),
                              of_unit("barrier", 1, 8, 8 * 32 * 1000, 40'000),
                              of_unit("barrier", 1, 32, 32 * 32 * 1000, 64'000)}});
  CHECK(value_in(found, "latency_cycles", "barrier") == doctest::Approx(20.0));
  CHECK(value_in(found, "group_latency_cycles", "barrier") == doctest::Approx(64.0));
  CHECK(find_value(found.findings, "group_latency", "barrier")->method == "32 sub-groups");
  CHECK(find_finding(found.findings, "unit_rate", "barrier") == nullptr);
  const ProbeResult result{.probe = "compute", .findings = found.findings};
  CHECK(card(result).rows.at(0).text == "20.0 cycles, 64.0 cycles (32 sub-groups)");
}

TEST_CASE("compute: a device that skips work has no peak") {
  const auto found_after = [](std::uint64_t twice_ns) {
    return analyse(
        gpu_of_100(),
        std::vector<Point>{of_device("sqrt", 1, 1'000'000, {1000, 1000, 1000}),
                           of_device("sqrt", 2, 2'000'000, {twice_ns, twice_ns, twice_ns})});
  };
  CHECK(find_value(found_after(1801).findings, "peak") != nullptr);
  const Findings skipped = found_after(1799);
  const Finding* const peak = find_finding(skipped.findings, "peak");
  REQUIRE(peak != nullptr);
  CHECK_FALSE(peak->value);
  CHECK(found_after(1100).findings.back().reason ==
        "not known: twice the work takes only 1.10 times as long, so the compiler may skip work; "
        "repeat on an idle device");
  CHECK(value_in(skipped, "doubling", "sqrt") == doctest::Approx(1.799));
  // Slopes between a launch and an eighth of it: 875 and 1750 operations.
  std::vector<Point> slopes;
  for (const int work : {1, 2}) {
    Point point = made_point("sqrt", {.scope = Scope::device, .work = work, .timer = Timer::host});
    const auto times = static_cast<std::uint64_t>(work);
    point.samples = {{.accesses = 1000 * times, .host_ns = 1000 + 100 * times},
                     {.accesses = 125 * times, .host_ns = 1000}};
    slopes.push_back(point);
  }
  slopes[1].samples[0].host_ns = 1100;
  CHECK(find_value(analyse(gpu_of_100(), slopes).findings, "peak") != nullptr);
}

TEST_CASE("compute: failed points and points of other versions do not count") {
  std::vector<Point> points = usual("fma");
  points[1].failure = "wrong result";
  points[2].parameters = {};
  const Findings found = analyse(gpu_of_100(), points);
  CHECK(value_in(found, "unit_rate", "fma") == doctest::Approx(8.0));
}

TEST_CASE("compute: other programs only slow a CPU down") {
  DeviceInfo device = gpu_of_100();
  device.type = DeviceType::cpu;
  const std::vector<Point> points{of_device("fma", 2, 1'000'000, {1000, 4000, 4000, 4000})};
  CHECK(value_in(analyse(device, points), "peak", "fma") == doctest::Approx(1e12));
  CHECK(value_in(analyse(gpu_of_100(), points), "peak", "fma") == doctest::Approx(0.25e12));
  // Often they slow long launches down more than short ones.
  const std::vector<Point> both{of_device("fma", 1, 500'000, {400}),
                                of_device("fma", 2, 1'000'000, {1000})};
  CHECK(value_in(analyse(device, both), "peak", "fma") == doctest::Approx(1.25e12));
  CHECK(value_in(analyse(gpu_of_100(), both), "peak", "fma") == doctest::Approx(1e12));
}

TEST_CASE("compute: the card has the first operation in full, and the peaks of other types") {
  ProbeResult result;
  for (const char* const series : {"fma", "double-fma", "add"}) {
    const Findings found = analyse(gpu_of_100(), usual(series));
    result.findings.insert(result.findings.end(), found.findings.begin(), found.findings.end());
  }
  Card shown = card(result);
  REQUIRE(shown.lines.size() == 1);
  CHECK(shown.lines[0].topic == "compute");
  CHECK(shown.lines[0].text ==
        "fma 50.7 TFLOP/s (128 per cycle and unit, 4.00 cycles); double-fma 50.7 TFLOP/s");
  REQUIRE(shown.rows.size() == 3);
  CHECK(shown.rows[2].topic == "add");
  CHECK(shown.rows[2].text == "25.3 Top/s (128 per cycle and unit, 4.00 cycles)");
  DeviceInfo device = gpu_of_100();
  device.clock.rate = ClockRate::constant_rate;
  result.findings = analyse(device, usual("add")).findings;
  CHECK(card(result).lines[0].text == "add 25.3 Top/s (256 Gop/s per unit, 2.00 ns)");
  result.findings = analyse(device, std::vector<Point>{usual("add")[0]}).findings;
  CHECK(card(result).lines[0].text == "add 16.0 Gop/s per unit, 2.00 ns");
  result.findings = {not_measured("peak", "fma", "a reason")};
  shown = card(result);
  CHECK(shown.lines.empty());
  CHECK(shown.unseen == std::vector<std::string>{"rates of arithmetic"});
  CHECK(card({}).unseen.empty());
}

}  // namespace clprobe::compute
