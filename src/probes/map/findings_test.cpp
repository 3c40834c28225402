// SPDX-License-Identifier: Apache-2.0
// Findings of the probe `map`, from hand-made points.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"
#include "probes/map/map.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::map {
namespace {

DeviceInfo gpu_at_1_ghz() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  return device;
}

/// A device with two halves: compute units with an even `unit / 2` are in the first half.
struct Halves {
  std::uint64_t near{280};
  std::uint64_t far{480};
  std::uint64_t any_ns{100};  ///< time of the gather; near blocks take 80 ns

  [[nodiscard]] std::uint64_t cycles_of(const UnitShape& shape) const {
    const bool is_near = shape.unit / 2 % 2 == shape.part;
    return (is_near ? near : far) + shape.unit % 7;
  }
};

void add_sample(Point& point, std::uint64_t ns) {
  constexpr std::uint64_t accesses = 1000;
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample;
    sample.accesses = accesses;
    sample.ticks = accesses * ns;
    sample.event_ns = accesses * ns;
    sample.host_ns = accesses * ns;
    sample.visit = visit;
    point.samples.push_back(sample);
  }
}

std::vector<Point> measured(const Halves& halves) {
  constexpr std::uint64_t near_ns = 80;
  constexpr std::uint64_t hand_over_ns = 500;
  std::vector<Point> points = probe.plan(gpu_at_1_ghz(), {}).points;
  for (Point& point : points) {
    if (point.series == gather_series) {
      const Order order = shape_of<GatherShape>(point).order;
      add_sample(point, order == Order::near  ? near_ns
                        : order == Order::far ? 2 * near_ns
                                              : halves.any_ns);
    } else if (point.series == hand_over_series) {
      add_sample(point, hand_over_ns + shape_of<HandOverShape>(point).second);
    } else {
      add_sample(point, halves.cycles_of(shape_of<UnitShape>(point)));
      point.facts.set("near_blocks", std::int64_t{4100});
      point.facts.set("unit_is_read", std::int64_t{1});
    }
  }
  return points;
}

double value_in(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find_value(found.findings, name, series);
  REQUIRE(finding != nullptr);
  CHECK(*finding->low <= *finding->value);
  CHECK(*finding->value <= *finding->high);
  return *finding->value;
}

std::string label_of(const Findings& found, std::string_view name) {
  const Finding* const finding = find_finding(found.findings, name);
  REQUIRE(finding != nullptr);
  return finding->label;
}

void fail_all(std::vector<Point>& points, std::string_view series, const std::string& why) {
  for (Point& point : points) {
    if (point.series != series) continue;
    point.samples.clear();
    point.failure = why;
  }
}

}  // namespace

TEST_CASE("two halves of a cache have near and far latencies, compute units and blocks") {
  const Findings found = analyse(gpu_at_1_ghz(), measured({}));
  for (const std::string_view series : {atomic_series, load_series}) {
    CHECK(value_in(found, "near_latency_cycles", series) == doctest::Approx(283).epsilon(0.01));
    CHECK(value_in(found, "far_latency", series) ==
          doctest::Approx(483.0 / ns_per_second).epsilon(0.01));
    CHECK(find_finding(found.findings, "latency", series) == nullptr);
  }
  CHECK(value_in(found, "first_half_units", atomic_series) == 66);
  CHECK(value_in(found, "second_half_units", atomic_series) == 66);
  const Finding* const first = find_value(found.findings, "first_half_units");
  CHECK(first->method.starts_with("units 0-1, 4-5, 8-9"));
  CHECK(value_in(found, "near_share", atomic_series) == doctest::Approx(4100.0 / 8192));
  CHECK(find_finding(found.findings, "first_half_units", load_series) == nullptr);
}

TEST_CASE("a compute unit without both latencies is in no half") {
  std::vector<Point> points = measured({});
  points.front().failure = "no work-group ran on compute unit 0";
  const Findings found = analyse(gpu_at_1_ghz(), points);
  CHECK(value_in(found, "first_half_units", atomic_series) == 65);
}

TEST_CASE("the gain decides on the advice") {
  const Findings faster = analyse(gpu_at_1_ghz(), measured({}));
  CHECK(value_in(faster, "gain", gather_series) == doctest::Approx(1.25));
  CHECK(value_in(faster, "far_cost", gather_series) == doctest::Approx(2.0));
  CHECK(label_of(faster, "gain") == "near is faster");
  CHECK(label_of(faster, "advice").find("1.25 times") != std::string::npos);
  const Findings equal = analyse(gpu_at_1_ghz(), measured({.any_ns = 82}));
  CHECK(label_of(equal, "gain") == "no difference");
  CHECK(label_of(equal, "advice").find("makes no difference here") != std::string::npos);
}

TEST_CASE("without halves, the order of blocks makes no difference") {
  std::vector<Point> points = measured({.near = 280, .far = 300});
  fail_all(points, gather_series, "all compute units reach all blocks alike");
  const Findings found = analyse(gpu_at_1_ghz(), points);
  CHECK(value_in(found, "latency_cycles", atomic_series) == doctest::Approx(293).epsilon(0.02));
  CHECK(find_finding(found.findings, "first_half_units") == nullptr);
  CHECK(find_finding(found.findings, "gain") == nullptr);
  CHECK(label_of(found, "advice").find("makes no difference here") != std::string::npos);
}

TEST_CASE("hand-overs have a latency, or the reason why not") {
  std::vector<Point> points = measured({});
  CHECK(value_in(analyse(gpu_at_1_ghz(), points), "hand_over_latency", hand_over_series) ==
        doctest::Approx(560.0 / ns_per_second).epsilon(0.1));
  fail_all(points, hand_over_series, "the two work-groups did not run at the same time");
  const Findings found = analyse(gpu_at_1_ghz(), points);
  const Finding* const none = find_finding(found.findings, "hand_over_latency");
  REQUIRE(none != nullptr);
  CHECK_FALSE(none->value.has_value());
  CHECK(none->reason == "the two work-groups did not run at the same time");
}

TEST_CASE("a run without points has no findings") {
  CHECK(analyse(gpu_at_1_ghz(), {}).findings.empty());
}

TEST_CASE("latencies split only if both sides are clear") {
  const auto split = [](std::vector<double> latencies) {
    return find_split(std::move(latencies)).has_value();
  };
  CHECK(split({280, 480, 281, 482}));
  CHECK_FALSE(split({280, 480, 281}));       // too few
  CHECK_FALSE(split({280, 281, 282, 480}));  // one far latency
  CHECK_FALSE(split({280, 281, 340, 341}));  // too close
  CHECK(split({280, 281, 351, 352}));
  CHECK_FALSE(split({100, 125, 150, 175, 200, 225, 250}));  // no two groups
  const auto sides = find_split({280, 480, 281, 482, 483});
  REQUIRE(sides.has_value());
  CHECK(sides->near == std::vector<double>{280, 281});
  CHECK(sides->far == std::vector<double>{480, 482, 483});
}

TEST_CASE("the card gives distances, halves, gain and hand-over") {
  const DeviceInfo device = gpu_at_1_ghz();
  ProbeResult result;
  result.findings = analyse(device, measured({})).findings;
  const Card shown = card(result);
  REQUIRE(shown.lines.size() == 1);
  CHECK(
      shown.lines.front().text.find("near / far; halves of 66 + 66 units; near blocks gain 1.25x; "
                                    "hand-over") != std::string::npos);
  CHECK(shown.rows.size() == 3);
  result.findings = {not_measured("latency", atomic_series, "the device has one compute unit")};
  CHECK(card(result).lines.empty());
  CHECK(card(result).unseen.size() == 1);
}

}  // namespace clprobe::map
