// SPDX-License-Identifier: Apache-2.0
// Findings of `stalls` on devices: phases by clocks, ways to copy, and documents of other versions.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/stalls/points_test.hpp"

namespace clprobe::stalls {
namespace {

/// Returns points of `uts` and `utsd` with these ticks for each phase.
std::vector<Point> searches_with(const std::map<std::string, std::uint64_t>& ticks) {
  std::vector<Point> points = plan_of({"uts", "utsd"}).points;
  for (Point& point : points) {
    const std::string phase = point.parameters.text_or("phase", "");
    if (phase.empty()) {
      set_time(point, point.series == "uts" ? 1000 : 200);
    } else {
      set_ticks(point, ticks.at(phase));
    }
  }
  return points;
}

TEST_CASE("phases of a search are shares of all of it, and the speed-up stands by the thesis's") {
  const std::vector<Point> points = searches_with({{"locks", 5000},
                                                   {"queues", 2000},
                                                   {"nodes", 2000},
                                                   {"no work", 500},
                                                   {"all", 10000},
                                                   {"holds the common lock", 90},
                                                   {"tail", 3000},
                                                   {"longest-tail", 6000},
                                                   {"span", 15000}});
  const Findings found = analyse(gpu(), points);
  // The tail is 3000 of 15000 ticks of the span. The other phases divide the remaining 80 % by
  // their shares of the group's own 10000 ticks.
  CHECK(value_of(found, "stall", "uts", "idle: tail") == doctest::Approx(0.2));
  CHECK(value_of(found, "longest_tail", "uts") == doctest::Approx(0.4));
  CHECK(value_of(found, "stall", "uts", "synchronization: lock") == doctest::Approx(0.4));
  CHECK(value_of(found, "stall", "uts", "idle: no work") == doctest::Approx(0.04));
  CHECK(value_of(found, "stall", "uts", "unattributed") == doctest::Approx(0.04));
  CHECK(value_of(found, "here", "utsd, time, against uts") == doctest::Approx(0.2).epsilon(0.01));
  CHECK(value_of(found, "thesis", "utsd, time, against uts") == doctest::Approx(0.09));
  // Each group holds the lock for 90 ticks, one group at a time, of the 15000 ticks from the first
  // beginning to the last end.
  const auto groups = static_cast<double>(points.front().parameters.integer("groups"));
  CHECK(groups > 1.0);
  CHECK(value_of(found, "lock_in_use", "uts") == doctest::Approx(groups * 90 / 15000));
}

TEST_CASE("a search of an older version is not said to wait for less than it does") {
  std::vector<Point> points = searches_with({{"locks", 2500},
                                             {"queues", 500},
                                             {"nodes", 0},
                                             {"no work", 7000},
                                             {"all", 10000},
                                             {"holds the common lock", 90},
                                             {"tail", 0},
                                             {"longest-tail", 0},
                                             {"span", 10000}});
  const std::map<std::string, std::string> formerly{
      {"locks", "lock"}, {"queues", "queue"}, {"no work", "nothing to do"}};
  for (Point& point : points) {
    const auto former = formerly.find(point.parameters.text_or("phase", ""));
    if (former != formerly.end()) point.parameters.set("phase", former->second);
  }
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "stall", "uts", "idle: no work, or waiting for locks") ==
        doctest::Approx(0.7));
  CHECK(find(found, "stall", "uts", "synchronization: lock") == nullptr);
  CHECK(find(found, "stall", "uts", "idle: no work") == nullptr);
}

TEST_CASE("barriers and tails by clocks stand beside the ablation, as far as clocks reach") {
  DeviceInfo device = gpu();
  device.clock.overhead_ticks = 10;
  std::vector<Point> points = plan_of({"barrier"}, device).points;
  // Ticks of each iteration, including the overhead of two clock reads.
  const std::map<std::string, std::uint64_t> ticks{
      {"barrier", 310}, {"all", 1010}, {"tail", 0}, {"longest-tail", 400}, {"span", 1000}};
  for (Point& point : points) {
    const std::string phase = point.parameters.text_or("phase", "");
    if (phase.empty()) {
      set_time(point, 500);
    } else {
      CHECK(point.parameters.text("timer") == "clock");
      CHECK(point.parameters.integer("idealised") == 0);
      set_ticks(point, ticks.at(phase));
    }
  }
  const auto clocks_of = [&](const Findings& found) {
    const std::vector<Stack> stacks = stacks_in(found.findings);
    const auto stack = std::find_if(stacks.begin(), stacks.end(), [](const Stack& each) {
      return each.view == stack_view_clock;
    });
    REQUIRE(stack != stacks.end());
    return *stack;
  };
  const Findings found = analyse(device, points);
  CHECK(value_of(found, "stall", "barrier", "idle: tail") == 0.0);
  CHECK(value_of(found, "longest_tail", "barrier") == doctest::Approx(0.4));
  const Stack stack = clocks_of(found);
  CHECK(stack.parts.at(0).label == "synchronization: barrier");
  CHECK(stack.parts.at(0).share == doctest::Approx(0.3));
  // The tail is a quarter of the launch. Barriers are 30 % of the other three quarters.
  for (Point& point : points) {
    if (point.parameters.text_or("phase", "") != "tail") continue;
    point.samples.clear();
    set_ticks(point, 250);
  }
  CHECK(clocks_of(analyse(device, points)).parts.at(0).share == doctest::Approx(0.225));
  // On Intel GPUs, each compute unit has its own clock, so the ends of groups on different compute
  // units cannot be compared.
  device.clock.kind = ClockKind::intel;
  const auto phases_of = [](const DeviceInfo& on, const char* name) {
    std::set<std::string> phases;
    for (const Point& point : plan_of({name}, on).points) {
      phases.insert(point.parameters.text_or("phase", ""));
    }
    return phases;
  };
  CHECK(phases_of(device, "barrier") == std::set<std::string>{"", "all", "barrier"});
  CHECK(phases_of(device, "uts").contains("tail") == false);
  CHECK(phases_of(gpu(), "dependency-chain").contains("tail"));
  CHECK(phases_of(gpu(), "dependency-chain").contains("longest-tail"));
  // A CPU's core runs the work-items of a group one after another, so no work-item waits at a
  // barrier.
  device.type = DeviceType::cpu;
  device.clock.kind = ClockKind::cpu;
  CHECK(phases_of(device, "barrier") == std::set<std::string>{"", "longest-tail", "span", "tail"});
}

TEST_CASE("an asynchronous copy that is made while it is started is emulated") {
  for (const bool is_emulated : {true, false}) {
    Plan planned = plan_of({"implicit"});
    for (Point& point : planned.points) {
      const std::string phase = point.parameters.text_or("phase", "");
      if (phase.empty()) {
        set_time(point, 1000);
      } else {
        set_ticks(point, (phase == "start") == is_emulated ? 4000 : 1000);
      }
    }
    const Findings found = analyse(gpu(), planned.points);
    const Finding* const engine = find(found, "copy_engine", "implicit, async copy");
    REQUIRE(engine != nullptr);
    CHECK(engine->label == (is_emulated ? "emulated" : "waited for"));
    CHECK((find(found, "stall", "implicit, async copy", "memory structural: pending copy") ==
           nullptr) == is_emulated);
    CHECK(find(found, "copy_engine", "implicit, direct") == nullptr);
  }
}

TEST_CASE("a case that this version does not know is told, and not guessed") {
  std::vector<Point> points = plan_of({"barrier"}).points;
  for (Point& point : points) {
    set_time(point, 500);
    point.parameters.set("case", std::string("weather"));
  }
  const Findings found = analyse(gpu(), points);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings.front().reason ==
        "the points come from another version of clprobe: case weather");
}

TEST_CASE("every finding that is made is declared") {
  std::vector<Point> points = probe.plan(gpu(), Request()).points;
  for (Point& point : points) {
    if (!point.parameters.text_or("phase", "").empty()) {
      set_ticks(point, 1000);
      continue;
    }
    // `latency-bound` waits for main memory only. `dependency-chain` waits for two causes at the
    // same time, and either cause alone takes the whole time.
    const bool waits = (point.series == "latency-bound" && has_cause(point, Cause::main_memory)) ||
                       (point.series == "dependency-chain" &&
                        (has_cause(point, Cause::chain) || has_cause(point, Cause::second_cache)));
    set_time(point, waits ? 1000 : 500);
  }
  std::set<std::string> made;
  for (const Finding& finding : analyse(gpu(), points).findings) {
    CAPTURE(finding.name);
    made.insert(finding.name);
    const bool is_declared =
        std::any_of(probe.findings.begin(), probe.findings.end(),
                    [&](const FindingSpec& each) { return each.name == finding.name; });
    CHECK(is_declared);
  }
  for (const FindingSpec& each : probe.findings) {
    CAPTURE(each.name);
    CHECK(made.contains(std::string(each.name)));
  }
}

}  // namespace
}  // namespace clprobe::stalls
