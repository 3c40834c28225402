// SPDX-License-Identifier: Apache-2.0
// Loads in flight from throughput and latency, on machines whose truth is known.
#include "probes/inflight/saturation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace clprobe::inflight {
namespace {

/// Returns a throughput curve of a closed loop. The rate is limited by the latency, by `capacity`
/// loads in flight and by a port that serves `port` loads per unit of time.
ThroughputCurve closed_loop(double latency, double capacity, double port) {
  ThroughputCurve curve;
  curve.latency = latency;
  for (double asked = 1.0; asked <= 4096.0; asked *= 2.0) {
    curve.points.push_back({asked, std::min({asked / latency, capacity / latency, port})});
  }
  return curve;
}

TEST_CASE("A capacity is the same number of loads at two latencies") {
  const auto near = fit_saturation(closed_loop(280.0, 300.0, 4.0));
  const auto far = fit_saturation(closed_loop(690.0, 300.0, 4.0));
  REQUIRE(near);
  REQUIRE(far);
  CHECK(near->is_reached);
  CHECK(near->knee == doctest::Approx(300.0).epsilon(0.02));
  CHECK(far->knee == doctest::Approx(300.0).epsilon(0.02));
  const TwoLatencyTest test = compare_latencies(*near, *far);
  CHECK(test.limit == ThroughputLimit::capacity);
  REQUIRE(test.capacity);
  CHECK(*test.capacity == doctest::Approx(300.0).epsilon(0.02));
  CHECK(test.capacity_interval->low <= 300.0);
  CHECK(test.capacity_interval->high >= 300.0);
}

TEST_CASE("A port is the same rate at two latencies, and bounds the capacity from below") {
  const auto near = fit_saturation(closed_loop(280.0, 2000.0, 0.9));
  const auto far = fit_saturation(closed_loop(690.0, 2000.0, 0.9));
  const TwoLatencyTest test = compare_latencies(*near, *far);
  CHECK(test.limit == ThroughputLimit::port);
  CHECK_FALSE(test.capacity);
  CHECK(test.min_capacity_interval.low <= 2000.0);
  CHECK(test.min_capacity_interval.low >= 0.95 * 0.9 * 690.0);
}

TEST_CASE("A port near and a capacity far are different limits") {
  const auto near = fit_saturation(closed_loop(100.0, 400.0, 2.0));
  const auto far = fit_saturation(closed_loop(1000.0, 400.0, 2.0));
  const TwoLatencyTest test = compare_latencies(*near, *far);
  CHECK(test.limit == ThroughputLimit::different);
  CHECK(test.min_capacity_interval.low <= 400.0);
  CHECK(test.min_capacity_interval.low >= 380.0);
}

TEST_CASE("What does not saturate is a lower bound, and says so") {
  ThroughputCurve curve = closed_loop(500.0, 1e6, 1e6);
  const auto found = fit_saturation(curve);
  REQUIRE(found);
  CHECK_FALSE(found->is_reached);
  CHECK(found->knee == doctest::Approx(4096.0));
  CHECK_FALSE(found->reason.empty());
  const auto near = fit_saturation(closed_loop(100.0, 300.0, 4.0));
  const TwoLatencyTest test = compare_latencies(*near, *found);
  CHECK(test.limit == ThroughputLimit::unknown);
  CHECK(test.reason == found->reason);
  CHECK(test.min_capacity_interval.low == doctest::Approx(4096.0));
}

TEST_CASE("A knee is reached where half as many loads again no longer serve more") {
  // Throughput curve of 300 loads in flight and a latency of 100 cycles, with exponent 6. `last`
  // is the largest number of concurrent loads.
  const auto followed_to = [](double last) {
    ThroughputCurve curve;
    curve.latency = 100.0;
    for (const double asked : {1.0, 4.0, 16.0, 64.0, 128.0, 200.0, 256.0, 320.0, last}) {
      curve.points.push_back(
          {asked, std::pow(std::pow(100.0 / asked, 6.0) + std::pow(1.0 / 3.0, 6.0), -1.0 / 6.0)});
    }
    return fit_saturation(curve);
  };
  const auto seen = followed_to(400.0);
  REQUIRE(seen);
  CHECK_FALSE(seen->is_reached);
  CHECK(seen->knee <= 300.0);  // lower bound
  const auto reached = followed_to(500.0);
  REQUIRE(reached);
  CHECK(reached->is_reached);
  CHECK(reached->knee == doctest::Approx(300.0).epsilon(0.01));
}

TEST_CASE("Latencies that are alike prove nothing") {
  const auto near = fit_saturation(closed_loop(280.0, 300.0, 4.0));
  const auto far = fit_saturation(closed_loop(300.0, 300.0, 4.0));
  CHECK(compare_latencies(*near, *far).limit == ThroughputLimit::unknown);
}

/// Returns a fit that reached its knee. The intervals of knee and rate extend from the value
/// divided by `aside` to the value times `aside`.
Saturation saturated(double latency, double knee, double aside) {
  Saturation found;
  found.latency = latency;
  found.knee = knee;
  found.knee_interval = {knee / aside, knee * aside};
  found.max_rate = knee / latency;
  found.max_rate_interval = {found.max_rate / aside, found.max_rate * aside};
  found.is_reached = true;
  return found;
}

TEST_CASE("Knees are one capacity up to 16 %, and up to 35 % where their intervals overlap") {
  const auto limit = [](double knee, double aside) {
    return compare_latencies(saturated(1.0, 100.0, aside), saturated(4.0, knee, aside)).limit;
  };
  CHECK(limit(115.0, 1.001) == ThroughputLimit::capacity);
  CHECK(limit(118.0, 1.001) == ThroughputLimit::different);
  CHECK(limit(130.0, 1.2) == ThroughputLimit::capacity);
  CHECK(limit(130.0, 1.001) == ThroughputLimit::different);
  // Wide intervals overlap but do not prove equality: knees may differ by a factor of at most
  // e^0.3 = 1.35.
  CHECK(limit(140.0, 2.0) == ThroughputLimit::different);
  // A knee of 100 at latency 1 and a knee of 400 at latency 4 have equal rates: the limit is a
  // port.
  CHECK(limit(400.0, 1.001) == ThroughputLimit::port);
}

TEST_CASE("A core's outstanding misses from parallel chains") {
  // A core with 12 fill buffers and a latency of 110 ns. The knee is rounded, as measured knees
  // are, and the rate falls beyond 26 chains, as if registers were spilled.
  ThroughputCurve curve;
  for (int chains = 1; chains <= 32; ++chains) {
    const double free = 110.0 / chains;
    const double full = 110.0 / 12.0;
    double rate = 1.0 / std::pow(std::pow(free, 6.0) + std::pow(full, 6.0), 1.0 / 6.0);
    if (chains > 26) rate *= 0.9;
    curve.points.push_back({static_cast<double>(chains), rate});
  }
  const auto found = fit_saturation(curve);
  REQUIRE(found);
  CHECK(found->is_reached);
  CHECK(found->latency == doctest::Approx(110.0).epsilon(0.001));
  CHECK(found->knee == doctest::Approx(12.0).epsilon(0.03));
  CHECK(found->knee_interval.low <= 12.05);
  CHECK(found->knee_interval.high >= 11.95);
}

double unit_of(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11U) * 0x1.0p-53;
}

TEST_CASE("Intervals of noisy knees hold the truth") {
  std::mt19937_64 generator(7);
  int held = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const double truth = 8.0 * std::pow(256.0, unit_of(generator));
    const double p = 3.0 + 5.0 * unit_of(generator);
    ThroughputCurve curve;
    curve.latency = 400.0;
    for (double asked = 1.0; asked <= 8192.0; asked *= 1.5) {
      const double noise = 1.0 + 0.02 * (2.0 * unit_of(generator) - 1.0);
      const double slow = std::pow(400.0 / asked, p) + std::pow(400.0 / truth, p);
      curve.points.push_back({asked, noise / std::pow(slow, 1.0 / p)});
    }
    const auto found = fit_saturation(curve);
    REQUIRE(found);
    REQUIRE(found->is_reached);
    CHECK(found->knee == doctest::Approx(truth).epsilon(0.03));
    if (found->knee_interval.low <= truth && truth <= found->knee_interval.high) ++held;
  }
  MESSAGE(held << " of " << trials << " intervals hold the truth");
  CHECK(held >= 0.9 * trials);
}

TEST_CASE("Points that cannot be used leave nothing") {
  CHECK_FALSE(fit_saturation({}));
  CHECK_FALSE(fit_saturation({100.0, {{1.0, 0.01}, {2.0, 0.02}, {4.0, -1.0}}}));
}

TEST_CASE("Parallelism at the knee of a loaded latency, by Little's law") {
  // Values of Hopper in measurement.md: 3.9 TB/s, 132 compute units and sectors of 32 bytes. The
  // latency is 0.35 us idle and 0.7 us loaded. These values give 320 to 650 requests per compute
  // unit.
  const std::vector<LoadedPoint> points{
      {0.0, 0.35e-6}, {2.0e12, 0.38e-6}, {3.9e12, 0.7e-6}, {3.95e12, 1.4e-6}};
  const auto found = find_parallelism(points, 0.0, 32.0, 132);
  REQUIRE(found);
  CHECK(found->is_knee_reached);
  CHECK(found->knee_bytes_per_second == doctest::Approx(3.9e12));
  CHECK(found->per_compute_unit == doctest::Approx(646.0).epsilon(0.01));
  CHECK(found->per_compute_unit_interval.low == doctest::Approx(323.0).epsilon(0.01));
  CHECK(found->per_compute_unit_interval.high == doctest::Approx(646.0).epsilon(0.01));
  CHECK(found->requests == doctest::Approx(132 * found->per_compute_unit));
}

TEST_CASE("A knee between two points is interpolated, one that was not reached is a lower bound") {
  const std::vector<LoadedPoint> points{{1e9, 100e-9}, {10e9, 150e-9}, {12e9, 250e-9}};
  const auto found = find_parallelism(points, 100e-9, 64.0, 1);
  REQUIRE(found);
  CHECK(found->knee_bytes_per_second == doctest::Approx(11e9));
  CHECK(found->requests == doctest::Approx(11e9 * 200e-9 / 64.0));
  CHECK(found->requests_interval.low == doctest::Approx(11e9 * 100e-9 / 64.0));
  CHECK(found->requests_interval.high == doctest::Approx(12e9 * 250e-9 / 64.0));

  const auto idle = find_parallelism(std::span(points).first(2), 100e-9, 64.0, 1);
  REQUIRE(idle);
  CHECK_FALSE(idle->is_knee_reached);
  CHECK_FALSE(idle->reason.empty());
  CHECK(idle->requests == doctest::Approx(10e9 * 150e-9 / 64.0));

  // The interval includes those of the bandwidth, of the latency and of the idle latency.
  const std::vector<LoadedPoint> wide{{1e9, 100e-9, {}, {}},
                                      {10e9, 150e-9, {8e9, 11e9}, {120e-9, 170e-9}}};
  const auto bound = find_parallelism(wide, 100e-9, 64.0, 1, {90e-9, 130e-9});
  REQUIRE(bound);
  CHECK(bound->requests_interval.low == doctest::Approx(8e9 * 90e-9 / 64.0));
  CHECK(bound->requests_interval.high == doctest::Approx(11e9 * 170e-9 / 64.0));

  CHECK_FALSE(find_parallelism({}, 0.0, 64.0, 1));
  CHECK_FALSE(find_parallelism(std::array{LoadedPoint{0.0, 1e-7}}, 0.0, 64.0, 1));
  CHECK_THROWS_AS(find_parallelism(points, 0.0, 0.0, 1), std::invalid_argument);
  CHECK_THROWS_AS(find_parallelism(points, 0.0, 64.0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace clprobe::inflight
