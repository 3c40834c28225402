// SPDX-License-Identifier: Apache-2.0
// The own times of a group's sub-groups: which points they are, and on a simulated machine the
// truth.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/inflight/inflight.hpp"
#include "probes/inflight/points_test.hpp"
#include "probes/inflight/simulated_runs_test.hpp"

namespace clprobe::inflight {
namespace {

Request own_times(std::vector<int> work_items, std::vector<int> loads) {
  Request request;
  request.series = {"sub-groups"};
  request.own.set("work-items", std::move(work_items));
  request.own.set("loads", std::move(loads));
  request.own.set("target", std::vector<std::string>{"cache"});
  return request;
}

std::vector<std::int64_t> last_items_of(const std::vector<Point>& points) {
  std::vector<std::int64_t> items;
  for (const Point& each : points) items.push_back(each.parameters.integer_or("work_items", 0));
  return items;
}

/// Returns the ticks of each sub-group, on a machine whose clock has no scatter.
std::vector<std::uint64_t> ticks_of(const ProbeResult& result) {
  std::vector<std::uint64_t> ticks;
  for (const Point& each : result.points) {
    ticks.resize(result.points.size());
    const auto number = each.parameters.integer_or("sub_group_number", -1);
    ticks.at(static_cast<std::size_t>(number)) = each.samples.front().ticks.value_or(0);
  }
  return ticks;
}

}  // namespace

TEST_CASE("a point for each sub-group, only where they are named") {
  for (const Point& each : probe.plan(gpu(), {}).points) CHECK_FALSE(is_own_time(each));
  const std::vector<Point> points = probe.plan(gpu(), own_times({100}, {2})).points;
  CHECK(last_items_of(points) == std::vector<std::int64_t>{32, 64, 96, 100});
  for (const Point& each : points) {
    CHECK(is_own_time(each));
    CHECK(each.series == "cache-x2-of-100");
    CHECK(Shape::of(each).work_items == 100);
    CHECK(Shape::of(each).options().ends_with(" -DOWN_TIMES"));
  }
  CHECK(Shape::of(points.back()).number() == 3);
}

TEST_CASE("the largest group by default, 256 of a first look, 8 work-items of a CPU") {
  const auto last_of = [](const DeviceInfo& device, Effort effort) {
    Request request;
    request.series = {"sub-groups"};
    request.effort = effort;
    return last_items_of(probe.plan(device, request).points).back();
  };
  CHECK(last_of(gpu(), Effort::normal) == 1024);
  CHECK(last_of(gpu(), Effort::quick) == 256);
  const std::vector<Point> of_cpu = probe.plan(cpu(), own_times({}, {1})).points;
  CHECK(last_items_of(of_cpu) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("groups whose lines do not fit twice have no points") {
  Request little = own_times({512, 1024}, {16});
  little.max_memory = {4 << 20};
  const std::vector<Point> points = probe.plan(gpu(), little).points;
  REQUIRE(points.size() == 16);
  // The buffer holds the lines of two rounds with 512 work-items, but of only one round with 1024.
  CHECK(Shape::of(points.front()).work_items == 512);
  CHECK(Shape::of(points.front()).lines() == 1024 * 16);
}

TEST_CASE("a sub-group behind the end of its group is no point") {
  Point point = probe.plan(gpu(), own_times({64}, {1})).points.back();
  CHECK_FALSE(probe.find_problem(point));
  point.parameters.set("work_items", std::int64_t{65});
  REQUIRE(probe.find_problem(point));
  CHECK(probe.find_problem(point)->name == "work_items");
}

TEST_CASE("they belong to no curve") {
  const std::vector<Point> points = probe.plan(gpu(), own_times({64}, {1})).points;
  std::vector<std::string> series;
  CHECK(thread_latency_curves(points, series).empty());
}

TEST_CASE("a pool of 128 lets four sub-groups have their values after one latency") {
  const ProbeResult result = measured(simulator::preset("fermi-m2070"), own_times({256}, {1}));
  const std::vector<std::uint64_t> ticks = ticks_of(result);
  REQUIRE(ticks.size() == 8);
  // Sub-groups issue one line per cycle, and the pool holds 128 requests. Counted from 0,
  // sub-groups 1 to 3 wait while earlier sub-groups issue 32 lines each. Sub-group 4 exceeds the
  // pool and waits for an answer.
  const std::uint64_t latency = ticks.front();
  for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(ticks[i] > ticks[i - 1]);
  CHECK(ticks[3] < latency + 4 * 32);
  CHECK(ticks[4] > 2 * latency - 4 * 32);
  const Finding* const fastest = find(result, "fastest_sub_group", "cache-x1-of-256");
  const Finding* const slowest = find(result, "slowest_sub_group", "cache-x1-of-256");
  REQUIRE(fastest != nullptr);
  REQUIRE(slowest != nullptr);
  // The overhead of a pair of clock reads, 1 tick, is subtracted.
  CHECK(*fastest->value == doctest::Approx(static_cast<double>(ticks.front() - 1)));
  CHECK(*slowest->value == doctest::Approx(static_cast<double>(ticks.back() - 1)));
}

}  // namespace clprobe::inflight
