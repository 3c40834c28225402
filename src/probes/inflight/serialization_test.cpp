// SPDX-License-Identifier: Apache-2.0
// The first, smaller rise of a Thread-Latency curve, and the shelf behind it.
#include "probes/inflight/inflight.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "probes/inflight/simulated_runs_test.hpp"
#include "simulation/api/machine.hpp"

namespace clprobe::inflight {
namespace {

/// Returns a curve with points as the probe plans them: every second number of work-items up to
/// 64, then every eighth.
ThreadLatencyCurve curve_of(const std::function<double(int)>& cycles) {
  ThreadLatencyCurve curve;
  for (int items = 2; items <= 256; items += items < 64 ? 2 : 8) {
    curve.points.push_back({items, {cycles(items), cycles(items), cycles(items)}, {}});
  }
  return curve;
}

}  // namespace

TEST_CASE("what a further work-item of the first sub-group adds, and where the shelf ends") {
  // Curve of Fig. 1 of the paper: it rises up to 32 work-items, is flat up to 96, and rises again.
  const auto figure = [](int items) {
    return 370.0 + 2.0 * std::min(items, 32) + 2.0 * std::max(items - 96, 0);
  };
  const auto found = find_serialization(curve_of(figure), 32);
  REQUIRE(found);
  CHECK(found->cycles_per_lane == doctest::Approx(2.0));
  REQUIRE(found->plateau);
  // The plateau ends where the rise exceeds a quarter of the first sub-group's 64 cycles, that is
  // 16 cycles.
  CHECK(found->plateau->before == 104);
  CHECK(found->plateau->after == 112);
}

TEST_CASE("there is no shelf where all rises, where none rises, and where nothing ends it") {
  const auto shelf_of = [](const std::function<double(int)>& cycles) {
    const auto found = find_serialization(curve_of(cycles), 32);
    REQUIRE(found);
    return found->plateau.has_value();
  };
  CHECK_FALSE(shelf_of([](int items) { return 370.0 + items; }));
  CHECK_FALSE(shelf_of([](int) { return 370.0; }));
  CHECK_FALSE(shelf_of([](int items) { return 370.0 + std::min(items, 32); }));
  // If the second sub-group waits for the first one, the curve has no plateau either.
  CHECK_FALSE(
      shelf_of([](int items) { return 370.0 + std::min(items, 32) + (items > 40 ? 20 : 0); }));
  // Scatter of 12 cycles, as on an H200 whose lines have different latencies, hides the end of the
  // plateau.
  CHECK_FALSE(shelf_of([](int items) {
    const double scatter = items % 8 == 0 ? 0.0 : items % 4 == 0 ? 12.0 : -12.0;
    return 370.0 + 2.0 * std::min(items, 32) + 2.0 * std::max(items - 96, 0) + scatter;
  }));
  ThreadLatencyCurve few = curve_of([](int items) { return 370.0 + items; });
  few.points.resize(2);
  CHECK_FALSE(find_serialization(few, 32));
}

TEST_CASE("simulated: three load/store units have the shelf of Fig. 1 to 96, and one has none") {
  Request request;
  request.series = {"thread-latency"};
  request.own.set("target", std::vector<std::string>{"cache"});
  request.own.set("loads", std::vector<int>{1});
  const ProbeResult three = measured(simulator::preset("fermi-m2070-units"), request);
  CHECK(*find(three, "cycles_per_lane", "cache-x1")->value == doctest::Approx(1.0));
  const Finding* const shelf = find(three, "parallel_items", "cache-x1");
  REQUIRE(shelf != nullptr);
  CHECK(*shelf->low <= 96.0);
  CHECK(*shelf->high >= 96.0);
  CHECK(*shelf->high < 128.0);
  const ProbeResult one = measured(simulator::preset("fermi-m2070"), request);
  CHECK(*find(one, "cycles_per_lane", "cache-x1")->value == doctest::Approx(1.0));
  CHECK(find(one, "parallel_items", "cache-x1") == nullptr);
  // A barrier takes longer with more sub-groups.
  CHECK(*find(one, "barrier_of_largest", "barrier")->value >
        *find(one, "barrier_of_smallest", "barrier")->value);
}

}  // namespace clprobe::inflight
