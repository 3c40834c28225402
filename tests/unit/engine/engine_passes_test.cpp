// SPDX-License-Identifier: Apache-2.0
// Results of the engine after each pass, probe times and interrupts.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "fake_device.hpp"
#include "measure/api/engine.hpp"

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

/// Returns fake_probe() for the engine, with a number of points.
EngineProbe probe_of(const Probe& probe, Backend& backend, const Budget& budget,
                     std::uint64_t points) {
  return {.probe = &probe, .backend = &backend, .budget = budget, .request = [points] {
            return request_of_points(points);
          }};
}

TEST_CASE("after each pass a result has what was measured, and says whether it is all") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  Observer observer;
  std::vector<Status> statuses;
  Engine* engine = nullptr;
  observer.pass_over = [&](std::size_t probe) {
    const ProbeResult result = engine->result(probe);
    CHECK(result.points.size() == 3);
    CHECK(result.findings.size() == 3);
    CHECK(result == engine->result(probe));  // reading a result does not change it
    statuses.push_back(result.status);
  };
  Engine one({probe_of(fake, backend, three_visits(), 3)}, {}, observer);
  engine = &one;
  CHECK_FALSE(one.has_begun(0));
  one.run();
  CHECK(statuses == std::vector{Status::interrupted, Status::interrupted, Status::ok});
  CHECK(one.visit_count(0) == 9);
}

TEST_CASE("an interrupt leaves what was complete, and says which probe is not") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  bool is_interrupted = false;
  int passes = 0;
  Observer observer;
  observer.cancelled = [&] { return is_interrupted; };
  observer.pass_over = [&](std::size_t) { is_interrupted = ++passes == 2; };
  Budget once = three_visits();
  once.min_visits = 1;
  Engine engine({probe_of(fake, backend, once, 2), probe_of(fake, backend, three_visits(), 2),
                 probe_of(fake, backend, once, 2)},
                {}, observer);
  engine.run();
  CHECK(engine.result(0).status == Status::ok);
  CHECK(engine.result(1).status == Status::interrupted);
  CHECK(engine.result(1).points.size() == 2);
  CHECK_FALSE(engine.has_begun(2));
}

TEST_CASE("the time of other probes' passes and of who listens is not a probe's own") {
  FakeBackend backend(steady());
  const Probe fake = fake_probe();
  Observer observer;
  observer.pass_over = [&](std::size_t) { backend.wait(std::chrono::seconds(100)); };
  Engine engine(
      {probe_of(fake, backend, three_visits(), 1), probe_of(fake, backend, three_visits(), 1)}, {},
      observer);
  engine.run();
  CHECK(engine.result(0).elapsed_seconds > 0.0);
  CHECK(engine.result(0).elapsed_seconds < 1.0);
}

TEST_CASE("a result says what others took of the cores while its probe measured") {
  const auto others = [](CoreUse of_launch) {
    FakeBackend backend(steady());
    backend.each_launch_takes(of_launch);
    const Probe fake = fake_probe();
    return measure(fake, backend, request_of_points(3), three_visits(), {}).others_share;
  };
  CHECK(others({.own_s = 0.003, .busy_s = 0.005, .idle_s = 0.003}) == doctest::Approx(0.25));
  CHECK(others({.own_s = 0.003, .busy_s = 0.003, .idle_s = 0.001}) == 0.0);
  CHECK(others({.own_s = 0.003, .busy_s = 0.002, .idle_s = 0.001}) == 0.0);
  CHECK(others({}) == 0.0);
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
  Budget budget = three_visits();
  budget.min_time = std::chrono::hours(1);  // failed points must not be repeated until then
  Observer observer;
  observer.pass_over = [&](std::size_t) { is_gone = true; };
  const ProbeResult result = measure(fake, backend, request_of_points(7), budget, observer);
  CHECK(backend.visited().size() == 14);
  CHECK(result.status == Status::failed);
  CHECK(result.reason == "7 points failed when measured again; first failure: the device is gone");
  CHECK(result.findings.size() == 7);
}

}  // namespace
}  // namespace clprobe
