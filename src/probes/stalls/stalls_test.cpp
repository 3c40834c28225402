// SPDX-License-Identifier: Apache-2.0
// Stalls on devices: what is made of samples whose causes are known.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/causes.hpp"
#include "probes/stalls/planned.hpp"

namespace clprobe::stalls {
namespace {

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  return probe.analyse(device, points);
}

/// Three samples around `ns`, of whole launches.
void set_time(Point& point, double ns) {
  for (const double factor : {0.999, 1.0, 1.002, 1.3}) {
    Sample sample;
    sample.accesses = 1000;
    sample.event_ns = static_cast<std::uint64_t>(std::llround(ns * factor * 1000.0));
    sample.host_ns = *sample.event_ns;
    point.samples.push_back(sample);
  }
}

void set_ticks(Point& point, std::uint64_t ticks) {
  for (int k = 0; k < 3; ++k) {
    Sample sample;
    sample.accesses = 1;
    sample.ticks = ticks;
    sample.host_ns = ticks;
    point.samples.push_back(sample);
  }
}

const Finding* find(const Findings& found, std::string_view name, std::string_view series,
                    std::string_view label = {}) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.series == series && (label.empty() || each.label == label)) {
      return &each;
    }
  }
  return nullptr;
}

double value_of(const Findings& found, std::string_view name, std::string_view series,
                std::string_view label = {}) {
  const Finding* const finding = find(found, name, series, label);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->value.has_value());
  return *finding->value;
}

/// Each cause costs what `costs` says, independent of the others; `base` remains.
void measure(std::vector<Point>& points, const std::map<std::string, double>& costs, double base,
             const std::map<std::string, double>& noise_costs = {}) {
  for (Point& point : points) {
    const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
    const auto set = static_cast<std::uint64_t>(point.parameters.integer("idealised"));
    double ns = base;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      if (((set >> i) & 1U) == 0) ns += costs.at(std::string(label_of(causes[i])));
    }
    const std::string noise = point.parameters.text_or("noise", "");
    if (const auto cost = noise_costs.find(noise); cost != noise_costs.end()) {
      ns += cost->second * static_cast<double>(point.parameters.integer("noise_amount"));
    }
    set_time(point, ns);
  }
}

/// Whether the build of a point still has one of the causes of its case.
bool has_cause(const Point& point, Cause cause) {
  const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
  const auto set = static_cast<std::uint64_t>(point.parameters.integer("idealised"));
  const auto at = std::find(causes.begin(), causes.end(), cause) - causes.begin();
  return ((set >> static_cast<unsigned>(at)) & 1U) == 0;
}

TEST_CASE("costs that do not depend on each other are found again, in GSI's names") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  measure(points,
          {{"memory data: main memory", 700},
           {"memory data: L2", 150},
           {"memory structural: bank conflict", 0},
           {"compute data", 50}},
          100, {{"memory", 300}});
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "time", "memory-bound") == doctest::Approx(1000e-9).epsilon(0.01));
  CHECK(value_of(found, "stall", "memory-bound", "memory data: main memory") ==
        doctest::Approx(0.7).epsilon(0.02));
  CHECK(value_of(found, "stall", "memory-bound", "memory data: L2") ==
        doctest::Approx(0.15).epsilon(0.05));
  CHECK(value_of(found, "stall", "memory-bound", "unattributed") ==
        doctest::Approx(0.1).epsilon(0.05));
  const Finding* const conflict =
      find(found, "stall", "memory-bound", "memory structural: bank conflict");
  REQUIRE(conflict != nullptr);
  CHECK(conflict->reason.find("not resolved") == 0);
  CHECK(value_of(found, "first_cause", "memory-bound", "memory data: main memory") ==
        doctest::Approx(700.0 / 900.0).epsilon(0.02));
  CHECK(find(found, "noise", "memory-bound")->label == "agree");
  // All of a bar, exactly.
  const std::vector<Stack> stacks = stacks_in(found.findings);
  REQUIRE(stacks.size() == 1);
  const double sum =
      std::accumulate(stacks[0].parts.begin(), stacks[0].parts.end(), 0.0,
                      [](double total, const StackPart& part) { return total + part.share; });
  CHECK(sum == doctest::Approx(1.0).epsilon(1e-9));
  // 4 causes have 6 pairs, none of which interacts.
  const auto pairs = std::count_if(found.findings.begin(), found.findings.end(),
                                   [](const Finding& each) { return each.name == "interaction"; });
  CHECK(pairs == 6);
}

TEST_CASE("a first cause is no more than the whole, and what costs time to take away is told") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  measure(points,
          {{"memory data: main memory", 600},
           {"memory data: L2", 200},
           {"memory structural: bank conflict", -300},
           {"compute data", 0}},
          500);
  const Findings found = analyse(gpu(), points);
  // All together take away 500 of 1000, of which 600 would be more than the whole.
  CHECK(value_of(found, "first_cause", "memory-bound", "memory data: main memory") ==
        doctest::Approx(0.75).epsilon(0.02));
  const Finding* const first = find(found, "first_cause", "memory-bound");
  CHECK(*first->high <= 1.0);
  CHECK(*first->low <= *first->value);
  CHECK(first->reason == "taking memory structural: bank conflict away costs 30.0 % of the time");
  // No share of the time is less than nothing.
  const Finding* const conflict =
      find(found, "stall", "memory-bound", "memory structural: bank conflict");
  REQUIRE(conflict != nullptr);
  CHECK_FALSE(conflict->value.has_value());
  CHECK(
      conflict->reason.starts_with("not known: memory structural: bank conflict would be -30.0 ±"));
  CHECK(conflict->reason.ends_with(" % of the time, less than nothing"));
}

TEST_CASE("a share of more than the whole is not known, and no first cause") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  // What a host did meanwhile: the builds without the one and with the other are four times as
  // slow.
  for (Point& point : points) {
    const auto is_there = [&](Cause cause) { return has_cause(point, cause); };
    const double slow = is_there(Cause::main_memory) && !is_there(Cause::second_cache) ? 4000 : 0;
    set_time(point, 500 + slow + (is_there(Cause::main_memory) ? 500 : 0) +
                        (is_there(Cause::bank_conflict) ? 200 : 0));
  }
  const Findings found = analyse(gpu(), points);
  const Finding* const memory = find(found, "stall", "memory-bound", "memory data: main memory");
  REQUIRE(memory != nullptr);
  CHECK_FALSE(memory->value.has_value());
  CHECK(memory->reason.starts_with("not known: "));
  CHECK(memory->reason.ends_with(" % of the time, more than the whole"));
  CHECK(value_of(found, "stall", "memory-bound", "memory structural: bank conflict") ==
        doctest::Approx(200.0 / 1200.0).epsilon(0.1));
  const Finding* const first = find(found, "first_cause", "memory-bound");
  REQUIRE(first != nullptr);
  CHECK_FALSE(first->value.has_value());
  CHECK(first->label.empty());
  CHECK(first->reason == memory->reason);
}

TEST_CASE("a share outside by less than its sigma is kept") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  measure(points,
          {{"memory data: main memory", 600},
           {"memory data: L2", 200},
           {"memory structural: bank conflict", -3},
           {"compute data", 0}},
          500);
  // Samples that scatter by 10 %.
  for (Point& point : points) {
    std::int64_t place = 0;
    for (Sample& sample : point.samples) {
      const auto shift = static_cast<std::int64_t>(sample.host_ns) * (place++ % 5 - 2) / 20;
      sample.host_ns =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(sample.host_ns) + shift);
      sample.event_ns = sample.host_ns;
    }
  }
  const Findings found = analyse(gpu(), points);
  const Finding* const conflict =
      find(found, "stall", "memory-bound", "memory structural: bank conflict");
  REQUIRE(conflict != nullptr);
  REQUIRE(conflict->value.has_value());
  CHECK(conflict->reason.find("not resolved") == 0);
}

TEST_CASE("causes that hide each other interact, and share what both save") {
  std::vector<Point> points = plan_of({"dependency-chain"}).points;
  for (Point& point : points) {
    const auto is_there = [&](Cause cause) { return has_cause(point, cause); };
    set_time(point, is_there(Cause::second_cache) || is_there(Cause::chain) ? 1000 : 400);
  }
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "stall", "dependency-chain", "memory data: L2") ==
        doctest::Approx(0.3).epsilon(0.02));
  CHECK(value_of(found, "stall", "dependency-chain", "compute data") ==
        doctest::Approx(0.3).epsilon(0.02));
  CHECK(value_of(found, "interaction", "dependency-chain", "memory data: L2 + compute data") ==
        doctest::Approx(0.6).epsilon(0.02));
}

TEST_CASE("noise that finds another resource in use all of the time makes it inconclusive") {
  std::vector<Point> points = plan_of({"bank-conflicts"}).points;
  measure(points,
          {{"memory data: L2", 10},
           {"memory structural: bank conflict", 800},
           {"synchronization: barrier", 10},
           {"compute data", 10}},
          170, {{"memory", 400}});
  const Findings found = analyse(gpu(), points);
  const Finding* const verdict = find(found, "noise", "bank-conflicts");
  REQUIRE(verdict != nullptr);
  CHECK(verdict->label == "inconclusive");
  CHECK_FALSE(verdict->reason.empty());
  CHECK(value_of(found, "absorbed", "bank-conflicts", "memory") < 0.05);
  CHECK(find(found, "absorbed", "bank-conflicts", "cache")->reason ==
        "all that was made is absorbed");
}

TEST_CASE("where nothing can be taken away, nothing is named first") {
  std::vector<Point> points = plan_of({"barrier"}).points;
  for (Point& point : points) set_time(point, 500);
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "noise", "barrier")->label == "untested");
  CHECK_FALSE(find(found, "first_cause", "barrier")->value.has_value());
}

TEST_CASE("a build without samples leaves a reason and no bar") {
  std::vector<Point> points = plan_of({"dependency-chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points[3].samples.clear();
  const Findings found = analyse(gpu(), points);
  const Finding* const stall = find(found, "stall", "dependency-chain");
  REQUIRE(stall != nullptr);
  CHECK_FALSE(stall->value.has_value());
  CHECK(stall->reason == "build 3 of 16 has no samples");
}

TEST_CASE("points of another version are told, and not guessed") {
  std::vector<Point> points = plan_of({"dependency-chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points.front().parameters.set("factors", std::string("weather"));
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "stall", "dependency-chain")->reason ==
        "not this version's points: cause weather");
}

TEST_CASE("phases of a search are shares of all of it, and the speed-up stands by the thesis's") {
  Plan planned = plan_of({"uts", "utsd"});
  const std::map<std::string, std::uint64_t> ticks{
      {"lock", 5000}, {"queue", 2000}, {"nodes", 2000}, {"nothing to do", 500},
      {"all", 10000}, {"tail", 3000},  {"span", 15000}};
  for (Point& point : planned.points) {
    const std::string phase = point.parameters.text_or("phase", "");
    if (phase.empty()) {
      set_time(point, point.series == "uts" ? 1000 : 200);
    } else {
      set_ticks(point, ticks.at(phase));
    }
  }
  const Findings found = analyse(gpu(), planned.points);
  // A fifth of the span comes behind a group's end, and what its own clock said before it.
  CHECK(value_of(found, "stall", "uts", "idle: tail") == doctest::Approx(0.2));
  CHECK(value_of(found, "stall", "uts", "synchronization: lock") == doctest::Approx(0.4));
  CHECK(value_of(found, "stall", "uts", "idle: no work") == doctest::Approx(0.04));
  CHECK(value_of(found, "stall", "uts", "unattributed") == doctest::Approx(0.04));
  CHECK(value_of(found, "here", "utsd, time, against uts") == doctest::Approx(0.2).epsilon(0.01));
  CHECK(value_of(found, "thesis", "utsd, time, against uts") == doctest::Approx(0.09));
}

TEST_CASE("barriers and tails by clocks stand beside the ablation, as far as clocks reach") {
  DeviceInfo device = gpu();
  device.clock.overhead_ticks = 10;
  std::vector<Point> points = plan_of({"barrier"}, device).points;
  // Of each iteration, with the pair of clock reads in it.
  const std::map<std::string, std::uint64_t> ticks{
      {"barrier", 310}, {"all", 1010}, {"tail", 0}, {"span", 1000}};
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
  const Stack stack = clocks_of(found);
  CHECK(stack.parts.at(0).label == "synchronization: barrier");
  CHECK(stack.parts.at(0).share == doctest::Approx(0.3));
  // A quarter of the launch is behind the end of its parts: of the rest 30 % are barriers.
  for (Point& point : points) {
    if (point.parameters.text_or("phase", "") != "tail") continue;
    point.samples.clear();
    set_ticks(point, 250);
  }
  CHECK(clocks_of(analyse(device, points)).parts.at(0).share == doctest::Approx(0.225));
  // Intel's clocks are those of each compute unit: ends are compared within groups.
  device.clock.kind = ClockKind::intel;
  CHECK(value_of(analyse(device, points), "stall", "barrier", "idle: tail within groups") ==
        doctest::Approx(0.25));
  const auto phases_of = [](const DeviceInfo& on, const char* name) {
    std::set<std::string> phases;
    for (const Point& point : plan_of({name}, on).points) {
      phases.insert(point.parameters.text_or("phase", ""));
    }
    return phases;
  };
  CHECK(phases_of(device, "barrier") ==
        std::set<std::string>{"", "all", "barrier", "span", "tail"});
  CHECK(phases_of(device, "uts").contains("tail") == false);
  // One sub-group of a group has nobody to compare itself with.
  CHECK(phases_of(device, "dependency-chain") == std::set<std::string>{"", "all", "barrier"});
  CHECK(phases_of(gpu(), "dependency-chain").contains("tail"));
  // A CPU's core runs the work-items of a group one after another: nobody waits.
  device.type = DeviceType::cpu;
  device.clock.kind = ClockKind::cpu;
  CHECK(phases_of(device, "barrier") == std::set<std::string>{"", "span", "tail"});
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

TEST_CASE("documents with the former names of cases give the same findings under the new ones") {
  std::vector<Point> points = plan_of({"memory-bound", "dependency-chain", "barrier"}).points;
  double ns = 500;
  for (Point& point : points) set_time(point, ns += 10);
  const Findings expected = analyse(gpu(), points);
  ProbeResult old;
  old.probe = "stalls";
  old.points = points;
  for (Point& point : old.points) {
    const std::string& name = point.parameters.text("case");
    if (name == "barrier") continue;
    point.series = name == "memory-bound" ? "memory" : "chain";
    point.parameters.set("case", point.series);
  }
  Finding refused;
  refused.name = "stalls";
  refused.series = "banks";
  refused.method = "plan";
  old.findings = {refused};
  old.warnings = {{"point_refused", {{"series", std::string("latency")}}}};
  analyse_again(probe, gpu(), old);
  CHECK(old.points.front().series == "memory-bound");
  REQUIRE(old.findings.size() == expected.findings.size() + 1);
  CHECK(old.findings.back().series == "bank-conflicts");
  CHECK(old.warnings.front().facts.text("series") == "latency-bound");
  for (std::size_t i = 0; i < expected.findings.size(); ++i) {
    CHECK(old.findings[i].name == expected.findings[i].name);
    CHECK(old.findings[i].series == expected.findings[i].series);
    CHECK(old.findings[i].value == expected.findings[i].value);
    CHECK(old.findings[i].label == expected.findings[i].label);
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
  CHECK(found.findings.front().reason == "not this version's points: case weather");
}

TEST_CASE("every finding that is made is declared") {
  std::vector<Point> points = plan_of({}).points;
  for (Point& point : points) {
    if (point.parameters.text_or("phase", "").empty()) {
      set_time(point, 500);
    } else {
      set_ticks(point, 1000);
    }
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
  CHECK(made.size() == probe.findings.size());
}

}  // namespace
}  // namespace clprobe::stalls
