// SPDX-License-Identifier: Apache-2.0
// What of a run's scatter is told, and when somebody else is blamed for it.
#include "clprobe/scatter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace clprobe {
namespace {

constexpr std::uint64_t accesses = 1000;

/// Three samples whose interval, from the least to the median, is `width` of the least.
Point scattered(const std::string& series, double width, std::size_t samples = 3) {
  Point point;
  point.series = series;
  const double ns = 10000.0;
  point.samples.assign(samples, {.accesses = accesses,
                                 .ticks = static_cast<std::uint64_t>(ns * (1.0 + width)),
                                 .host_ns = 1000});
  point.samples.front().ticks = static_cast<std::uint64_t>(ns);
  return point;
}

ProbeResult result_of(const std::string& probe, const std::string& series, double width,
                      std::size_t points, std::size_t samples = 3) {
  ProbeResult result;
  result.probe = probe;
  result.points.assign(points, scattered(series, width, samples));
  return result;
}

Run run_of(std::vector<ProbeResult> results) {
  Run run;
  run.device.timer = Timer::clock;
  run.device.clock = {.kind = ClockKind::nvidia, .ticks_per_ns = 1.0};
  run.results = std::move(results);
  for (ProbeResult& each : run.results) {
    if (const auto warning = find_scatter(each.points, run.device)) {
      each.warnings.push_back(*warning);
    }
  }
  tell_disturbance(run);
  return run;
}

bool blames(const Run& run) {
  return std::any_of(run.warnings.begin(), run.warnings.end(),
                     [](const Warning& each) { return each.code == disturbed_warning; });
}

TEST_CASE("one quiet series clears all others of being disturbed") {
  const ProbeResult memory = result_of("inflight", "memory-x1", 0.46, 37);
  const Run alone = run_of({memory});
  REQUIRE(alone.results[0].warnings.size() == 1);
  CHECK(alone.results[0].warnings[0].facts.integer("points") == 37);
  CHECK(blames(alone));
  const Run with_quiet = run_of({result_of("latency", "global", 0.001, 5), memory});
  CHECK(with_quiet.results[1].warnings.size() == 1);
  CHECK_FALSE(blames(with_quiet));
  // In whatever order, and within one probe as well.
  CHECK_FALSE(blames(run_of({memory, result_of("latency", "global", 0.001, 5)})));
  ProbeResult both = memory;
  for (const Point& each : result_of("", "chains", 0.001, 5).points) both.points.push_back(each);
  CHECK_FALSE(blames(run_of({both})));
}

TEST_CASE("the quietest series must scatter by more than 5 %, and is named") {
  const ProbeResult noisy = result_of("stride", "read int", 0.3, 20);
  CHECK_FALSE(blames(run_of({noisy, result_of("latency", "local", 0.048, 8)})));
  const Run run = run_of({noisy, result_of("latency", "local", 0.053, 8)});
  REQUIRE(blames(run));
  const Parameters& facts = run.warnings.front().facts;
  CHECK(facts.text("probe") == "latency");
  CHECK(facts.text("series") == "local");
  CHECK(std::get<double>(*facts.find("quietest_share")) == doctest::Approx(0.053));
  CHECK(run.warnings.front().source == WarningSource::analysis);
}

TEST_CASE("what the host waits for may scatter by up to 25 %") {
  const auto is_told = [](std::uint64_t longest) {
    Point point;
    point.parameters.set("timer", std::string("wait"));
    // The quartiles of these are what is between the least and the most.
    for (const std::uint64_t ns : {std::uint64_t{1000}, std::uint64_t{1000}, longest, longest}) {
      point.samples.push_back({.accesses = 1, .host_ns = ns});
    }
    return find_scatter(std::vector(8, point), {}).has_value();
  };
  CHECK_FALSE(is_told(1060));
  CHECK_FALSE(is_told(1270));  // 270 of 1135 is 24 %
  CHECK(is_told(1310));        // 310 of 1155 is 27 %
}

TEST_CASE("one point of a series does not clear it, and few points or samples say nothing") {
  ProbeResult mixed = result_of("latency", "local", 0.3, 5);
  mixed.points[0] = mixed.points[1] = scattered("local", 0.0);
  CHECK(blames(run_of({mixed})));
  mixed.points[2] = scattered("local", 0.0);
  CHECK_FALSE(blames(run_of({mixed})));
  const ProbeResult noisy = result_of("stride", "read int", 0.3, 20);
  CHECK(blames(run_of({noisy, result_of("inflight", "overhead", 0.0, 4)})));
  CHECK(blames(run_of({noisy, result_of("inflight", "chains", 0.0, 8, 2)})));
  CHECK_FALSE(blames(run_of({noisy, result_of("inflight", "overhead", 0.0, 5)})));
  // Nor is anybody blamed by them.
  CHECK_FALSE(blames(run_of({result_of("latency", "local", 0.3, 4)})));
  CHECK_FALSE(blames(run_of({result_of("latency", "local", 0.3, 20, 2)})));
}

TEST_CASE("without scatter worth telling nobody is blamed, and an older blame is taken back") {
  Run run = run_of({result_of("latency", "local", 0.06, 8)});
  REQUIRE(blames(run));
  tell_disturbance(run);
  CHECK(run.warnings.size() == 1);
  run.results[0].warnings.clear();
  tell_disturbance(run);
  CHECK_FALSE(blames(run));
  CHECK_FALSE(blames(run_of({})));
}

}  // namespace
}  // namespace clprobe
