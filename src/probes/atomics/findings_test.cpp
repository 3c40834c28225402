// SPDX-License-Identifier: Apache-2.0
// Checks findings and card of hand-made results of a device whose numbers are known.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/atomics/atomics.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::atomics {
namespace {

// A GPU at 2 GHz.
DeviceInfo gpu_of_2_ghz() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 100;
  device.cache_line = Bytes{128};
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

DeviceInfo with_constant_clock() {
  DeviceInfo device = gpu_of_2_ghz();
  device.clock.rate = ClockRate::constant_rate;
  return device;
}

Point made_point(std::string_view series, const Shape& shape) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  return point;
}

/// A block with two visits of 1000 operations of so many cycles.
Point block_of(std::uint64_t number, std::uint64_t cycles, std::string_view series = "latency") {
  Point point = made_point(series, {.offset_bytes = number * block_bytes});
  for (std::uint64_t visit = 0; visit < 2; ++visit) {
    point.samples.push_back({.accesses = 1000, .ticks = 1000 * cycles, .visit = visit});
  }
  return point;
}

/// A rate of the device in operations per microsecond.
Point rate_of(std::string_view series, std::uint64_t addresses, std::uint64_t operations,
              std::uint64_t spacing_bytes = 4) {
  Point point = made_point(series, {.scope = Scope::device,
                                    .addresses = addresses,
                                    .spacing_bytes = spacing_bytes,
                                    .work_items = 4096});
  for (std::uint64_t visit = 0; visit < 2; ++visit) {
    point.samples.push_back({.accesses = operations, .event_ns = 1000, .visit = visit});
  }
  return point;
}

/// A rate of one compute unit in operations per 100 cycles.
Point unit_rate_of(std::string_view series, std::uint64_t words, std::uint64_t work_items,
                   std::uint64_t operations) {
  Point point =
      made_point(series, {.scope = Scope::unit, .addresses = words, .work_items = work_items});
  for (std::uint64_t visit = 0; visit < 2; ++visit) {
    point.samples.push_back({.accesses = 1000 * operations, .ticks = 100'000, .visit = visit});
  }
  return point;
}

/// 32 blocks, of which every second one is far.
std::vector<Point> near_and_far() {
  std::vector<Point> points;
  for (std::uint64_t i = 0; i < 32; ++i) {
    points.push_back(block_of(i, i % 2 == 0 ? 280 + i % 4 : 520 + i % 8));
  }
  return points;
}

double value_of(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find_value(found.findings, name, series);
  return finding == nullptr ? -1.0 : *finding->value;
}

std::vector<double> values(int near, int far, double far_value, double step) {
  std::vector<double> all;
  for (int i = 0; i < near; ++i) all.push_back(100.0 + step * (i % 5));
  for (int i = 0; i < far; ++i) all.push_back(far_value + step * (i % 5));
  return all;
}

}  // namespace

TEST_CASE("atomics: blocks have two modes if a wide gap leaves a tenth on each side") {
  CHECK(find_modes(values(16, 16, 150.0, 1.0)).has_value());
  CHECK(find_modes(values(16, 16, 150.0, 1.0))->near.size() == 16);
  CHECK_FALSE(find_modes(values(32, 0, 0.0, 1.0)));
  CHECK_FALSE(find_modes({}));
  CHECK_FALSE(find_modes(values(4, 5, 200.0, 0.0)));
  CHECK(find_modes(values(5, 5, 200.0, 0.0)).has_value());
  // A tenth of 30 blocks are 3.
  CHECK(find_modes(values(27, 3, 150.0, 1.0)).has_value());
  CHECK_FALSE(find_modes(values(28, 2, 150.0, 1.0)));
  CHECK(find_modes(values(3, 27, 150.0, 1.0)).has_value());
  CHECK_FALSE(find_modes(values(2, 28, 150.0, 1.0)));
  // The gap is 10 % of the near side's last value.
  CHECK(find_modes(values(16, 16, 110.1, 0.0)).has_value());
  CHECK_FALSE(find_modes(values(16, 16, 109.9, 0.0)));
  // Values 100, 110, ..., 140: their standard deviation is 14.8 by the median of the deviations.
  CHECK_FALSE(find_modes(values(16, 16, 140.0 + 44.0, 10.0)));
  CHECK(find_modes(values(16, 16, 140.0 + 45.0, 10.0)).has_value());
}

TEST_CASE("atomics: near and far latency, or one latency") {
  const Findings found = analyse(gpu_of_2_ghz(), near_and_far());
  CHECK(value_of(found, "near_latency_cycles", "latency") == doctest::Approx(281.0));
  CHECK(value_of(found, "far_latency_cycles", "latency") == doctest::Approx(524.0));
  CHECK(1e9 * value_of(found, "near_latency", "latency") == doctest::Approx(140.5));
  CHECK(find_value(found.findings, "near_latency")->method == "16 of 32 blocks");
  CHECK(find_finding(found.findings, "latency") == nullptr);
  std::vector<Point> near;
  for (std::uint64_t i = 0; i < 32; ++i) near.push_back(block_of(i, 280 + i % 4));
  const Findings one = analyse(gpu_of_2_ghz(), near);
  CHECK(value_of(one, "latency_cycles", "latency") == doctest::Approx(281.5));
  CHECK(find_finding(one.findings, "near_latency") == nullptr);
  CHECK(find_finding(analyse(with_constant_clock(), near).findings, "latency_cycles") == nullptr);
  // A CPU's blocks are in one core's cache, so that only noise makes modes.
  DeviceInfo cpu = with_constant_clock();
  cpu.type = DeviceType::cpu;
  CHECK(find_finding(analyse(cpu, near_and_far()).findings, "near_latency") == nullptr);
  const std::vector<Point> local{block_of(0, 60, "local-latency")};
  CHECK(value_of(analyse(gpu_of_2_ghz(), local), "latency_cycles", "local-latency") ==
        doctest::Approx(60.0));
}

TEST_CASE("atomics: rates on one address, within a line and spread") {
  const std::vector<Point> points{rate_of("add", 1, 1000), rate_of("add", 32, 8000),
                                  rate_of("add", 1024, 90'000), rate_of("add", 4096, 89'000)};
  const Findings found = analyse(gpu_of_2_ghz(), points);
  CHECK(value_of(found, "one_address_rate", "add") == doctest::Approx(1e9));
  CHECK(value_of(found, "one_line_rate", "add") == doctest::Approx(8e9));
  CHECK(value_of(found, "spread_rate", "add") == doctest::Approx(90e9));
  CHECK(find_value(found.findings, "spread_rate")->method == "1024 addresses");
  // Words in lines of their own are never in one line, and one address has no lines.
  const std::vector<Point> lines{rate_of("add-lines", 1, 1000, 128),
                                 rate_of("add-lines", 32, 8000, 128)};
  const Findings apart = analyse(gpu_of_2_ghz(), lines);
  CHECK(find_finding(apart.findings, "one_address_rate") == nullptr);
  CHECK(find_finding(apart.findings, "one_line_rate") == nullptr);
  CHECK(value_of(apart, "spread_rate", "add-lines") == doctest::Approx(8e9));
  const std::vector<Point> alone{rate_of("max", 1, 1000)};
  CHECK(find_finding(analyse(gpu_of_2_ghz(), alone).findings, "spread_rate") == nullptr);
}

TEST_CASE("atomics: addresses from which on the rate is at least half") {
  std::vector<Point> points{rate_of("add", 1, 1000), rate_of("add", 4, 4000),
                            rate_of("add", 16, 16'000), rate_of("add", 64, 20'000)};
  const auto half = [](const std::vector<Point>& all) {
    return *find_finding(analyse(gpu_of_2_ghz(), all).findings, "half_rate_addresses");
  };
  CHECK(*half(points).value == doctest::Approx(10.0));
  CHECK(*half(points).low == doctest::Approx(4.0));
  CHECK(*half(points).high == doctest::Approx(16.0));
  // A device that combines operations is fast on one address, but not on a few.
  points[0] = rate_of("add", 1, 15'000);
  CHECK(*half(points).value == doctest::Approx(10.0));
  points[1] = rate_of("add", 4, 15'000);
  CHECK(*half(points).value == doctest::Approx(1.0));
  CHECK(*half(points).high == doctest::Approx(1.0));
  // The rate falls to less than half at the end.
  points.push_back(rate_of("add", 256, 9000));
  CHECK(find_finding(analyse(gpu_of_2_ghz(), points).findings, "half_rate_addresses") == nullptr);
}

TEST_CASE("atomics: additions without results that are faster on one address are combined") {
  const auto found = [](std::uint64_t unused, DeviceType type) {
    DeviceInfo device = gpu_of_2_ghz();
    device.type = type;
    return analyse(device,
                   std::vector<Point>{rate_of("add", 1, 1000), rate_of("add-unused", 1, unused)});
  };
  const Findings combined = found(1500, DeviceType::gpu);
  CHECK(value_of(combined, "combining", "add-unused") == doctest::Approx(1.5));
  CHECK(find_finding(combined.findings, "combining")->label == "combined");
  CHECK(find_finding(found(1490, DeviceType::gpu).findings, "combining")->label.empty());
  CHECK(find_finding(found(1500, DeviceType::cpu).findings, "combining") == nullptr);
}

TEST_CASE("atomics: rates of a compute unit in local memory") {
  const std::vector<Point> points{unit_rate_of("local-add", 1, 256, 100),
                                  unit_rate_of("local-add", 256, 256, 1600)};
  const Findings found = analyse(gpu_of_2_ghz(), points);
  CHECK(value_of(found, "unit_one_address_rate", "local-add") == doctest::Approx(1.0));
  CHECK(value_of(found, "unit_rate", "local-add") == doctest::Approx(16.0));
  CHECK(find_value(found.findings, "unit_rate")->unit == "operations_per_cycle");
  CHECK(find_value(found.findings, "unit_rate")->method == "256 work-items on 256 words");
  const Findings timed = analyse(with_constant_clock(), points);
  CHECK(value_of(timed, "unit_rate", "local-add") == doctest::Approx(32e9));
  const std::vector<Point> alone{unit_rate_of("local-add", 1, 1, 100)};
  const Findings cpu = analyse(gpu_of_2_ghz(), alone);
  CHECK(value_of(cpu, "unit_rate", "local-add") == doctest::Approx(1.0));
  CHECK(find_finding(cpu.findings, "unit_one_address_rate") == nullptr);
}

TEST_CASE("atomics: failed points and points of other versions do not count") {
  std::vector<Point> points{rate_of("add", 1, 1000), rate_of("add", 16, 9000),
                            rate_of("add", 64, 8000)};
  points[1].failure = "wrong result";
  points[2].parameters = {};
  const Findings found = analyse(gpu_of_2_ghz(), points);
  CHECK(find_finding(found.findings, "spread_rate") == nullptr);
  CHECK(value_of(found, "one_address_rate", "add") == doctest::Approx(1e9));
}

TEST_CASE("atomics: the card has latency, rate on one address and spread rate of additions") {
  std::vector<Point> points = near_and_far();
  for (const Point& each :
       {rate_of("add", 1, 1360), rate_of("add", 4096, 73'000), rate_of("add-lines", 1, 1360, 128),
        rate_of("add-lines", 4096, 98'000, 128), unit_rate_of("local-add", 1, 256, 100),
        unit_rate_of("local-add", 256, 256, 1600)}) {
    points.push_back(each);
  }
  ProbeResult result;
  result.findings = analyse(gpu_of_2_ghz(), points).findings;
  Card shown = card(result);
  REQUIRE(shown.lines.size() == 1);
  CHECK(shown.lines[0].topic == "atomics");
  CHECK(shown.lines[0].text ==
        "add 281 / 524 cycles near / far, 1.36 Gop/s on one address, 73.0 Gop/s spread");
  REQUIRE(shown.rows.size() == 4);
  CHECK(shown.rows[1].text == "1.36 Gop/s on one address, 73.0 Gop/s spread");
  CHECK(shown.rows[3].text == "1.00 per cycle on one address, 16.0 per cycle per unit");
  result.findings = analyse(with_constant_clock(), points).findings;
  CHECK(card(result).lines[0].text.starts_with("add 140 ns / 262 ns near / far, 1.36 Gop/s"));
  result.findings = analyse(with_constant_clock(), std::vector<Point>{block_of(0, 40)}).findings;
  CHECK(card(result).lines[0].text == "add 20.0 ns");
  result.findings = {not_measured("latency", "latency", "a reason")};
  shown = card(result);
  CHECK(shown.lines.empty());
  CHECK(shown.unseen == std::vector<std::string>{"atomic operations"});
  CHECK(card({}).unseen.empty());
}

}  // namespace clprobe::atomics
