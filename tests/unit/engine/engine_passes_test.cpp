// SPDX-License-Identifier: Apache-2.0
// Probes that take turns: what each pass does, and what is there in between.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "clprobe/engine.hpp"
#include "fake_device.hpp"

namespace clprobe {
namespace {

Budget three_visits() {
  Budget budget;
  budget.probe_time = std::chrono::hours(1);
  budget.min_visits = 3;
  budget.max_visits = 3;
  return budget;
}

Answer steady() {
  return [](const Point&, std::uint64_t iterations) { return launch_of(iterations, 1.0); };
}

TEST_CASE("each pass visits every point once, and between two of them others can be measured") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  const Observer nobody;
  Measuring three(fake, backend, request_of_points(3), three_visits(), nobody);
  Measuring two(fake, backend, request_of_points(2), three_visits(), nobody);
  CHECK_FALSE(three.is_done());
  std::vector<std::size_t> visits;
  while (!three.is_done() || !two.is_done()) {
    for (Measuring* const each : {&three, &two}) {
      each->pass();
      visits.push_back(backend.visited().size());
    }
  }
  CHECK(visits == std::vector<std::size_t>{3, 5, 8, 10, 13, 15});
  for (const Measuring* const each : {&three, &two}) {
    const ProbeResult result = each->result();
    CHECK(result.status == Status::ok);
    CHECK(result.warnings.empty());
    for (const Point& point : result.points) CHECK(point.samples.back().visit == 2);
  }
}

/// Forty points, of which the last two have series of their own.
Plan three_series(const DeviceInfo&, const Request&) {
  constexpr std::int64_t points = 40;
  Plan plan;
  for (std::int64_t id = 1; id <= points; ++id) {
    const char* const series = id == points ? "third" : id == points - 1 ? "second" : "first";
    plan.points.push_back(fake_point(series, id));
  }
  return plan;
}

TEST_CASE("a point of each series is visited before all others") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    FakeBackend backend(steady());
    Probe fake = fake_probe();
    fake.plan = three_series;
    Budget budget = three_visits();
    budget.seed = seed;
    const Observer nobody;
    Measuring measuring(fake, backend, {}, budget, nobody);
    measuring.pass();
    const auto& visited = backend.visited();
    REQUIRE(visited.size() >= 40);
    const std::set<std::int64_t> first(visited.begin(), visited.begin() + 3);
    CHECK(first.count(39) == 1);
    CHECK(first.count(40) == 1);
    CHECK(std::set<std::int64_t>(visited.begin(), visited.end()).size() == 40);
  }
}

TEST_CASE("the rounds of a few points that are left are made at once") {
  const auto passes_with = [](std::int64_t noisy) {
    FakeBackend backend([=, launch = 0](const Point& point, std::uint64_t iterations) mutable {
      const bool is_noisy = point.parameters.integer("working_set_bytes") <= noisy;
      return launch_of(iterations, is_noisy && launch++ % 3 != 0 ? 2.0 : 1.0);
    });
    Budget budget = three_visits();
    budget.min_visits = 2;
    budget.max_visits = 6;
    const Probe fake = fake_probe();
    const Observer nobody;
    Measuring measuring(fake, backend, request_of_points(20), budget, nobody);
    int passes = 0;
    for (; !measuring.is_done(); ++passes) measuring.pass();
    CHECK(measuring.result().points.front().samples.back().visit == 5);
    return passes;
  };
  CHECK(passes_with(2) == 2);
  CHECK(passes_with(3) == 6);
}

TEST_CASE("before its last pass a result has what was measured, and says that it is not all") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  const Observer nobody;
  Measuring measuring(fake, backend, request_of_points(3), three_visits(), nobody);
  measuring.pass();
  const ProbeResult result = measuring.result();
  CHECK(result.status == Status::interrupted);
  CHECK(result.points.size() == 3);
  CHECK(result.findings.size() == 3);
  measuring.pass();
  measuring.pass();
  CHECK(measuring.is_done());
  CHECK(measuring.result().status == Status::ok);
  CHECK(measuring.result() == measuring.result());  // asking changes nothing
}

TEST_CASE("what is interrupted is done, and what was complete before stays so") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  bool is_interrupted = false;
  Observer observer;
  observer.cancelled = [&] { return is_interrupted; };
  Measuring complete(fake, backend, request_of_points(2), three_visits(), observer);
  while (!complete.is_done()) complete.pass();
  Measuring cut(fake, backend, request_of_points(2), three_visits(), observer);
  cut.pass();
  is_interrupted = true;
  cut.pass();
  CHECK(cut.is_done());
  CHECK(cut.result().status == Status::interrupted);
  CHECK(cut.result().points.size() == 2);
  CHECK(complete.result().status == Status::ok);
}

TEST_CASE("the time of other probes' passes is not a probe's own") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  const Observer nobody;
  Measuring measuring(fake, backend, request_of_points(1), three_visits(), nobody);
  measuring.pass();
  const double before = measuring.result().elapsed_seconds;
  CHECK(before > 0.0);
  CHECK(measuring.result().elapsed_seconds == before);
}

TEST_CASE("a result says what others took of the cores while its probe measured") {
  const auto others = [](CoreUse of_launch) {
    FakeBackend backend(steady());
    backend.each_launch_takes(of_launch);
    const Probe fake = fake_probe();
    const Observer nobody;
    Measuring measuring(fake, backend, request_of_points(3), three_visits(), nobody);
    while (!measuring.is_done()) measuring.pass();
    return measuring.result().others_share;
  };
  CHECK(others({.own_s = 0.003, .busy_s = 0.005, .idle_s = 0.003}) == doctest::Approx(0.25));
  CHECK(others({.own_s = 0.003, .busy_s = 0.003, .idle_s = 0.001}) == 0.0);
  CHECK(others({.own_s = 0.003, .busy_s = 0.002, .idle_s = 0.001}) == 0.0);
  CHECK(others({}) == 0.0);
}

TEST_CASE("a probe that took little of the run's time is visited again, as often as is allowed") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  Budget budget = three_visits();
  budget.min_visits = 1;
  Observer observer;
  observer.began -= std::chrono::hours(1);
  Measuring measuring(fake, backend, request_of_points(2), budget, observer);
  CHECK_FALSE(measuring.visit_again());  // it has passes to make
  measuring.pass();
  REQUIRE(measuring.is_done());
  CHECK(measuring.visit_again());
  CHECK(measuring.visit_again());
  CHECK_FALSE(measuring.visit_again());
  CHECK(measuring.is_done());
  for (const Point& point : measuring.result().points) CHECK(point.samples.back().visit == 2);
  CHECK(backend.visited().size() == 6);
}

TEST_CASE("points whose intervals stay wide are visited a dozen times, where that takes little") {
  FakeBackend backend([](const Point& point, std::uint64_t iterations) {
    static std::uint64_t launches = 0;
    const bool is_wide = point.parameters.integer("working_set_bytes") == 2;
    return launch_of(iterations, is_wide && ++launches % 3 != 0 ? 2.0 : 1.0);
  });
  const Probe fake = fake_probe();
  Observer observer;
  observer.began -= std::chrono::hours(1);
  Measuring measuring(fake, backend, request_of_points(2), three_visits(), observer);
  while (!measuring.is_done()) measuring.pass();
  int more = 0;
  while (measuring.visit_again()) ++more;
  CHECK(more == 12 - 3);
  const ProbeResult result = measuring.result();
  CHECK(result.points[1].samples.back().visit == 11);
  CHECK(result.points[0].samples.back().visit < 3);
}

TEST_CASE("a probe that took most of the run's time is not visited again") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  Budget budget = three_visits();
  budget.min_visits = 1;
  const Observer observer;
  Measuring measuring(fake, backend, request_of_points(2), budget, observer);
  measuring.pass();
  REQUIRE(measuring.is_done());
  CHECK_FALSE(measuring.visit_again());
}

TEST_CASE("each program that points need is named once, in their order") {
  Probe fake = fake_probe();
  CHECK(programs_for(fake, fake_info(), 42, fake_plan(fake_info(), request_of_points(2)).points)
            .empty());
  fake.builds = [](const DeviceInfo&, std::uint64_t seed, const Point& point) {
    const auto bytes = point.parameters.integer("working_set_bytes");
    return std::vector<KernelVariant>{{"-DALL", ""},
                                      {"-DODD=" + std::to_string(bytes % 2), std::to_string(seed)}};
  };
  const Plan plan = fake_plan(fake_info(), request_of_points(4));
  CHECK(programs_for(fake, fake_info(), 7, plan.points) ==
        std::vector<Program>{{"fake.cl", {"-DALL", ""}},
                             {"fake.cl", {"-DODD=1", "7"}},
                             {"fake.cl", {"-DODD=0", "7"}}});
}

TEST_CASE("a device that is lost at a later pass takes nothing away from the first") {
  FakeBackend backend(steady());
  bool is_gone = false;
  backend.on_prepare([&](const Point&) {
    if (is_gone) throw DeviceError("the device is gone");
  });
  const Probe fake = fake_probe();
  const Observer nobody;
  Budget budget = three_visits();
  budget.min_time = std::chrono::hours(1);  // nor are they tried again and again
  Measuring measuring(fake, backend, request_of_points(7), budget, nobody);
  measuring.pass();
  is_gone = true;
  while (!measuring.is_done()) measuring.pass();
  CHECK(backend.visited().size() == 14);
  const ProbeResult result = measuring.result();
  CHECK(result.status == Status::failed);
  CHECK(result.reason == "7 points failed when measured again; first failure: the device is gone");
  CHECK(result.findings.size() == 7);
}

}  // namespace
}  // namespace clprobe
