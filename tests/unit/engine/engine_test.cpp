// SPDX-License-Identifier: Apache-2.0
#include "measure/api/engine.hpp"
#include "clprobe/point_facts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_device.hpp"

namespace clprobe {
namespace {

/// Returns a budget that no test reaches, so that results do not depend on the machine's speed.
Budget ample_budget() {
  Budget budget;
  budget.probe_time = std::chrono::hours(1);
  return budget;
}

Answer steady(double ns = 1.0) {
  return [ns](const Point&, std::uint64_t iterations) { return launch_of(iterations, ns); };
}

/// Answers in which every second and third launch takes 1.5 times as long: intervals stay wide.
Answer noisy() {
  return [launch = 0](const Point&, std::uint64_t iterations) mutable {
    return launch_of(iterations, launch++ % 3 == 0 ? 1.0 : 1.5);
  };
}

std::int64_t id_of(const Point& point) { return point.parameters.integer("working_set_bytes"); }

const Point* find_point(const ProbeResult& result, std::int64_t id) {
  const auto found = std::find_if(result.points.begin(), result.points.end(),
                                  [&](const Point& point) { return id_of(point) == id; });
  return found == result.points.end() ? nullptr : &*found;
}

std::set<std::uint64_t> visits_of(const Point& point) {
  std::set<std::uint64_t> visits;
  for (const Sample& sample : point.samples) visits.insert(sample.visit);
  return visits;
}

std::vector<Warning> warnings_called(const ProbeResult& result, std::string_view code) {
  std::vector<Warning> found;
  std::copy_if(result.warnings.begin(), result.warnings.end(), std::back_inserter(found),
               [&](const Warning& warning) { return warning.code == code; });
  return found;
}

ProbeResult measure_fake(FakeBackend& backend, const Request& request,
                         const Budget& budget = ample_budget(), const Observer& observer = {}) {
  return measure(fake_probe(), backend, request, budget, observer);
}

TEST_CASE("what was measured is in the result") {
  FakeBackend backend(steady());
  const ProbeResult result = measure_fake(backend, request_of_points(3));
  CHECK(result.probe == "fake");
  CHECK(result.unit == Unit::seconds);
  CHECK(result.status == Status::ok);
  CHECK(result.reason.empty());
  CHECK(result.warnings.empty());
  REQUIRE(result.points.size() == 3);
  CHECK(id_of(result.points[0]) == 1);  // order of the plan
  CHECK(id_of(result.points[2]) == 3);
  CHECK(result.points[0].facts.text("page_kind") == "huge");
  CHECK(result.findings.size() == 3);
  // All points share one build, which is stored once.
  CHECK(result.kernels == std::vector<KernelBuild>{{"0123", "-DSERIES=near"}});
}

TEST_CASE("points are visited in an order that the seed decides and that is not the plan's") {
  const auto order = [](std::uint64_t seed) {
    FakeBackend backend(steady());
    Budget budget = ample_budget();
    budget.seed = seed;
    measure_fake(backend, request_of_points(7), budget);
    return backend.visited();
  };
  const auto first = order(1);
  CHECK(first == order(1));
  CHECK(first != order(2));
  CHECK_FALSE(std::is_sorted(first.begin(), first.begin() + 7));
  // The second pass has another order, so that no point always follows the same point.
  REQUIRE(first.size() == 14);
  CHECK_FALSE(std::equal(first.begin(), first.begin() + 7, first.begin() + 7));
}

TEST_CASE("repeats of a point are spread over the run: each round visits each point once") {
  FakeBackend backend(noisy());
  const ProbeResult result = measure_fake(backend, request_of_points(7));
  const auto& visited = backend.visited();
  REQUIRE(visited.size() == 7 * 5);
  for (std::size_t pass = 0; pass < 5; ++pass) {
    const auto begin = visited.begin() + static_cast<std::ptrdiff_t>(pass * 7);
    CHECK(std::set<std::int64_t>(begin, begin + 7).size() == 7);
  }
  for (const Point& point : result.points) {
    CHECK(point.samples.size() == 5 * 3);
    CHECK(visits_of(point) == std::set<std::uint64_t>{0, 1, 2, 3, 4});
    CHECK(std::is_sorted(point.samples.begin(), point.samples.end(),
                         [](const Sample& a, const Sample& b) { return a.visit < b.visit; }));
  }
}

TEST_CASE("a point with a narrow interval ends after the fewest visits, a wide one goes on") {
  FakeBackend backend([launch = 0](const Point& point, std::uint64_t iterations) mutable {
    const bool is_noisy = id_of(point) == 2;
    return launch_of(iterations, is_noisy && launch++ % 3 != 0 ? 1.5 : 1.0);
  });
  Budget budget = ample_budget();
  budget.min_visits = 3;
  budget.max_visits = 6;
  const ProbeResult result = measure_fake(backend, request_of_points(3), budget);
  CHECK(visits_of(*find_point(result, 1)).size() == 3);
  CHECK(visits_of(*find_point(result, 2)).size() == 6);
  CHECK(visits_of(*find_point(result, 3)).size() == 3);
}

TEST_CASE("points that are to be visited often are so in each round, in parts of it") {
  Probe probe = fake_probe();
  probe.plan = [](const DeviceInfo& device, const Request& request) {
    Plan plan = fake_plan(device, request);
    plan.points[1].facts.set(visited_often, std::int64_t{3});
    return plan;
  };
  FakeBackend backend(noisy());
  const ProbeResult result = measure(probe, backend, request_of_points(7), ample_budget(), {});
  const auto& visited = backend.visited();
  REQUIRE(visited.size() == 9 * 5);
  for (std::size_t pass = 0; pass < 5; ++pass) {
    const auto begin = visited.begin() + static_cast<std::ptrdiff_t>(pass * 9);
    CHECK(std::set<std::int64_t>(begin, begin + 9).size() == 7);
    std::vector<std::ptrdiff_t> positions;
    for (auto at = begin; at != begin + 9; ++at) {
      if (*at == 2) positions.push_back(at - begin);
    }
    REQUIRE(positions.size() == 3);
    CHECK(positions[1] - positions[0] >= 2);
    CHECK(positions[2] - positions[1] >= 2);
  }
  CHECK(visits_of(*find_point(result, 2)).size() == 15);
  // With a narrow interval, the point gets three times the minimum number of visits.
  FakeBackend quiet(steady());
  const ProbeResult narrow = measure(probe, quiet, request_of_points(7), ample_budget(), {});
  CHECK(visits_of(*find_point(narrow, 2)).size() == 6);
  CHECK(visits_of(*find_point(narrow, 1)).size() == 2);
}

TEST_CASE("a wider relative interval is met sooner") {
  FakeBackend backend(noisy());
  Budget budget = ample_budget();
  budget.relative_interval = 0.6;
  const ProbeResult result = measure_fake(backend, request_of_points(3), budget);
  for (const Point& point : result.points) CHECK(visits_of(point).size() == 2);
}

TEST_CASE("a failing point keeps its reason, is not tried again and does not end the probe") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (id_of(point) == 3) throw DeviceError("clFinish: CL_OUT_OF_RESOURCES (-5) in fake");
  });
  const ProbeResult result = measure_fake(backend, request_of_points(7));
  REQUIRE(result.points.size() == 7);
  CHECK(find_point(result, 3)->failure == "clFinish: CL_OUT_OF_RESOURCES (-5) in fake");
  CHECK(find_point(result, 3)->samples.empty());
  CHECK(std::count(backend.visited().begin(), backend.visited().end(), 3) == 1);
  for (const std::int64_t id : {1, 2, 4, 5, 6, 7}) {
    CHECK(find_point(result, id)->failure.empty());
    CHECK(visits_of(*find_point(result, id)).size() == 2);
  }
  // Findings come from the measured points; the status shows that a point failed.
  CHECK(result.findings.size() == 6);
  CHECK(result.status == Status::failed);
  CHECK(result.reason.starts_with("1 of 7 points failed"));
  CHECK(result.reason.find("CL_OUT_OF_RESOURCES") != std::string::npos);
}

TEST_CASE("a point that fails at a later visit keeps the samples of the earlier ones") {
  FakeBackend backend(noisy());
  backend.on_prepare([visits = 0](const Point& point) mutable {
    if (id_of(point) == 1 && ++visits == 3) throw DeviceError("lost");
  });
  const ProbeResult result = measure_fake(backend, request_of_points(2));
  CHECK(visits_of(*find_point(result, 1)) == std::set<std::uint64_t>{0, 1});
  // Earlier samples stay valid, but the status shows that the run is incomplete.
  CHECK(find_point(result, 1)->failure.empty());
  CHECK(result.status == Status::failed);
  CHECK(result.reason == "1 point failed when measured again; first failure: lost");
}

TEST_CASE("a probe of which all points fail has failed") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point&) { throw DeviceError("lost"); });
  const ProbeResult result = measure_fake(backend, request_of_points(20));
  CHECK(result.status == Status::failed);
  CHECK(result.reason.starts_with("20 of 20 points failed"));
  CHECK(result.points.size() == 20);
  CHECK(result.findings.empty());
}

TEST_CASE("a wrong witness fails the point and says that the result is wrong") {
  FakeBackend backend([](const Point& point, std::uint64_t iterations) {
    Measurement measurement = launch_of(iterations, 0.001);
    if (id_of(point) == 2) measurement.sample.witness = 0;
    return measurement;
  });
  const ProbeResult result = measure_fake(backend, request_of_points(3));
  CHECK(result.status == Status::failed);
  CHECK(find_point(result, 2)->failure.find("wrong result") != std::string::npos);
  CHECK(find_point(result, 2)->samples.empty());
  CHECK(find_point(result, 1)->failure.empty());
}

TEST_CASE("points that the device refuses are a warning, and no failure") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (id_of(point) == 5) throw Unsupported("the driver takes no 5 B of constants");
  });
  const ProbeResult result = measure_fake(backend, request_of_points(5));
  CHECK(result.status == Status::ok);
  CHECK(result.points.size() == 4);
  const auto warnings = warnings_called(result, "point_refused");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].facts.text("series") == "near");
  CHECK(warnings[0].facts.text("reason") == "the driver takes no 5 B of constants");
  CHECK(warnings_called(result, "time_budget_short").empty());
  CHECK(result.findings.size() == 4);
  CHECK(std::count(backend.visited().begin(), backend.visited().end(), 5) == 1);
}

TEST_CASE("a series that the device refuses is one finding without a value, and no failure") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (point.series == "image") throw Unsupported("no image of a buffer");
  });
  Request request = request_of_points(4);
  request.series = {"near", "image"};
  const ProbeResult result = measure_fake(backend, request);
  CHECK(result.status == Status::ok);
  CHECK(result.points.size() == 4);
  CHECK(result.warnings.empty());
  REQUIRE(result.findings.size() == 5);
  const Finding& refused = result.findings.back();
  CHECK(refused.series == "image");
  CHECK_FALSE(refused.value.has_value());
  CHECK(refused.reason == "no image of a buffer");
  CHECK(refused.source == Source::reported);
}

TEST_CASE("a probe of which the device refuses everything is unsupported, and says why") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point&) { throw Unsupported("no image of a buffer"); });
  const ProbeResult result = measure_fake(backend, request_of_points(3));
  CHECK(result.status == Status::unsupported);
  CHECK(result.reason == "no image of a buffer");
  CHECK(result.points.empty());
  CHECK(result.findings.size() == 1);
}

TEST_CASE("a plan without points is unsupported, with what the plan found") {
  Probe probe = fake_probe();
  probe.plan = [](const DeviceInfo&, const Request&) {
    Finding finding;
    finding.series = "local";
    finding.reason = "the device has no local memory";
    Plan plan;
    plan.findings.push_back(finding);
    return plan;
  };
  FakeBackend backend(steady());
  const ProbeResult result = measure(probe, backend, {}, ample_budget(), {});
  CHECK(result.status == Status::unsupported);
  CHECK(result.reason == "the device has no local memory");
  CHECK(result.findings.size() == 1);
}

TEST_CASE("why a probe measured nothing is what most of its series say") {
  Probe probe = fake_probe();
  probe.plan = [](const DeviceInfo&, const Request&) {
    Plan plan;
    for (const char* const reason : {"no queues without order", "no trace", "no trace"}) {
      plan.findings.emplace_back();
      plan.findings.back().reason = reason;
    }
    return plan;
  };
  FakeBackend backend(steady());
  CHECK(measure(probe, backend, {}, ample_budget(), {}).reason == "no trace");
}

TEST_CASE("an interrupt in the middle keeps the samples and is no failure") {
  FakeBackend backend(noisy());
  Observer observer;
  observer.cancelled = [&] { return backend.launches() >= 12; };
  const ProbeResult result = measure_fake(backend, request_of_points(7), ample_budget(), observer);
  CHECK(result.status == Status::interrupted);
  CHECK_FALSE(result.reason.empty());
  CHECK(result.points.size() == 4);
  CHECK(result.findings.size() == 4);
  CHECK(backend.launches() == 12);
  CHECK(warnings_called(result, "time_budget_short").empty());
}

TEST_CASE("an error that the interrupt caused is not the device's") {
  bool interrupted = false;
  FakeBackend backend(steady());
  backend.on_prepare([&](const Point&) {
    if (backend.visited().size() < 3) return;
    interrupted = true;  // the worker process was killed during the visit
    throw DeviceError("interrupted");
  });
  Observer observer;
  observer.cancelled = [&] { return interrupted; };
  const ProbeResult result = measure_fake(backend, request_of_points(7), ample_budget(), observer);
  CHECK(result.status == Status::interrupted);
  CHECK(result.points.size() == 2);
  for (const Point& point : result.points) CHECK(point.failure.empty());
}

TEST_CASE("an interrupt before the first point leaves an empty result") {
  FakeBackend backend(steady());
  Observer observer;
  observer.cancelled = [] { return true; };
  const ProbeResult result = measure_fake(backend, request_of_points(7), ample_budget(), observer);
  CHECK(result.status == Status::interrupted);
  CHECK(result.points.empty());
  CHECK(backend.launches() == 0);
}

TEST_CASE("the time budget cuts the run, which says so and keeps what it has") {
  FakeBackend backend(steady());
  Budget budget = ample_budget();
  budget.probe_time = std::chrono::nanoseconds(1);
  const ProbeResult result = measure_fake(backend, request_of_points(7), budget);
  // The first visit prepares shared buffers and is not counted; the second exceeds the budget.
  CHECK(result.points.size() == 2);
  CHECK(result.status == Status::ok);
  const auto warnings = warnings_called(result, "time_budget_short");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].facts.integer("measured") == 2);
  CHECK(warnings[0].facts.integer("planned") == 7);
}

Probe ordered_probe() {
  Probe ordered = fake_probe();
  ordered.plan = [](const DeviceInfo& device, const Request& request) {
    Plan plan = fake_probe().plan(device, request);
    plan.is_ordered = true;
    return plan;
  };
  return ordered;
}

TEST_CASE("of the first visit of an ordered plan a budget spares so much and no more") {
  const auto points_measured = [](const Probe& probe, std::chrono::duration<double> spared) {
    FakeBackend backend(steady());
    backend.on_prepare([&, is_first = true](const Point&) mutable {
      if (std::exchange(is_first, false)) backend.wait(std::chrono::seconds(1));
    });
    Budget budget = ample_budget();
    budget.probe_time = std::chrono::milliseconds(900);
    budget.first_visit_time = spared;
    return measure(probe, backend, request_of_points(7), budget, {}).points.size();
  };
  CHECK(points_measured(ordered_probe(), std::chrono::seconds(0)) == 1);
  CHECK(points_measured(ordered_probe(), std::chrono::seconds(1)) > 1);
  CHECK(points_measured(fake_probe(), std::chrono::seconds(0)) > 1);
}

TEST_CASE("points of an ordered plan are visited in its order first, and shuffled from then on") {
  FakeBackend backend(noisy());
  measure(ordered_probe(), backend, request_of_points(7), ample_budget(), {});
  const std::vector<std::int64_t>& visited = backend.visited();
  REQUIRE(visited.size() >= 14);
  CHECK(std::is_sorted(visited.begin(), visited.begin() + 7));
  CHECK_FALSE(std::is_sorted(visited.begin() + 7, visited.begin() + 14));
}

Budget budget_of_first_look() {
  Budget budget = ample_budget();
  budget.min_visits = 1;
  budget.max_visits = 1;
  return budget;
}

TEST_CASE("urgent points are visited until they are sure before the others are begun") {
  FakeBackend backend([launch = 0](const Point& point, std::uint64_t iterations) mutable {
    const bool is_wide = id_of(point) == 2 && launch++ % 3 != 0;
    return launch_of(iterations, is_wide ? 1.5 : 1.0);
  });
  measure(urgent_probe(), backend, request_of_points(6), budget_of_first_look(), {});
  const std::vector<std::int64_t> wanted{1, 2, 3, 1, 2, 3, 2, 2, 4, 5, 6};
  CHECK(backend.visited() == wanted);
}

TEST_CASE("urgent points leave the others a fifth of the time") {
  const auto visited_in = [](std::chrono::milliseconds time) {
    FakeBackend backend(noisy());
    backend.on_prepare([&](const Point&) { backend.wait(std::chrono::milliseconds(100)); });
    Budget budget = budget_of_first_look();
    budget.probe_time = time;
    measure(urgent_probe(), backend, request_of_points(6), budget, {});
    return backend.visited();
  };
  // The first visit is not counted, and each urgent point is visited at least once.
  CHECK(visited_in(std::chrono::milliseconds(620)) ==
        std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 4, 5});
  CHECK(visited_in(std::chrono::milliseconds(130)) == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("a budget that names no time takes the effort's") {
  FakeBackend backend(steady());
  const ProbeResult result = measure_fake(backend, request_of_points(7), Budget{});
  CHECK(result.points.size() == 7);
  CHECK(warnings_called(result, "time_budget_short").empty());
}

TEST_CASE("more effort takes more visits, for narrower intervals") {
  const Budget quick = usual_budgets.of(Effort::quick);
  const Budget normal = usual_budgets.of(Effort::normal);
  const Budget thorough = usual_budgets.of(Effort::thorough);
  CHECK(quick.probe_time < normal.probe_time);
  CHECK(normal.probe_time < thorough.probe_time);
  CHECK(quick.max_visits < normal.max_visits);
  CHECK(normal.max_visits < thorough.max_visits);
  CHECK(thorough.relative_interval < normal.relative_interval);
}

std::vector<Point> two_more(const DeviceInfo&, const Request&, std::span<const Point> points) {
  // The first pass is complete before the probe refines its points.
  CHECK(std::all_of(points.begin(), points.end(),
                    [](const Point& point) { return !point.samples.empty(); }));
  return {fake_point("near", 100), fake_point("near", 101)};
}

TEST_CASE("refined points are visited too, as often as the planned ones") {
  FakeBackend backend(noisy());
  Probe probe = fake_probe();
  probe.refine = two_more;
  const ProbeResult result = measure(probe, backend, request_of_points(4), ample_budget(), {});
  REQUIRE(result.points.size() == 6);
  CHECK(id_of(result.points[4]) == 100);
  for (const Point& point : result.points) CHECK(visits_of(point).size() == 5);
  CHECK(result.findings.size() == 6);
}

TEST_CASE("points of a series that was not planned say that another one called for them") {
  FakeBackend backend(steady());
  Probe probe = fake_probe();
  probe.refine = [](const DeviceInfo&, const Request&, std::span<const Point> planned) {
    return std::vector{fake_point(planned.front().series, 100), fake_point("called for", 101),
                       fake_point("called for", 102)};
  };
  const ProbeResult result = measure(probe, backend, request_of_points(4), ample_budget(), {});
  REQUIRE(result.points.size() == 7);
  for (const Point& point : result.points) {
    CHECK((point.facts.find(follow_up) != nullptr) == (point.series == "called for"));
  }
}

TEST_CASE("refined points are visited in shuffled order, so that noise does not follow the sizes") {
  FakeBackend backend(steady());
  Probe probe = fake_probe();
  probe.refine = [](const DeviceInfo&, const Request&, std::span<const Point>) {
    std::vector<Point> more;
    for (std::int64_t i = 0; i < 12; ++i) more.push_back(fake_point("near", 100 + i));
    return more;
  };
  Budget budget = ample_budget();
  budget.max_visits = 1;
  measure(probe, backend, request_of_points(2), budget, {});
  REQUIRE(backend.visited().size() == 14);
  CHECK_FALSE(std::is_sorted(backend.visited().begin() + 2, backend.visited().end()));
}

TEST_CASE("points that are refused for one reason share a warning") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (id_of(point) >= 3) throw Unsupported("the driver runs no such group");
  });
  const ProbeResult result = measure_fake(backend, request_of_points(5));
  const auto warnings = warnings_called(result, "point_refused");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].facts.integer("points") == 3);
}

TEST_CASE("few points are visited again until the least time, and what failed or was refused not") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (id_of(point) == 4) throw Unsupported("the driver takes no 4 B of constants");
    if (id_of(point) == 5) throw DeviceError("lost");
  });
  Budget budget = ample_budget();
  budget.min_time = std::chrono::hours(1);
  const ProbeResult result = measure_fake(backend, request_of_points(5), budget);
  CHECK(visits_of(*find_point(result, 1)).size() > 5);
  CHECK(std::count(backend.visited().begin(), backend.visited().end(), 4) == 1);
  CHECK(std::count(backend.visited().begin(), backend.visited().end(), 5) == 1);
  CHECK(warnings_called(result, "point_refused").size() == 1);
}

TEST_CASE("a device that slows down during the run is told") {
  const auto warnings_of = [](double ns) {
    FakeBackend backend([ns, launch = 0](const Point&, std::uint64_t iterations) mutable {
      return launch_of(iterations, ns * (1.0 + 0.001 * launch++));
    });
    return warnings_called(measure_fake(backend, request_of_points(50)), "clock_drift");
  };
  CHECK(warnings_of(1.0).empty());  // launches of a microsecond are too short
  const auto warnings = warnings_of(200.0);
  REQUIRE(warnings.size() == 1);
  const Value* const share = warnings[0].facts.find("drift_share");
  REQUIRE(share != nullptr);
  CHECK(std::get<double>(*share) > 0.02);
  CHECK(std::get<double>(*share) < 1.0);
}

TEST_CASE("waits of the host tell of no drift of the device") {
  Probe probe = fake_probe();
  probe.plan = [](const DeviceInfo& device, const Request& request) {
    Plan plan = fake_plan(device, request);
    for (Point& each : plan.points) each.parameters.set("timer", std::string("wait"));
    return plan;
  };
  FakeBackend backend([launch = 0](const Point&, std::uint64_t iterations) mutable {
    return launch_of(iterations, 200.0 * (1.0 + 0.001 * launch++));
  });
  const ProbeResult result = measure(probe, backend, request_of_points(50), ample_budget(), {});
  CHECK(warnings_called(result, "clock_drift").empty());
}

TEST_CASE("a steady device has no drift, and a reference's samples are not its point's") {
  FakeBackend backend(steady());
  const ProbeResult result = measure_fake(backend, request_of_points(50));
  CHECK(result.warnings.empty());
  CHECK(backend.visited().size() > 100);  // 50 points twice, and reference visits
  for (const Point& point : result.points) CHECK(point.samples.size() == 4);
}

TEST_CASE("a reference point that fails is given up") {
  FakeBackend backend(steady());
  backend.on_prepare([](const Point& point) {
    if (id_of(point) == 1) throw DeviceError("lost");
  });
  const ProbeResult result = measure_fake(backend, request_of_points(50));
  CHECK(result.reason.starts_with("1 of 50 points failed"));
}

TEST_CASE(
    "a reference point that fails when its point is done is told, since the point does not tell") {
  FakeBackend backend(steady());
  backend.on_prepare([visited = false](const Point& point) mutable {
    if (id_of(point) != 1) return;
    if (visited && point.samples.empty()) throw DeviceError("lost on the way");
    visited = true;
  });
  const ProbeResult result = measure_fake(backend, request_of_points(50));
  CHECK(find_point(result, 1)->failure.empty());
  CHECK(result.status == Status::ok);
  const auto warnings = warnings_called(result, "drift_not_followed");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].facts.text_or("reason", "") == "lost on the way");
}

TEST_CASE("progress is a share that reaches the end, and the time that is left") {
  FakeBackend backend(steady());
  std::vector<double> shares;
  std::vector<double> left;
  Observer observer;
  observer.progress = [&](std::size_t probe, double share, double seconds) {
    CHECK(probe == 0);
    shares.push_back(share);
    left.push_back(seconds);
  };
  measure_fake(backend, request_of_points(20), ample_budget(), observer);
  REQUIRE(shares.size() == 40);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.front() > 0.0);
  CHECK(shares.back() == doctest::Approx(1.0));
  CHECK(std::all_of(left.begin(), left.end(), [](double seconds) { return seconds >= 0.0; }));
}

TEST_CASE("what is left of a limit that nobody means to reach is told by the pace") {
  FakeBackend backend(steady());
  double max_seconds = 0.0;
  Observer observer;
  observer.progress = [&](std::size_t, double, double seconds) {
    max_seconds = std::max(max_seconds, seconds);
  };
  Budget budget = ample_budget();
  budget.probe_time = std::chrono::hours(24);
  CHECK(is_limit(budget));
  CHECK(expected_seconds(budget) < 60.0);
  measure_fake(backend, request_of_points(20), budget, observer);
  CHECK(max_seconds < 3600.0);
  budget.probe_time = std::chrono::minutes(59);
  CHECK(!is_limit(budget));
  CHECK(expected_seconds(budget) == 3540.0);
}

TEST_CASE("a probe without a clock is measured by slopes") {
  DeviceInfo info = fake_info();
  info.timer = Timer::event;
  info.clock = {};
  FakeBackend backend(steady(50.0), info);
  const ProbeResult result = measure_fake(backend, request_of_points(3));
  for (const Point& point : result.points) {
    std::map<std::uint64_t, int> counts;
    for (const Sample& sample : point.samples) ++counts[sample.accesses];
    CHECK(counts == std::map<std::uint64_t, int>{{125, 6}, {1000, 6}});
  }
}

TEST_CASE("a result declares what its probe does: unit, view, and what findings are for") {
  constexpr FindingSpec specs[]{
      {.name = "seen", .unit = "seconds", .role = Role::headline},
      {.name = "bound", .unit = "bytes", .role = Role::lower_bound, .better = Better::more}};
  Probe probe = fake_probe();
  probe.unit = Unit::bytes_per_second;
  probe.view = {.kind = ViewKind::heat_map,
                .x = "a",
                .y = "b",
                .value_title = "bandwidth",
                .scale = Scale::linear};
  probe.findings = specs;
  ProbeResult result;
  for (const auto& [name, unit] : {std::pair("seen", "seconds"), std::pair("bound", "bytes"),
                                   std::pair("else", "cycles"), std::pair("word", "")}) {
    Finding finding;
    finding.name = name;
    finding.unit = unit;
    result.findings.push_back(finding);
  }
  declare(probe, result);
  CHECK(result.unit == Unit::bytes_per_second);
  CHECK(result.view == View{ViewKind::heat_map, "a", "b", "bandwidth", Scale::linear});
  CHECK(result.findings[0].role == Role::headline);
  CHECK(result.findings[0].better == Better::less);
  CHECK(result.findings[1].role == Role::lower_bound);
  CHECK(result.findings[1].better == Better::more);
  CHECK(result.findings[2].role == Role::fact);
  CHECK(result.findings[2].better == Better::less);
  CHECK(result.findings[3].better == Better::unknown);
}

TEST_CASE("no declared share of a bar is above the whole, whoever wrote it") {
  const auto declared = [](std::string_view name, double value, double high) {
    Finding share;
    share.name = name;
    share.label = "unattributed";
    share.unit = "share";
    share.value = value;
    share.low = 0.5;
    share.high = high;
    ProbeResult result;
    result.findings = {share};
    declare(fake_probe(), result);
    return result.findings.front();
  };
  const Finding above = declared("stall", 1.07, 1.1);
  CHECK_FALSE(above.value);
  CHECK_FALSE(above.high);
  CHECK(above.reason ==
        "not known: unattributed would have a share of 107.0 %, which is above 100 %");
  CHECK_FALSE(declared("absorbed", 2.6, 4.0).value);
  const Finding whole = declared("stall", 1.0, 1.2);
  CHECK(whole.value == 1.0);
  CHECK(whole.high == 1.0);
  CHECK(declared("ratio", 1.07, 1.1).value == 1.07);
}

TEST_CASE("a second analysis renews its own findings and warnings, and leaves the others") {
  Probe probe = fake_probe();
  probe.analyse = [](const DeviceInfo& device, std::span<const Point> points) {
    Findings found = fake_analysis(device, points);
    found.warnings.push_back({"too_fast", {}, WarningSource::analysis});
    return found;
  };
  Point point = fake_point("near", 5);
  point.samples.resize(1);
  ProbeResult result;
  result.points = {point};
  Finding stale;
  stale.name = "stale";
  stale.method = "segmentation";
  Finding planned;
  planned.name = "planned";
  planned.method = "plan";
  result.findings = {stale, planned};
  result.warnings = {{"clock_drift", {}, WarningSource::engine},
                     {"small_pages", {}, WarningSource::analysis}};
  analyse_again(probe, fake_info(), result);
  REQUIRE(result.findings.size() == 2);
  CHECK(result.findings[1].name == "planned");
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0].code == "clock_drift");
  CHECK(result.warnings[1].code == "too_fast");
  // An imported result has no samples to analyse, so that only its declarations are renewed.
  result.points.clear();
  analyse_again(probe, fake_info(), result);
  CHECK(result.findings.size() == 2);
}

}  // namespace
}  // namespace clprobe
