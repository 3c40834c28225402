// SPDX-License-Identifier: Apache-2.0
// Ends of measurements and their warnings: wide intervals, reference points, refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fake_device.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

Budget ample_budget() {
  Budget budget;
  budget.probe_time = std::chrono::hours(1);
  return budget;
}

std::int64_t id_of(const Point& point) { return point.parameters.integer("working_set_bytes"); }

/// Answers in which the first `noisy` points are slow: every second and third launch takes `longer`
/// times as long.
Answer noisy_points(std::int64_t noisy, double longer) {
  return [=, launch = 0](const Point& point, std::uint64_t iterations) mutable {
    const bool is_slow = id_of(point) <= noisy && launch++ % 3 != 0;
    return launch_of(iterations, is_slow ? 1000.0 * longer : 1000.0);
  };
}

std::vector<Warning> warnings_called(const ProbeResult& result, std::string_view code) {
  std::vector<Warning> found;
  std::copy_if(result.warnings.begin(), result.warnings.end(), std::back_inserter(found),
               [&](const Warning& warning) { return warning.code == code; });
  return found;
}

std::set<std::uint64_t> visits_of(const Point& point) {
  std::set<std::uint64_t> visits;
  for (const Sample& sample : point.samples) visits.insert(sample.visit);
  return visits;
}

TEST_CASE("intervals that stay wider than 5 % at more than a tenth of the points are told") {
  const auto warnings = [](std::int64_t noisy, double longer) {
    FakeBackend backend(noisy_points(noisy, longer));
    return warnings_called(
        measure(fake_probe(), backend, request_of_points(20), ample_budget(), {}),
        "wide_intervals");
  };
  CHECK(warnings(0, 1.1).empty());
  CHECK(warnings(2, 1.1).empty());    // a tenth
  CHECK(warnings(20, 1.04).empty());  // narrow enough
  const auto some = warnings(3, 1.1);
  REQUIRE(some.size() == 1);
  CHECK(some[0].facts.integer("points") == 3);
  CHECK(some[0].facts.integer("of_points") == 20);
  // The width is from the minimum, 1000 ns, to the median, 1100 ns.
  CHECK(std::get<double>(*some[0].facts.find("widest_share")) == doctest::Approx(0.1));
}

/// Plan of one point whose samples are whole launches timed by events.
Plan one_whole_launch(const DeviceInfo&, const Request&) {
  Point point = fake_point("near", 1);
  point.parameters.set("timer", std::string("event"));
  return {{point}, {}};
}

TEST_CASE("whole launches are done when the whole interval is narrow, and not one half of it") {
  // Every third launch is 10 % faster, so that the lower quartile differs from the median and the
  // upper quartile.
  FakeBackend backend([launch = 0](const Point&, std::uint64_t iterations) mutable {
    return launch_of(iterations, launch++ % 3 == 0 ? 900.0 : 1000.0);
  });
  Probe probe = fake_probe();
  probe.plan = one_whole_launch;
  const ProbeResult result = measure(probe, backend, {}, ample_budget(), {});
  REQUIRE(result.points.size() == 1);
  CHECK(visits_of(result.points[0]).size() == 5);
  FakeBackend steady(
      [](const Point&, std::uint64_t iterations) { return launch_of(iterations, 1000.0); });
  CHECK(visits_of(measure(probe, steady, {}, ample_budget(), {}).points[0]).size() == 2);
}

TEST_CASE("drift is followed from eight points on, by a visit of the first after each 16") {
  const auto visits_of_first = [](std::uint64_t points) {
    FakeBackend backend(noisy_points(20, 1.5));
    Budget budget = ample_budget();
    budget.max_visits = 10;
    measure(fake_probe(), backend, request_of_points(points), budget, {});
    return std::count(backend.visited().begin(), backend.visited().end(), 1);
  };
  CHECK(visits_of_first(7) == 10);
  CHECK(visits_of_first(8) == 10 + 80 / 16);
  CHECK(visits_of_first(10) == 10 + 100 / 16);
}

Plan with_references(const DeviceInfo& device, const Request& request) {
  Plan plan = fake_plan(device, request);
  plan.references = {{ReferenceKind::core, 0}, {ReferenceKind::memory, 19}};
  return plan;
}

/// Slows down preparation, so that sixteen points take longer than the minimum time between
/// references. The last point stays fast to prepare.
void make_slow(FakeBackend& backend) {
  backend.on_prepare([&](const Point& point) {
    if (id_of(point) != 20) backend.wait(std::chrono::milliseconds(20));
  });
}

TEST_CASE("reference points are those of the plan, and what they took is told with its time") {
  Probe probe = fake_probe();
  probe.plan = with_references;
  Observer observer;
  observer.began -= std::chrono::seconds(100);
  FakeBackend backend(noisy_points(0, 1.0));
  make_slow(backend);
  const ProbeResult result =
      measure(probe, backend, request_of_points(20), ample_budget(), observer);
  REQUIRE(result.references.size() == 2);
  CHECK(result.references[0].kind == ReferenceKind::core);
  CHECK(result.references[1].kind == ReferenceKind::memory);
  CHECK(result.references[1].series == "near");
  CHECK(result.references[1].parameters == fake_point("near", 20).parameters);
  for (const Reference& each : result.references) {
    REQUIRE(each.moments.size() == 2);  // of 40 visits
    for (const Moment& moment : each.moments) {
      CHECK(moment.at_seconds >= 100.0);
      CHECK(moment.at_seconds < 200.0);
      CHECK(moment.ns == doctest::Approx(1000.0));
    }
  }
}

// Plan of twenty points, of which the last two are references with their own buffers.
Plan with_references_alone(const DeviceInfo& device, const Request&) {
  Plan plan = fake_plan(device, request_of_points(20));
  const auto alone = [&](std::size_t index) {
    PointAlone point{plan.points[index], mebibytes(64)};
    point.point.facts.set("buffer_bytes", std::int64_t{64});
    return point;
  };
  plan.references = {{ReferenceKind::core, 18, alone(18)}, {ReferenceKind::memory, 19, alone(19)}};
  return plan;
}

std::set<std::int64_t> kept_of(Bytes device_memory, Bytes requested_memory) {
  Probe probe = fake_probe();
  probe.plan = with_references_alone;
  DeviceInfo info = fake_info();
  info.global_memory = device_memory;
  FakeBackend backend(noisy_points(0, 1.0), info);
  make_slow(backend);
  Request request;
  request.max_memory = requested_memory;
  const ProbeResult result = measure(probe, backend, request, ample_budget(), {});
  REQUIRE(result.references.size() == 2);
  for (const Reference& each : result.references) {
    CHECK(!each.moments.empty());
    CHECK(each.parameters.find("buffer_bytes") == nullptr);
  }
  std::set<std::int64_t> sizes;
  for (const Point& each : backend.kept()) {
    CHECK(each.facts.integer("buffer_bytes") == 64);
    CHECK(each.samples.empty());
    sizes.insert(id_of(each));
  }
  return sizes;
}

TEST_CASE("references keep what they have where that is an eighth of the device's memory at most") {
  using Sizes = std::set<std::int64_t>;
  CHECK(kept_of(gibibytes(1), {}) == Sizes{19, 20});
  CHECK(kept_of(gibibytes(1) - Bytes{8}, {}) == Sizes{19});
  CHECK(kept_of(mebibytes(512), {}) == Sizes{19});
  CHECK(kept_of(mebibytes(512) - Bytes{8}, {}).empty());
  // A requested limit applies to all buffers.
  CHECK(kept_of(gibibytes(1), gibibytes(1)).empty());
}

/// Plan of five points, of which the first two and the fourth are references. The fourth keeps no
/// buffers.
Plan reference_plan(const DeviceInfo& device, const Request&) {
  Plan plan = fake_plan(device, request_of_points(5));
  plan.references = {{ReferenceKind::core, 0, PointAlone{plan.points[0], Bytes{}}},
                     {ReferenceKind::memory, 1, PointAlone{plan.points[1], mebibytes(1)}},
                     {ReferenceKind::cache, 3}};
  return plan;
}

TEST_CASE("a control's kept references are visited beside other probes, and no point of its plan") {
  Probe control = fake_probe();
  control.plan = reference_plan;
  control.unit = Unit::bytes_per_second;
  DeviceInfo info = fake_info();
  info.global_memory = gibibytes(1);
  FakeBackend backend(noisy_points(0, 1.0), info);
  backend.on_prepare([&](const Point&) { backend.wait(std::chrono::milliseconds(5)); });
  const Probe fake = fake_probe();
  const Observer observer;
  const auto no_points = [] { return request_of_points(9); };
  Budget once = ample_budget();
  once.max_visits = 1;
  Engine engine({{.probe = &fake, .backend = &backend, .budget = once, .request = no_points},
                 {.probe = &control,
                  .backend = &backend,
                  .budget = once,
                  .request = [] { return Request{}; },
                  .references_from = std::chrono::seconds(0)}},
                {}, observer);
  engine.run();
  const std::vector<Reference>& references = engine.references(1);
  REQUIRE(references.size() == 3);
  CHECK(references[0].moments.size() == 1);
  CHECK(references[1].moments.size() == 1);
  CHECK(references[1].kind == ReferenceKind::memory);
  CHECK(references[1].is_rate);
  CHECK(references[2].moments.empty());
  CHECK(references[0].spent_seconds == doctest::Approx(5e-3).epsilon(0.05).scale(0));
  CHECK(backend.kept().size() == 2);
  CHECK(engine.result(0).elapsed_seconds == doctest::Approx(9 * 5e-3).epsilon(0.05).scale(0));
}

TEST_CASE("of a dear reference a moment has one visit, of others three") {
  constexpr int launches_a_visit = 2;
  const auto launches_of_last = [](std::chrono::milliseconds each) {
    Probe probe = fake_probe();
    probe.plan = with_references;
    int launches = 0;
    FakeBackend backend([&](const Point& point, std::uint64_t iterations) {
      if (id_of(point) == 20) {
        ++launches;
        backend.wait(each);
      }
      return launch_of(iterations, 1000.0);
    });
    make_slow(backend);
    measure(probe, backend, request_of_points(20), ample_budget(), {});
    return launches - 2 * launches_a_visit;  // minus the visits as a point of the plan
  };
  // The expensive reference is not due again within twenty times its duration.
  constexpr std::chrono::milliseconds long_time{30};
  CHECK(launches_of_last(long_time) == launches_a_visit);
  CHECK(launches_of_last({}) >= 3 * launches_a_visit);
}

TEST_CASE("points that are visited once have no reference but the plan's") {
  FakeBackend backend(noisy_points(0, 1.0));
  Budget budget = ample_budget();
  budget.max_visits = 1;
  measure(fake_probe(), backend, request_of_points(40), budget, {});
  CHECK(std::ssize(backend.visited()) == 40);
}

TEST_CASE("time on a simulated machine is not real, and nothing disturbs it") {
  DeviceInfo info = fake_info();
  info.type = DeviceType::simulated;
  FakeBackend backend(noisy_points(0, 1.0), info);
  Probe probe = fake_probe();
  probe.plan = with_references;
  CHECK(measure(probe, backend, request_of_points(40), ample_budget(), {}).references.empty());
}

TEST_CASE("a point that nobody chose for it stands for nothing") {
  FakeBackend backend(noisy_points(0, 1.0));
  CHECK(
      measure(fake_probe(), backend, request_of_points(40), ample_budget(), {}).references.empty());
}

TEST_CASE("an interrupt under the reference point is no drift that was not followed") {
  bool interrupted = false;
  FakeBackend backend(noisy_points(20, 1.5));
  backend.on_prepare([&, visited = false](const Point& point) mutable {
    if (id_of(point) != 1) return;
    if (visited && point.samples.empty()) {  // a reference visit, in which the worker dies
      interrupted = true;
      throw DeviceError("interrupted");
    }
    visited = true;
  });
  Observer observer;
  observer.cancelled = [&] { return interrupted; };
  const ProbeResult result =
      measure(fake_probe(), backend, request_of_points(20), ample_budget(), observer);
  CHECK(interrupted);
  CHECK(result.status == Status::interrupted);
  CHECK(warnings_called(result, "drift_not_followed").empty());
}

TEST_CASE("points that are refused for two reasons are two warnings") {
  FakeBackend backend(noisy_points(0, 1.0));
  backend.on_prepare([](const Point& point) {
    if (id_of(point) == 2) throw Unsupported("the driver runs no such group");
    if (id_of(point) >= 4) throw Unsupported("the driver takes no such size");
  });
  const ProbeResult result =
      measure(fake_probe(), backend, request_of_points(5), ample_budget(), {});
  const auto warnings = warnings_called(result, "point_refused");
  REQUIRE(warnings.size() == 2);
  std::int64_t points = 0;
  for (const Warning& warning : warnings) {
    const std::int64_t expected = warning.facts.text("reason").ends_with("group") ? 1 : 2;
    CHECK(warning.facts.integer("points") == expected);
    points += warning.facts.integer("points");
  }
  CHECK(points == 3);
}

}  // namespace
}  // namespace clprobe
