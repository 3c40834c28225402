// SPDX-License-Identifier: Apache-2.0
// What `inflight` finds in samples, and refines; no OpenCL.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/point_facts.hpp"
#include "probes/inflight/inflight.hpp"
#include "probes/inflight/points_test.hpp"

namespace clprobe::inflight {
namespace {

/// Returns a curve of a pool with `capacity` requests. Requests that do not fit wait for earlier
/// requests.
std::vector<Point> curve(int loads, int capacity, double latency) {
  constexpr double interval = 0.3;
  std::vector<Point> points;
  for (int n = 2; n <= 512; n += 2) {
    Point point = block(loads, 1, MergerMode::within, n);
    const int waits = (n * loads - 1) / capacity;
    const double cycles = latency + interval * n * loads + waits * (latency - interval * capacity);
    point.samples.assign(
        3, {.accesses = 1, .ticks = static_cast<std::uint64_t>(cycles), .host_ns = 1000});
    points.push_back(point);
  }
  return points;
}

/// Checks that the probe declares every finding with its unit. Values need intervals, since
/// `compare` cannot judge a value without an interval.
void check_findings(const Findings& found) {
  for (const Finding& each : found.findings) {
    CAPTURE(each.series);
    CAPTURE(each.name);
    const auto spec = std::find_if(probe.findings.begin(), probe.findings.end(),
                                   [&](const FindingSpec& of) { return of.name == each.name; });
    REQUIRE(spec != probe.findings.end());
    CHECK(spec->unit == each.unit);
    if (!each.value) continue;
    REQUIRE(each.low);
    REQUIRE(each.high);
    CHECK(*each.low <= *each.value);
    CHECK(*each.value <= *each.high);
  }
}

TEST_CASE("jumps at as many requests are a pool, through the probe's own findings") {
  std::vector<Point> points;
  for (const int loads : {1, 2, 3}) {
    for (Point& each : curve(loads, 200, 400.0)) points.push_back(std::move(each));
  }
  const Findings found = probe.analyse(gpu(), points);
  const auto limit = std::find_if(found.findings.begin(), found.findings.end(),
                                  [](const Finding& each) { return each.name == "limit"; });
  REQUIRE(limit != found.findings.end());
  CAPTURE(limit->reason);
  CHECK(limit->label == "MSHR");
  const auto requests = std::find_if(found.findings.begin(), found.findings.end(),
                                     [](const Finding& each) { return each.name == "requests"; });
  REQUIRE(requests != found.findings.end());
  check_findings(found);
  CHECK(*requests->low <= 200);
  CHECK(*requests->high >= 200);
}

/// Adds samples of a device with a maximum bandwidth of 3000 bytes per ns and an idle latency of
/// 500 ns. Requests beyond the bandwidth wait in a queue.
std::vector<Point> loaded_samples(std::vector<Point> points, double min_asked) {
  for (Point& point : points) {
    const LoadedShape shape = LoadedShape::of(point);
    const double asked =
        shape.groups == 0
            ? 0.0
            : std::max(min_asked, 24000.0 / (1.0 + static_cast<double>(shape.delay) / 16.0));
    constexpr double most = 3000.0;
    const double used = most * asked / (most + asked);
    const double latency = 500.0 / (1.0 - used / most);
    // The clock has 2 ticks per ns.
    point.samples.assign(3, {.accesses = 100, .host_ns = 1000});
    const double ns = shape.counts_traffic ? 128.0 / used : latency;
    for (Sample& sample : point.samples) {
      sample.accesses = 1'000'000;
      sample.ticks = static_cast<std::uint64_t>(2e6 * ns);
    }
  }
  return points;
}

std::vector<Point> loaded_plan() {
  Request request;
  request.series = {"loaded"};
  return probe.plan(gpu(), request).points;
}

const Finding* found_of(const Findings& found, std::string_view name, std::string_view series) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.series == series) return &each;
  }
  return nullptr;
}

TEST_CASE("pairs of traffic and latency give what is in flight where the latency has doubled") {
  std::vector<Point> points = loaded_samples(loaded_plan(), 0.0);
  const std::vector<Point> more = probe.refine(gpu(), {}, points);
  CHECK(more.size() == 6);  // three delays in each of two series
  for (const Point& each : more) CHECK(is_loaded(each));
  std::vector<Point> marked = more;
  derive_facts(marked);
  for (const Point& each : marked) CHECK(each.facts.find(by_median) != nullptr);
  for (Point& each : loaded_samples(more, 0.0)) points.push_back(std::move(each));
  const Findings found = probe.analyse(gpu(), points);
  check_findings(found);
  const Finding* const all = found_of(found, "memory_parallelism", "device");
  REQUIRE(all != nullptr);
  // At the knee the bandwidth is half of the maximum, 1500 bytes per ns, and the latency is
  // 1000 ns. A line has 128 bytes.
  constexpr double truth = 1500.0 * 1000.0 / 128.0;
  CHECK(*all->value == doctest::Approx(truth).epsilon(0.1));
  CHECK(*all->low < truth);
  CHECK(*all->high > truth);
  const Finding* const each = found_of(found, "memory_parallelism", "compute-unit");
  REQUIRE(each != nullptr);
  CHECK(*each->value == doctest::Approx(*all->value / 132.0));
  const Finding* const advice = found_of(found, "advice", "loaded");
  REQUIRE(advice != nullptr);
  CHECK(advice->label.starts_with("To reach the bandwidth at the knee, keep "));
  const double by_eight = std::ceil(*each->value / 8.0);
  CHECK(advice->label.find(fmt::format("8 sub-groups with {} independent", by_eight)) !=
        std::string::npos);
  const Finding* const bytes = found_of(found, "bytes_in_flight", "device");
  REQUIRE(bytes != nullptr);
  CHECK(*bytes->value == doctest::Approx(*all->value * 128.0));
  const Finding* const idle = found_of(found, "latency", "loaded");
  REQUIRE(idle != nullptr);
  CHECK(*idle->value == doctest::Approx(500e-9).scale(0));
}

TEST_CASE("a latency that never doubles gives a bound below what was in flight") {
  std::vector<Point> few;
  for (Point& each : loaded_plan()) {
    const LoadedShape shape = LoadedShape::of(each);
    if (shape.groups == 0 || shape.delay >= 1024) few.push_back(std::move(each));
  }
  const std::vector<Point> points = loaded_samples(std::move(few), 0.0);
  CHECK(probe.refine(gpu(), {}, points).empty());
  const Findings found = probe.analyse(gpu(), points);
  check_findings(found);
  CHECK(found_of(found, "memory_parallelism", "device") == nullptr);
  const Finding* const least = found_of(found, "memory_parallelism_at_least", "device");
  REQUIRE(least != nullptr);
  const double asked = 24000.0 / (1.0 + 1024.0 / 16.0);
  const double used = 3000.0 * asked / (3000.0 + asked);
  CHECK(*least->value == doctest::Approx(used * 500.0 / 128.0));
  const Finding* const knee = found_of(found, "knee_bandwidth", "loaded");
  REQUIRE(knee != nullptr);
  CHECK_FALSE(knee->value);
  CHECK_FALSE(knee->reason.empty());
}

TEST_CASE("a chase beside which nothing was streamed says nothing of parallelism") {
  std::vector<Point> points = loaded_samples(loaded_plan(), 0.0);
  std::erase_if(points, [](const Point& each) { return LoadedShape::of(each).groups > 0; });
  REQUIRE(points.size() == 1);
  CHECK(probe.analyse(gpu(), points).findings.empty());
}

TEST_CASE("what one core of a CPU has outstanding is told as its parallelism") {
  std::vector<Point> points;
  Request request;
  request.series = {"chains"};
  for (Point& each : probe.plan(cpu(), request).points) {
    const auto chains = static_cast<double>(Shape::of(each).chains);
    const double ns = 100.0 / std::min(chains, 10.0);
    each.samples.assign(
        3, {.accesses = 1000, .ticks = static_cast<std::uint64_t>(2000 * ns), .host_ns = 1000});
    points.push_back(std::move(each));
  }
  const Findings found = probe.analyse(cpu(), points);
  check_findings(found);
  const Finding* const core = found_of(found, "memory_parallelism", "compute-unit");
  REQUIRE(core != nullptr);
  CHECK(*core->value == doctest::Approx(10.0).epsilon(0.1));
  CHECK(*core->low <= 10.0);
  CHECK(*core->high >= 10.0);
}

TEST_CASE("a compute unit's bound is no higher than the widened interval of its chains") {
  std::vector<Finding> findings(3);
  findings[0] = {.name = "in_flight", .series = "cache-chains", .value = 4.7, .low = 3.3};
  findings[1] = {.name = "in_flight", .series = "memory-chains", .value = 16.9, .low = 12.9};
  findings[2] = {
      .name = "in_flight_at_least", .series = "compute-unit", .value = 15.0, .low = 15.0};
  combine(findings);
  CHECK(findings[2].value == 13.0);
  CHECK(findings[2].low == 13.0);
}

TEST_CASE("without points nothing is found, and a failed point counts for nothing") {
  CHECK(probe.analyse(gpu(), {}).findings.empty());
  std::vector<Point> points = curve(1, 200, 400.0);
  for (Point& each : points) each.failure = "lost";
  CHECK(probe.analyse(gpu(), points).findings.empty());
}

}  // namespace
}  // namespace clprobe::inflight
