// SPDX-License-Identifier: Apache-2.0
#include "analysis/api/estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "clprobe/point_facts.hpp"

namespace clprobe {
namespace {

DeviceInfo device_with(Timer timer) {
  DeviceInfo device;
  device.timer = timer;
  device.clock = {.kind = ClockKind::nvidia,
                  .rate = ClockRate::core_cycles,
                  .overhead_ticks = 20,
                  .ticks_per_ns = 2.0};
  return device;
}

Sample ticked(std::uint64_t accesses, std::uint64_t ticks) {
  Sample sample;
  sample.accesses = accesses;
  sample.ticks = ticks;
  return sample;
}

/// A launch of 5000 ns and 3 ns for each access, `late_ns` behind.
Sample timed(std::uint64_t accesses, std::uint64_t late_ns, std::uint64_t visit = 0) {
  Sample sample;
  sample.accesses = accesses;
  sample.event_ns = 5000 + 3 * accesses + late_ns;
  sample.host_ns = 90000 + 3 * accesses + late_ns;
  sample.visit = visit;
  return sample;
}

Point point_with(std::vector<Sample> samples) {
  Point point;
  point.series = "global";
  point.parameters = {{"working_set_bytes", std::int64_t{4096}}};
  point.samples = std::move(samples);
  return point;
}

}  // namespace

TEST_CASE("a clock gives ticks less the empty pair") {
  const Point point = point_with({ticked(1000, 64020), ticked(1000, 64420), ticked(2000, 128020)});
  const auto result = estimate(point, device_with(Timer::clock));
  REQUIRE(result.has_value());
  CHECK(result->ns == doctest::Approx(32.0));
  CHECK(result->cycles == doctest::Approx(64.0));
  CHECK(result->ns_interval.low == result->ns);
  CHECK(result->ns_interval.high == doctest::Approx(32.0));
}

TEST_CASE("whole launches by events are told by their median, between the quartiles") {
  Point point = point_with({timed(1000, 0), timed(1000, 1000), timed(1000, 2000), timed(1000, 3000),
                            timed(1000, 40000)});
  point.parameters.set("timer", std::string("event"));
  const auto result = estimate(point, device_with(Timer::clock));
  REQUIRE(result.has_value());
  CHECK(result->ns == doctest::Approx(10.0));
  CHECK(result->ns_interval.low == doctest::Approx(9.0));
  CHECK(result->ns_interval.high == doctest::Approx(11.0));
  CHECK_FALSE(result->cycles.has_value());
}

TEST_CASE("cycles are only told where ticks are cycles of the core") {
  DeviceInfo device = device_with(Timer::clock);
  const Point point = point_with({ticked(1000, 64020)});
  for (const ClockRate rate : {ClockRate::unknown, ClockRate::constant_rate}) {
    device.clock.rate = rate;
    CHECK_FALSE(estimate(point, device)->cycles.has_value());
  }
}

TEST_CASE("a clock that was not calibrated, or no more ticks than the overhead, is no time") {
  DeviceInfo device = device_with(Timer::clock);
  CHECK_FALSE(estimate(point_with({ticked(1000, 20), ticked(0, 900)}), device).has_value());
  CHECK_FALSE(estimate(point_with({timed(1000, 0)}), device).has_value());
  device.clock.ticks_per_ns = 0.0;
  CHECK_FALSE(estimate(point_with({ticked(1000, 64020)}), device).has_value());
}

DeviceInfo cpu() {
  DeviceInfo device = device_with(Timer::clock);
  device.type = DeviceType::cpu;
  return device;
}

TEST_CASE("up to eight samples give their least, more of a CPU their least but one") {
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 8; ++i) samples.push_back(ticked(1, 20 + 2 * (10 + i)));
  const DeviceInfo device = cpu();
  CHECK(estimate(point_with(samples), device)->ns == 10.0);
  CHECK(estimate(point_with(samples), device)->ns_interval.high == 13.5);
  samples.push_back(ticked(1, 20 + 2 * 18));
  CHECK(estimate(point_with(samples), device)->ns == 11.0);
  CHECK(estimate(point_with(samples), device)->ns_interval.low == 11.0);
  CHECK(estimate(point_with(samples), device)->ns_interval.high == 14.0);
  CHECK_FALSE(estimate(point_with(samples), device)->holds_visits);
}

TEST_CASE("more than eight samples of a GPU give their lower quartile") {
  // Two of ten chases through 34 MiB of an H200 that found all in the near half of its cache.
  Point point = point_with({});
  for (const std::uint64_t ticks : {679U, 681U, 676U, 680U, 522U, 673U, 676U, 522U, 677U, 677U}) {
    point.samples.push_back(ticked(1, 20 + ticks));
    point.samples.back().visit = point.samples.size() / 3;
  }
  DeviceInfo device = device_with(Timer::clock);
  device.type = DeviceType::gpu;
  CHECK(estimate(point, device)->ns == doctest::Approx(337.0).epsilon(0.005));
  CHECK_FALSE(estimate(point, device)->holds_visits);
  CHECK(estimate(point, cpu())->ns == 261.0);
}

/// Visits of three samples, of which the best takes so many ticks beyond the overhead.
Point visited(const std::vector<std::uint64_t>& best) {
  Point point = point_with({});
  for (std::size_t visit = 0; visit < best.size(); ++visit) {
    for (const std::uint64_t more : {0U, 1U, 900U}) {
      point.samples.push_back(ticked(1, 20 + best[visit] + more));
      point.samples.back().visit = visit;
    }
  }
  return point;
}

TEST_CASE("of many visits the interval is of how far the best ones are from each other") {
  const auto apart = [](const std::vector<std::uint64_t>& best) {
    const auto found = estimate(visited(best), cpu());
    CHECK(found->holds_visits);
    CHECK(found->ns * found->ns / found->ns_interval.low ==
          doctest::Approx(found->ns_interval.high));
    return found->ns_interval.high / found->ns;
  };
  CHECK(apart({10000, 10100, 20000, 30000}) == doctest::Approx(std::pow(1.01, 6.0)));
  CHECK(apart({20000, 10200, 10000, 30000}) == doctest::Approx(std::pow(1.02, 6.0)));
  CHECK(apart({10000, 11000, 11000, 30000}) == doctest::Approx(std::pow(1.1, 2.0)));
  CHECK(apart({10000, 11000, 11100, 11100, 90000}) == doctest::Approx(1.11));
  CHECK(apart({10000, 10000, 10000}) == doctest::Approx(1.0));
  // Eight samples say what they have said before.
  Point few = visited({10000, 10100, 20000});
  few.samples.pop_back();
  CHECK_FALSE(estimate(few, cpu())->holds_visits);
}

TEST_CASE("whole launches can be asked for what their best visits say, of whatever device") {
  Point point = visited({10000, 10100, 20000});
  const double by_clock = estimate(point, cpu())->ns_interval.high / estimate(point, cpu())->ns;
  for (Sample& sample : point.samples) {
    sample.event_ns = *sample.ticks - 20;
    sample.ticks.reset();
  }
  point.parameters.set("timer", std::string("event"));
  DeviceInfo device = cpu();
  for (const DeviceType type : {DeviceType::cpu, DeviceType::gpu}) {
    device.type = type;
    const auto best = estimate_of_best(point, device);
    CHECK(best->ns == 10001.0);
    CHECK(best->holds_visits);
    CHECK(best->ns_interval.high / best->ns == doctest::Approx(by_clock));
    CHECK(estimate(point, device)->ns == 10900.0);
  }
  point.samples.pop_back();
  CHECK(estimate_of_best(point, device)->ns == 10000.0);
  CHECK_FALSE(estimate_of_best(point, device)->holds_visits);
  point.samples.clear();
  CHECK_FALSE(estimate_of_best(point, device).has_value());
}

TEST_CASE("intervals of the best visit hold that of another run, of noise that only adds") {
  constexpr int pairs = 1000;
  std::mt19937_64 random(7);
  std::exponential_distribution<double> exponential(1.0);
  for (const double shape : {1.0, 2.0}) {
    for (const int visits : {3, 5, 7, 12}) {
      CAPTURE(shape);
      CAPTURE(visits);
      const auto run = [&] {
        std::vector<std::uint64_t> best;
        for (int i = 0; i < visits; ++i) {
          const double noise = std::pow(exponential(random), 1.0 / shape);
          best.push_back(static_cast<std::uint64_t>(1e7 * (1.0 + 0.1 * noise)));
        }
        return estimate(visited(best), cpu()).value();
      };
      int held = 0;
      for (int i = 0; i < pairs; ++i) {
        const Estimate a = run();
        const Estimate b = run();
        const double far =
            std::hypot(std::log(a.ns_interval.high / a.ns), std::log(b.ns_interval.high / b.ns));
        if (std::fabs(std::log(a.ns / b.ns)) <= far) ++held;
      }
      CHECK(held >= 0.915 * pairs);
    }
  }
}

TEST_CASE("whole launches give the slope, which the launch's own time does not move") {
  const Point point = point_with({timed(1000, 700, 0), timed(8000, 0, 0), timed(1000, 0, 1),
                                  timed(8000, 2100, 1), timed(8000, 0, 2), timed(1000, 90, 2)});
  for (const Timer timer : {Timer::event, Timer::host}) {
    const DeviceInfo device = device_with(timer);
    const auto result = estimate(point, device);
    REQUIRE(result.has_value());
    CHECK(result->ns == doctest::Approx(3.0));
    CHECK_FALSE(result->cycles.has_value());
    CHECK(access_times_ns(point, device).size() == 3);
    CHECK(access_times_ns(point, device)[1] == doctest::Approx(3.3));
  }
}

TEST_CASE("a late short launch never makes an access look faster") {
  const Point point =
      point_with({timed(1000, 20000), timed(8000, 0), timed(1000, 0), timed(8000, 0)});
  CHECK(estimate(point, device_with(Timer::event))->ns == doctest::Approx(3.0));
}

TEST_CASE("the longest lever counts") {
  const Point point = point_with({timed(1000, 0), timed(1100, 60), timed(8000, 0)});
  CHECK(access_times_ns(point, device_with(Timer::event)) == std::vector<double>{3.0});
  const Point close = point_with({timed(1000, 0), timed(1100, 0)});
  CHECK(access_times_ns(close, device_with(Timer::event)) == std::vector<double>{3.0});
}

TEST_CASE("samples of one length have no slope") {
  CHECK_FALSE(estimate(point_with({timed(1000, 0), timed(1000, 5)}), device_with(Timer::host)));
  CHECK_FALSE(estimate(point_with({}), device_with(Timer::host)));
  Sample without_event = timed(8000, 0);
  without_event.event_ns.reset();
  CHECK_FALSE(estimate(point_with({timed(1000, 0), without_event}), device_with(Timer::event)));
}

TEST_CASE("the order of the samples does not matter") {
  std::vector<Sample> samples{timed(1000, 3), timed(8000, 70), timed(1000, 0), timed(8000, 14)};
  const auto forward = estimate(point_with(samples), device_with(Timer::event));
  std::reverse(samples.begin(), samples.end());
  const auto backward = estimate(point_with(samples), device_with(Timer::event));
  CHECK(forward->ns == backward->ns);
  CHECK(forward->ns_interval == backward->ns_interval);
}

TEST_CASE("a point whose samples vary in both directions gives their median, in cycles as well") {
  Point point = point_with({ticked(1000, 64020), ticked(1000, 80020), ticked(1000, 100020)});
  CHECK(estimate(point, device_with(Timer::clock))->ns == doctest::Approx(32.0));
  point.facts.set(by_median, std::int64_t{1});
  const auto result = estimate(point, device_with(Timer::clock));
  CHECK(result->ns == doctest::Approx(40.0));
  CHECK(result->ns_interval.low == doctest::Approx(36.0));
  CHECK(result->cycles == doctest::Approx(80.0));
}

TEST_CASE("a curve has the measured points of its series, by working set") {
  Point large = point_with({ticked(1, 220)});
  large.parameters.set("working_set_bytes", std::int64_t{1} << 33);
  Point small = point_with({ticked(1, 84)});
  Point other = small;
  other.series = "image";
  Point failed = small;
  failed.samples.clear();
  Point nameless = small;
  nameless.parameters = {};
  // What was measured before it failed is in the file, and is trusted no more.
  Point broken = small;
  broken.parameters.set("working_set_bytes", std::int64_t{8192});
  broken.failure = "lost at the third visit";
  const std::vector<Point> points{large, other, failed, nameless, broken, small};
  const auto curve = latency_curve(points, "global", cpu());
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].working_set_bytes == 4096.0);
  CHECK(curve[0].latency == 32.0);
  CHECK(curve[1].working_set_bytes == 8589934592.0);
  CHECK(curve[1].latency == 100.0);
}

}  // namespace clprobe
