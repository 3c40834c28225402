// SPDX-License-Identifier: Apache-2.0
// The order of visits for given outcomes, without a device or a clock.
#include "measure/engine/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clprobe {
namespace {

using std::chrono::milliseconds;

Budget thrice() {
  Budget budget;
  budget.probe_time = std::chrono::hours(1);
  budget.min_visits = 3;
  budget.max_visits = 3;
  return budget;
}

PlannedProbe plan_of(std::size_t points, std::size_t references = 0, bool are_kept = false) {
  PlannedProbe plan;
  for (std::size_t i = 0; i < points; ++i) plan.points.push_back({.series = "near"});
  for (std::size_t i = 0; i < references; ++i) plan.references.push_back({.is_kept = are_kept});
  return plan;
}

/// Simulated run: by default each visit takes a millisecond, and its interval is narrow.
struct Play {
  std::vector<ScheduledProbe> probes{{.budget = thrice()}};
  std::vector<PlannedProbe> plans{plan_of(3)};
  SchedulePolicy policy{.shares_run = false};
  Seconds before{0.0};  // time of the run before this part
  std::function<Outcome(const Visit&)> outcome = [](const Visit&) {
    return Outcome{.took = milliseconds(1), .is_narrow = true};
  };
  std::vector<PlannedPoint> refined{};

  std::vector<Visit> visits{};
  std::vector<std::size_t> passes{};  // probes in the order in which their passes end
  std::vector<double> seconds{};      // start of each visit

  void run() {
    Schedule::Time now{};
    Schedule schedule(probes, policy, now);
    now += std::chrono::duration_cast<Schedule::Time::duration>(before);
    while (const auto step = schedule.next(now)) {
      const std::size_t probe = step->visit.probe;
      switch (step->kind) {
        case Step::Kind::plan:
          schedule.plan(probe, plans.at(probe), now, Seconds(0.0));
          break;
        case Step::Kind::refine:
          schedule.add_points(probe, refined, Seconds(0.0));
          break;
        case Step::Kind::pass_over:
          passes.push_back(probe);
          break;
        case Step::Kind::visit: {
          seconds.push_back(Seconds(now.time_since_epoch() - before).count());
          Outcome given = outcome(step->visit);
          if (step->visit.why == Why::reference) given.measuring = given.took;
          now += std::chrono::duration_cast<Schedule::Time::duration>(given.took);
          schedule.record(step->visit, given, now);
          visits.push_back(step->visit);
        }
      }
    }
    for (std::size_t i = 0; i < probes.size(); ++i) CHECK(schedule.is_done(i));
  }

  [[nodiscard]] std::vector<std::size_t> points(std::size_t probe = 0) const {
    std::vector<std::size_t> found;
    for (const Visit& each : visits) {
      if (each.probe == probe && each.why != Why::reference) found.push_back(each.point);
    }
    return found;
  }
  [[nodiscard]] std::ptrdiff_t count(std::size_t probe, std::size_t point,
                                     bool is_reference) const {
    return std::count_if(visits.begin(), visits.end(), [&](const Visit& each) {
      return each.probe == probe && each.point == point &&
             (each.why == Why::reference) == is_reference;
    });
  }
};

TEST_CASE("a pass visits each point once, in another order than the plan's; passes alternate") {
  Play play;
  play.probes = {{.budget = thrice()}, {.budget = thrice()}};
  play.plans = {plan_of(30), plan_of(2)};
  play.run();
  CHECK(play.passes == std::vector<std::size_t>{0, 1, 0, 1, 0, 1});
  const std::vector<std::size_t> points = play.points(0);
  REQUIRE(points.size() == 90);
  for (std::ptrdiff_t pass = 0; pass < 3; ++pass) {
    const std::vector<std::size_t> one(points.begin() + 30 * pass,
                                       points.begin() + 30 * (pass + 1));
    CHECK(std::set<std::size_t>(one.begin(), one.end()).size() == 30);
    CHECK_FALSE(std::is_sorted(one.begin(), one.end()));
  }
  Play again = play;
  again.visits.clear();
  again.run();
  CHECK(again.visits == play.visits);
  again.probes[0].budget.seed = 43;
  again.visits.clear();
  again.run();
  CHECK_FALSE(again.visits == play.visits);
}

TEST_CASE("a quick run makes all passes of a probe at once; groups follow each other") {
  Play play;
  play.probes = {{.budget = thrice()}, {.budget = thrice()}};
  play.plans = {plan_of(2), plan_of(2)};
  play.policy.is_quick = true;
  play.run();
  CHECK(play.passes == std::vector<std::size_t>{0, 0, 0, 1, 1, 1});
  Play pairs;
  const ScheduledProbe first{.budget = thrice()};
  const ScheduledProbe second{.budget = thrice(), .group = 1};
  pairs.probes = {first, second, first, second};
  pairs.plans.assign(4, plan_of(2));
  pairs.run();
  CHECK(pairs.passes == std::vector<std::size_t>{0, 2, 0, 2, 0, 2, 1, 3, 1, 3, 1, 3});
}

TEST_CASE("a point of each series comes first, and points that ask for it come often") {
  Play play;
  play.plans = {plan_of(40)};
  play.plans[0].points[38].series = "second";
  play.plans[0].points[39].series = "third";
  play.plans[0].points[5].visits_per_pass = 4;
  play.run();
  const std::vector<std::size_t> points = play.points();
  const std::set<std::size_t> first(points.begin(), points.begin() + 3);
  CHECK(first.contains(38));
  CHECK(first.contains(39));
  // The point is visited four times in each pass of 43 visits, evenly spread.
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < 43; ++i) {
    if (points[i] == 5) positions.push_back(i);
  }
  REQUIRE(positions.size() == 4);
  CHECK(positions[2] - positions[0] >= 18);
  CHECK(play.count(0, 5, false) == 12);
}

TEST_CASE("a narrow interval ends a point after the fewest visits, a wide one goes on") {
  Play play;
  play.probes[0].budget.min_visits = 2;
  play.probes[0].budget.max_visits = 6;
  play.plans = {plan_of(20)};
  std::size_t wide = 3;
  play.outcome = [&](const Visit& visit) {
    return Outcome{.took = milliseconds(1), .is_narrow = visit.point >= wide};
  };
  play.run();
  CHECK(play.count(0, 3, false) == 2);
  CHECK(play.count(0, 2, false) == 6);
  CHECK(play.passes.size() == 6);
  // If at most a tenth of the points remain, they are finished at once.
  Play few = play;
  few.visits.clear();
  few.passes.clear();
  wide = 2;
  few.run();
  CHECK(few.count(0, 1, false) == 6);
  CHECK(few.passes.size() == 2);
}

TEST_CASE(
    "refused and failed points are not visited again, and refined ones come after the plan's") {
  Play play;
  play.plans = {plan_of(4)};
  play.plans[0].can_refine = true;
  play.refined = {{.series = "more"}, {.series = "more"}};
  play.outcome = [](const Visit& visit) {
    const auto kind = visit.point == 0   ? Outcome::Kind::refused
                      : visit.point == 1 ? Outcome::Kind::failed
                                         : Outcome::Kind::measured;
    return Outcome{.kind = kind, .took = milliseconds(1), .is_narrow = true};
  };
  play.run();
  CHECK(play.count(0, 0, false) == 1);
  CHECK(play.count(0, 1, false) == 1);
  CHECK(play.count(0, 5, false) == 3);
  CHECK(play.visits[4].why == Why::refined);
  CHECK(play.visits[5].why == Why::refined);
  // Few points are repeated until the minimum time, except refused and failed ones.
  play.visits.clear();
  play.probes[0].budget.min_time = milliseconds(1000);
  play.run();
  CHECK(play.count(0, 0, false) == 1);
  CHECK(play.count(0, 1, false) == 1);
  CHECK(play.count(0, 2, false) == 23);
}

TEST_CASE("when the time is used up points are left out; the first visit is spared") {
  Play play;
  play.plans = {plan_of(10)};
  play.probes[0].budget.probe_time = milliseconds(4);
  play.outcome = [count = 0](const Visit&) mutable {
    return Outcome{.took = milliseconds(count++ == 0 ? 1000 : 1), .is_narrow = true};
  };
  const auto visits_of = [&](bool is_ordered, milliseconds spared, bool has_limit) {
    Play run = play;
    run.plans[0].is_ordered = is_ordered;
    run.probes[0].budget.first_visit_time = spared;
    run.probes[0].has_limit = has_limit;
    run.run();
    return run.visits.size();
  };
  CHECK(visits_of(false, milliseconds(0), true) == 6);
  CHECK(visits_of(true, milliseconds(2000), true) == 6);
  CHECK(visits_of(true, milliseconds(0), true) == 1);
  CHECK(visits_of(false, milliseconds(0), false) == 30);
}

TEST_CASE("urgent points are visited until they are known, and leave a fifth of the time") {
  Play play;
  play.plans = {plan_of(10)};
  PlannedProbe& plan = play.plans[0];
  plan.is_ordered = true;
  plan.urgent = 3;
  plan.min_urgent_visits = 2;
  plan.max_urgent_visits = 4;
  play.run();
  const std::vector<std::size_t> points = play.points();
  const std::vector<std::size_t> first(points.begin(), points.begin() + 8);
  CHECK(first == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 3, 4});
  Play wide = play;
  wide.visits.clear();
  wide.outcome = [](const Visit&) { return Outcome{.took = milliseconds(1)}; };
  wide.probes[0].budget.probe_time = milliseconds(10);
  wide.run();
  // The first of the 10 ms is not counted; urgent visits stop after 8 ms.
  CHECK(wide.points()[9] == 0);
  CHECK(wide.points()[10] == 3);
}

TEST_CASE("a simulated point is done at once") {
  Play play;
  play.probes[0].is_simulated = true;
  play.outcome = [](const Visit&) { return Outcome{.took = milliseconds(1)}; };
  play.run();
  CHECK(play.visits.size() == 3);
}

TEST_CASE("references are visited each sixteen points, 0.3 s apart, a twentieth of the time") {
  Play play;
  play.plans = {plan_of(40, 1)};
  const auto count = [&](milliseconds point, milliseconds reference) {
    Play run = play;
    run.outcome = [=](const Visit& visit) {
      return Outcome{.took = visit.why == Why::reference ? reference : point, .is_narrow = true};
    };
    run.run();
    return run.count(0, 0, true);
  };
  CHECK(count(milliseconds(20), milliseconds(1)) == 7);  // every sixteenth of 120 visits
  CHECK(count(milliseconds(10), milliseconds(1)) == 4);
  CHECK(count(milliseconds(1), milliseconds(1)) == 1);
  CHECK(count(milliseconds(20), milliseconds(40)) == 3);
  // A reference that is not stored shows drift of a short probe and has no minimum time.
  play.plans[0].references[0].is_stored = false;
  CHECK(count(milliseconds(1), milliseconds(1)) == 7);
  // A failed reference is not visited again.
  play.outcome = [](const Visit& visit) {
    const bool is_reference = visit.why == Why::reference;
    return Outcome{.kind = is_reference ? Outcome::Kind::failed : Outcome::Kind::measured,
                   .took = milliseconds(20),
                   .is_narrow = true};
  };
  play.run();
  CHECK(play.count(0, 0, true) == 1);
}

TEST_CASE("kept references are visited between the points of other probes, in the run's time") {
  Play play;
  play.policy.shares_run = true;
  play.probes = {{.budget = thrice()}, {.budget = thrice()}, {.budget = thrice()}};
  play.probes[2].references_from = Seconds(1.0);
  play.plans = {plan_of(10, 1, true), plan_of(40), plan_of(5, 2, true)};
  play.outcome = [](const Visit& visit) {
    return Outcome{.took = milliseconds(visit.why == Why::reference ? 1 : 100), .is_narrow = true};
  };
  play.run();
  const double all = play.seconds.back();
  CHECK(all > 14.0);
  // The references of a probe are visited once a second, those of a reference-only probe every 0.3
  // s from its start time.
  CHECK(play.count(0, 0, true) > 0.7 * all);
  CHECK(play.count(0, 0, true) < 1.3 * all);
  CHECK(play.count(2, 1, true) > 0.7 * all / 0.4);
  CHECK(play.count(2, 1, true) < all / 0.3);
  CHECK(play.points(2).empty());
  for (std::size_t i = 0; i < play.visits.size(); ++i) {
    if (play.visits[i].probe == 2) CHECK(play.seconds[i] >= 1.0);
  }
  // References of a reference-only probe may take a hundredth of the time.
  Play expensive = play;
  expensive.visits.clear();
  expensive.outcome = [](const Visit& visit) {
    const bool is_reference_only = visit.probe == 2;
    return Outcome{.took = milliseconds(is_reference_only ? 20 : 100), .is_narrow = true};
  };
  expensive.run();
  CHECK(expensive.count(2, 1, true) < 0.6 * all);
}

TEST_CASE("a cheap probe is visited again while others are measured, at most a dozen times") {
  Play play;
  play.policy.shares_run = true;
  play.probes = {{.budget = thrice()}, {.budget = thrice()}};
  play.probes[0].budget.min_visits = 1;
  play.probes[1].budget.max_visits = 20;
  play.probes[1].budget.min_visits = 20;
  play.plans = {plan_of(2), plan_of(10)};
  play.outcome = [](const Visit& visit) {
    const bool is_wide = visit.probe == 0 && visit.point == 1;
    return Outcome{.took = milliseconds(visit.probe == 0 ? 1 : 100), .is_narrow = !is_wide};
  };
  play.run();
  CHECK(play.count(0, 0, false) == 1);
  CHECK(play.count(0, 1, false) == 12);  // its interval stays wide
  Play narrow = play;
  narrow.visits.clear();
  narrow.outcome = [](const Visit& visit) {
    return Outcome{.took = milliseconds(visit.probe == 0 ? 1 : 100), .is_narrow = true};
  };
  narrow.run();
  CHECK(narrow.count(0, 0, false) == 3);  // as often as its budget allows
  // A probe that takes more than 8 % of the run is not visited again.
  Play expensive = play;
  expensive.visits.clear();
  expensive.outcome = [](const Visit&) {
    return Outcome{.took = milliseconds(100), .is_narrow = true};
  };
  expensive.run();
  CHECK(expensive.count(0, 0, false) == 3);
  expensive.visits.clear();
  expensive.plans[1] = plan_of(2);
  expensive.probes[1].budget = thrice();
  expensive.run();
  CHECK(expensive.count(0, 0, false) == 1);
}

}  // namespace
}  // namespace clprobe
