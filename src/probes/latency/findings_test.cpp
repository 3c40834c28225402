// SPDX-License-Identifier: Apache-2.0
// Which levels the probe `latency` finds, and what it says of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE("every finding is declared, in its unit") {
  std::vector<Point> points = measured(big_gpu(), {});
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);
  REQUIRE_FALSE(found.findings.empty());
  for (const Finding& each : found.findings) {
    CAPTURE(each.name);
    const auto spec = std::find_if(probe.findings.begin(), probe.findings.end(),
                                   [&](const FindingSpec& of) { return of.name == each.name; });
    REQUIRE(spec != probe.findings.end());
    CHECK(spec->unit == each.unit);
  }
}

TEST_CASE("a latency below one cycle of the device's clock is a warning") {
  const auto is_too_fast = [](const DeviceInfo& device, double ns) {
    std::vector<Point> points = measured(big_gpu(), {});
    take_samples(points, "global", {{ns, 0.0}});
    const Findings found = probe.analyse(device, points);
    return std::any_of(found.warnings.begin(), found.warnings.end(),
                       [](const Warning& each) { return each.code == "too_fast"; });
  };
  DeviceInfo device = big_gpu();  // has a cycle counter with 2 cycles per ns
  CHECK(is_too_fast(device, 0.48));
  CHECK_FALSE(is_too_fast(device, 0.52));
  device.clock.rate = ClockRate::constant_rate;
  CHECK(is_too_fast(device, 0.27));
  CHECK_FALSE(is_too_fast(device, 0.29));
  device.reported.set("max_clock_mhz", std::int64_t{800});
  CHECK(is_too_fast(device, 1.2));
  CHECK_FALSE(is_too_fast(device, 1.3));
  device.type = DeviceType::cpu;  // a CPU's driver may report the clock of an idle core
  CHECK(is_too_fast(device, 0.48));
  CHECK_FALSE(is_too_fast(device, 0.9));
}

TEST_CASE("a curve of three levels gives three of each finding") {
  std::vector<Point> points = measured(big_gpu(), {});
  for (Point& point : probe.refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", three_levels());
  // The chase with one node per page takes 16 ns at all sizes, so no step is due to translation.
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);

  const auto latencies = findings_of(found, "global", "latency");
  const auto cycles = findings_of(found, "global", "cycles");
  const auto capacities = findings_of(found, "global", "capacity");
  REQUIRE(latencies.size() == 3);
  REQUIRE(cycles.size() == 3);
  REQUIRE(capacities.size() == 3);
  const std::array ns{16.0, 140.0, 450.0};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(latencies[i].level == static_cast<int>(i) + 1);
    CHECK(latencies[i].unit == "seconds");
    CHECK(latencies[i].value.value_or(0) == doctest::Approx(ns[i] * 1e-9).scale(0).epsilon(0.05));
    CHECK(latencies[i].low <= latencies[i].value);
    CHECK(latencies[i].value <= latencies[i].high);
    CHECK(cycles[i].value.value_or(0) ==
          doctest::Approx(latencies[i].value.value_or(0) * 2e9).epsilon(1e-9));
    CHECK(cycles[i].unit == "cycles");
  }
  // The measured end of a cache is where 5 % of the accesses miss.
  constexpr std::array seen{192.0 * 1024 / 0.95, 32.0 * 1048576 / 0.95};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(capacities[i].low.value_or(0) <= seen[i]);
    CHECK(capacities[i].high.value_or(0) >= seen[i]);
    CHECK(capacities[i].value.value_or(0) == doctest::Approx(seen[i]).epsilon(0.03));
  }
  CHECK_FALSE(capacities[2].reason.empty());
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].label == "cache");
  CHECK(steps[1].label == "cache");
}

TEST_CASE("later probes know the capacities of levels, but not those of translations") {
  ProbeResult result{.probe = "latency"};
  for (const int level : {2, 1, 3, 4}) {
    Finding capacity;
    capacity.name = "capacity";
    capacity.series = "global";
    capacity.level = level;
    if (level < 4) capacity.value = 1e5 * level;
    result.findings.push_back(capacity);
  }
  Finding step;
  step.name = "step";
  step.series = "global";
  step.level = 3;
  step.label = "translation";
  result.findings.push_back(step);
  Known known{.levels = {{7, Bytes{7}}}};
  probe.learn(result, known);
  CHECK(known.last_cache.count == 200'000);
  CHECK(known.levels == std::vector<KnownLevel>{{1, Bytes{100'000}}, {2, Bytes{200'000}}});
  // The curve ends in a rise without a plateau, so a capacity without a step label does not become
  // `last_cache`.
  Finding beyond;
  beyond.name = "beyond";
  beyond.series = "global";
  result.findings.push_back(beyond);
  result.findings[4].level = 1;
  result.findings[4].label = "cache";
  known = {};
  probe.learn(result, known);
  CHECK(known.last_cache.count == 100'000);
  CHECK(known.levels.size() == 3);
}

TEST_CASE("a cache whose next level ends at twice its size is not said to be one for sure") {
  std::vector<Point> points = plan_of(big_gpu()).points;
  const auto halves =
      sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 64.0 * 1048576}, {450.0, 0.0}});
  take_samples(points, "global", halves);
  for (Point& point : probe.refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", halves);
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].label == "cache");
  CHECK(steps[0].reason.empty());
  CHECK(steps[1].label == "cache-or-far");
  CHECK(steps[1].reason.find("ends at about twice this size") != std::string::npos);
  CHECK(steps[2].label == "cache");
}

TEST_CASE("a curve that ends too early to exclude a far half says so") {
  Request request;
  const auto second_step = [&](Bytes most) {
    set_sizes(request, {{kibibytes(1), most, 0.0}});
    std::vector<Point> points = plan_of(big_gpu(), request).points;
    take_samples(points, "global",
                 sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 0.0}}));
    take_samples(points, "global-pages", {{16.0, 0.0}});
    const auto steps = findings_of(probe.analyse(big_gpu(), points), "global", "step");
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].label == "cache");
    return steps[1];
  };
  const Finding early = second_step(mebibytes(64));
  CHECK(early.label == "cache-or-far");
  CHECK(early.reason.find("was not measured up to twice this size") != std::string::npos);
  CHECK(second_step(mebibytes(128)).label == "cache");
}

TEST_CASE("where nothing was measured with one node per page, the step is unknown and says why") {
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), {}));
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].label == "unknown");
  CHECK(steps[0].reason.find("not measured") != std::string::npos);
}

TEST_CASE("there are no cycles where a tick is no cycle of the core") {
  const std::vector<Point> points = measured(big_gpu(), {});
  for (const ClockRate rate : {ClockRate::unknown, ClockRate::constant_rate}) {
    DeviceInfo device = big_gpu();
    device.clock.rate = rate;
    const Findings found = probe.analyse(device, points);
    CHECK(findings_of(found, "global", "latency").size() == 3);
    CHECK(findings_of(found, "global", "cycles").empty());
  }
  DeviceInfo device = big_gpu();
  device.timer = Timer::event;  // event times of a single sample length: no slope, hence no cycles
  CHECK(findings_of(probe.analyse(device, points), "global", "cycles").empty());
}

TEST_CASE("another tool's times are cycles as well where its clock is known") {
  const std::vector<Point> measured_points = measured(big_gpu(), {});
  const auto curve = latency_curve(measured_points, "global", big_gpu());
  std::vector<Point> points;
  points.reserve(curve.size());
  for (const auto& at : curve) {
    Point point;
    point.series = "global";
    point.parameters.set("working_set_bytes", static_cast<std::int64_t>(at.working_set_bytes));
    point.facts.set("imported_ns", at.latency);
    points.push_back(std::move(point));
  }
  DeviceInfo device;
  device.timer = Timer::imported;
  CHECK(findings_of(probe.analyse(device, points), "global", "cycles").empty());
  device.clock.rate = ClockRate::core_cycles;
  device.clock.ticks_per_ns = 2.0;
  const Findings found = probe.analyse(device, points);
  const auto times = findings_of(found, "global", "latency");
  const auto cycles = findings_of(found, "global", "cycles");
  REQUIRE(cycles.size() == times.size());
  REQUIRE(cycles.size() == 3);
  CHECK(*cycles[1].value == doctest::Approx(*times[1].value * 2e9));
}

std::vector<Finding> beyond_a_level(const std::function<double(double)>& time_of) {
  std::vector<Point> points = measured(big_gpu(), {});
  take_samples(points, "global", time_of);
  return findings_of(probe.analyse(big_gpu(), points), "global", "beyond");
}

TEST_CASE("a latency that rises on behind the last level is said to, and is no level") {
  constexpr double end = 64.0 * 1024 * 1024;
  const auto rising_to = [](double max_ns) {
    return [max_ns](double size) {
      const double last = std::log(static_cast<double>(gibibytes(1).count) / end);
      return size <= end ? 20.0 : 20.0 * std::pow(max_ns / 20.0, std::log(size / end) / last);
    };
  };
  const auto found = beyond_a_level(rising_to(320.0));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].level.has_value());
  CHECK(*found[0].value > 250e-9);
  CHECK(*found[0].value <= 320e-9);
  CHECK(found[0].high == found[0].value);
  CHECK(*found[0].low < 100e-9);
  CHECK(found[0].reason.find("no plateau beyond ") == 0);
  // The interval includes that of the largest size, even if its time is the only one.
  std::vector<Point> points = measured(big_gpu(), {});
  take_samples(points, "global", rising_to(320.0));
  for (Point& each : points) {
    const std::int64_t size = each.parameters.integer_or("working_set_bytes", 0);
    if (size < static_cast<std::int64_t>(gibibytes(1).count)) continue;
    for (std::size_t i = 1; i < each.samples.size(); ++i) {
      each.samples[i].ticks = 2 * each.samples[i].ticks.value_or(0);
    }
  }
  const auto scattered = findings_of(probe.analyse(big_gpu(), points), "global", "beyond");
  REQUIRE(scattered.size() == 1);
  CHECK(*scattered[0].high > 1.2 * *scattered[0].value);
  CHECK(beyond_a_level(rising_to(24.0)).empty());
  CHECK(beyond_a_level([](double) { return 20.0; }).empty());
}

TEST_CASE("behind a plateau that is memory there is nothing") {
  CHECK(findings_of(probe.analyse(big_gpu(), measured(big_gpu(), {})), "global", "beyond").empty());
}

TEST_CASE("too few points for a level have the value of the largest") {
  Request request;
  set_sizes(request, {{kibibytes(4), kibibytes(8), 2.0}});
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), request));
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].value.has_value());
  CHECK(found.findings[0].method == "at 8 KiB");
  CHECK(probe.analyse(big_gpu(), {}).findings.empty());
}

}  // namespace
}  // namespace clprobe::latency
