// SPDX-License-Identifier: Apache-2.0
// Stalls on real devices: what is planned, what kernels must compute, and what is made of samples
// whose causes are known.
#include "probes/stalls/device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "clprobe/stacks.hpp"
#include "probes/stalls/copy.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/search.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls_device {
namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.local_memory = kibibytes(48);
  device.clock.kind = ClockKind::nvidia;
  device.clock.ticks_per_ns = 2.0;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  return device;
}

Plan plan_of(std::vector<std::string> cases, const DeviceInfo& device = gpu()) {
  Limits limits;
  limits.stalls.cases = std::move(cases);
  return plan(device, limits);
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

TEST_CASE("every case has all sets of its causes once, and noise that begins with none") {
  for (const MicroCase& micro : all_micro_cases()) {
    CAPTURE(micro.name);
    const Plan planned = plan_of({std::string(micro.name)});
    std::set<std::int64_t> sets;
    std::map<std::string, std::set<std::int64_t>> noise;
    std::size_t factors = 0;
    for (const Point& point : planned.points) {
      CHECK(point.series == micro.name);
      const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
      factors = causes.size();
      CHECK(std::find(causes.begin(), causes.end(), micro.built_for) != causes.end());
      const std::string kind = point.parameters.text_or("noise", "");
      if (!point.parameters.text_or("phase", "").empty()) continue;
      if (kind.empty()) {
        CHECK(sets.insert(point.parameters.integer("idealised")).second);
      } else {
        CHECK(noise[kind].insert(point.parameters.integer("noise_amount")).second);
      }
    }
    CHECK(factors <= most_factors);
    CHECK(sets.size() == std::size_t{1} << factors);
    CHECK(*sets.rbegin() + 1 == std::int64_t{1} << factors);
    CHECK(noise.size() == std::size(all_noise));
    for (const auto& [kind, amounts] : noise) {
      CHECK(amounts.size() >= 3);
      CHECK(*amounts.begin() == 0);
    }
  }
}

TEST_CASE("taking a cause away changes its arguments alone, and never how much is done") {
  for (const MicroCase& micro : all_micro_cases()) {
    CAPTURE(micro.name);
    const std::vector<Point> points = plan_of({std::string(micro.name)}).points;
    const MicroShape usual = MicroShape::of(points.front());
    for (const Point& point : points) {
      if (!point.parameters.text_or("noise", "").empty()) continue;
      const MicroShape shape = MicroShape::of(point);
      CHECK(shape.groups == usual.groups);
      CHECK(shape.work_items == usual.work_items);
      CHECK(shape.far_loads == usual.far_loads);
      CHECK(shape.near_loads == usual.near_loads);
      CHECK(shape.tile_loads == usual.tile_loads);
      CHECK(shape.chain_steps == usual.chain_steps);
      CHECK(shape.turn_steps == usual.turn_steps);
      CHECK(shape.turn_mask == usual.turn_mask);
      const auto set = point.parameters.integer("idealised");
      CHECK((set == 0) ==
            (shape.far_mask == usual.far_mask && shape.near_mask == usual.near_mask &&
             shape.tile_stride == usual.tile_stride && shape.is_chain == usual.is_chain &&
             shape.turn_shift == usual.turn_shift && shape.has_barrier == usual.has_barrier));
    }
  }
}

TEST_CASE("noise is made beside as many work-items as the kernel has without it") {
  for (const MicroCase& micro : all_micro_cases()) {
    CAPTURE(micro.name);
    const std::vector<Point> points = plan_of({std::string(micro.name)}).points;
    const auto workers_of = [](const Point& point) {
      return point.parameters.integer("groups") * point.parameters.integer("workers");
    };
    CHECK(workers_of(points.back()) == workers_of(points.front()));
  }
}

TEST_CASE("a GPU of 132 units loads from memory that no cache holds, and tells its caches apart") {
  const MicroShape shape = MicroShape::of(plan_of({"memory"}).points.front());
  CHECK(shape.words * 4 == mebibytes(512).count);
  CHECK(std::uint64_t{shape.far_mask} + 1 == mebibytes(512).count / 128);
  CHECK(shape.near_mask + 1 == mebibytes(2).count / 128);
  CHECK(shape.turn_shift == 5);
  CHECK_FALSE(MicroShape::of(plan_of({"memory"}).points.back()).far_mask == 0);
  CHECK(MicroShape::of(plan_of({"barrier"}).points.front()).turn_mask == 7);
  CHECK(MicroShape::of(plan_of({"divergence"}).points.front()).turn_shift == 0);
}

TEST_CASE("what cannot be told apart is one cause with that name") {
  Limits limits;
  limits.stalls.cases = {"latency", "implicit"};
  limits.max_memory = mebibytes(8);
  for (const Point& point : plan(gpu(), limits).points) {
    const std::string factors = point.parameters.text("factors");
    CHECK(factors.find("beyond-first") != std::string::npos);
    CHECK(factors.find("main-memory") == std::string::npos);
    CHECK(factors.find("second-cache") == std::string::npos);
    CHECK(point.parameters.integer("far_bytes") <= 8 << 20);
  }
  CHECK(label_of(Cause::beyond_first) == "memory data: L2 or main memory");
}

TEST_CASE("a tiny device is planned for, too") {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.compute_units = 1;
  device.sub_group_size = 1;
  device.max_work_group_size = 1;
  device.global_memory = mebibytes(1);
  device.max_allocation = kibibytes(256);
  device.timer = Timer::host;
  device.launch_timer = Timer::host;
  for (const Point& point : plan(device, {}).points) {
    CHECK(point.parameters.text("timer") == "host");
    // Nobody is left in a group of one to make it; groups of their own are.
    const bool has_noise = !point.parameters.text_or("noise", "").empty();
    CHECK((point.parameters.text("case") == "implicit" || !has_noise));
    CHECK(point.parameters.text_or("phase", "").empty());
    CHECK(point.parameters.integer_or("far_bytes", 0) <= 256 << 10);
  }
}

TEST_CASE("work-items of a row load the same lines, and a chase follows what it loads") {
  MicroShape shape{};
  shape.groups = 1;
  shape.work_items = shape.workers = 64;
  shape.far_loads = 1;
  shape.is_chase = true;
  shape.far_mask = 0xff;
  shape.turn_mask = 7;
  // Nothing but `far` differs from launch to launch.
  const std::uint32_t one = micro_result(shape, 1, 3, 0, 5);
  CHECK(one != micro_result(shape, 2, 3, 0, 5));
  CHECK(one != micro_result(shape, 1, 4, 0, 5));
  // Two items of a row differ by their own numbers only, of which the rest is the same.
  MicroShape masked = shape;
  masked.far_mask = 0;
  CHECK(one - micro_result(masked, 1, 3, 0, 5) ==
        micro_result(shape, 1, 3, 0, 6) - micro_result(masked, 1, 3, 0, 6));
  CHECK(one - micro_result(masked, 1, 3, 0, 5) !=
        micro_result(shape, 1, 3, 0, 37) - micro_result(masked, 1, 3, 0, 37));
}

TEST_CASE("costs that do not depend on each other are found again, in GSI's names") {
  std::vector<Point> points = plan_of({"memory"}).points;
  measure(points,
          {{"memory data: main memory", 700},
           {"memory data: L2", 150},
           {"memory structural: bank conflict", 0},
           {"compute data", 50}},
          100, {{"memory", 300}});
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "time", "memory") == doctest::Approx(1000e-9).epsilon(0.01));
  CHECK(value_of(found, "stall", "memory", "memory data: main memory") ==
        doctest::Approx(0.7).epsilon(0.02));
  CHECK(value_of(found, "stall", "memory", "memory data: L2") ==
        doctest::Approx(0.15).epsilon(0.05));
  CHECK(value_of(found, "stall", "memory", "unattributed") == doctest::Approx(0.1).epsilon(0.05));
  const Finding* const conflict =
      find(found, "stall", "memory", "memory structural: bank conflict");
  REQUIRE(conflict != nullptr);
  CHECK(conflict->reason.find("not resolved") == 0);
  CHECK(value_of(found, "first cause", "memory", "memory data: main memory") ==
        doctest::Approx(700.0 / 900.0).epsilon(0.02));
  CHECK(find(found, "noise", "memory")->label == "agree");
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
  std::vector<Point> points = plan_of({"memory"}).points;
  measure(points,
          {{"memory data: main memory", 600},
           {"memory data: L2", 200},
           {"memory structural: bank conflict", -300},
           {"compute data", 0}},
          500);
  const Findings found = analyse(gpu(), points);
  // All together take away 500 of 1000, of which 600 would be more than the whole.
  CHECK(value_of(found, "first cause", "memory", "memory data: main memory") ==
        doctest::Approx(0.75).epsilon(0.02));
  const Finding* const first = find(found, "first cause", "memory");
  CHECK(*first->high <= 1.0);
  CHECK(*first->low <= *first->value);
  CHECK(first->reason == "taking memory structural: bank conflict away costs 30.0 % of the time");
  // It is shown as what it is, and the parts still add up to the time.
  CHECK(value_of(found, "stall", "memory", "memory structural: bank conflict") ==
        doctest::Approx(-0.3).epsilon(0.02));
  const Stack stack = stacks_in(found.findings).at(0);
  CHECK(std::accumulate(stack.parts.begin(), stack.parts.end(), 0.0,
                        [](double total, const StackPart& part) { return total + part.share; }) ==
        doctest::Approx(1.0).epsilon(1e-9));
}

TEST_CASE("causes that hide each other interact, and share what both save") {
  std::vector<Point> points = plan_of({"chain"}).points;
  for (Point& point : points) {
    const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
    const auto set = static_cast<std::uint64_t>(point.parameters.integer("idealised"));
    const auto is_there = [&](Cause cause) {
      const auto at = std::find(causes.begin(), causes.end(), cause) - causes.begin();
      return ((set >> static_cast<unsigned>(at)) & 1U) == 0;
    };
    set_time(point, is_there(Cause::second_cache) || is_there(Cause::chain) ? 1000 : 400);
  }
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "stall", "chain", "memory data: L2") == doctest::Approx(0.3).epsilon(0.02));
  CHECK(value_of(found, "stall", "chain", "compute data") == doctest::Approx(0.3).epsilon(0.02));
  CHECK(value_of(found, "interaction", "chain", "memory data: L2 + compute data") ==
        doctest::Approx(0.6).epsilon(0.02));
}

TEST_CASE("noise that finds another resource in use all of the time makes it inconclusive") {
  std::vector<Point> points = plan_of({"banks"}).points;
  measure(points,
          {{"memory data: L2", 10},
           {"memory structural: bank conflict", 800},
           {"synchronization: barrier", 10},
           {"compute data", 10}},
          170, {{"memory", 400}});
  const Findings found = analyse(gpu(), points);
  const Finding* const verdict = find(found, "noise", "banks");
  REQUIRE(verdict != nullptr);
  CHECK(verdict->label == "inconclusive");
  CHECK_FALSE(verdict->reason.empty());
  CHECK(value_of(found, "absorbed", "banks", "memory") < 0.05);
  CHECK(find(found, "absorbed", "banks", "cache")->reason == "all that was made is absorbed");
}

TEST_CASE("where nothing can be taken away, nothing is named first") {
  std::vector<Point> points = plan_of({"barrier"}).points;
  for (Point& point : points) set_time(point, 500);
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "noise", "barrier")->label == "untested");
  CHECK_FALSE(find(found, "first cause", "barrier")->value.has_value());
}

TEST_CASE("a build without samples leaves a reason and no bar") {
  std::vector<Point> points = plan_of({"chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points[3].samples.clear();
  const Findings found = analyse(gpu(), points);
  const Finding* const stall = find(found, "stall", "chain");
  REQUIRE(stall != nullptr);
  CHECK_FALSE(stall->value.has_value());
  CHECK(stall->reason == "build 3 of 16 has no samples");
}

TEST_CASE("points of another version are told, and not guessed") {
  std::vector<Point> points = plan_of({"chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points.front().parameters.set("factors", std::string("weather"));
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "stall", "chain")->reason == "not this version's points: cause weather");
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
    const auto stack = std::find_if(stacks.begin(), stacks.end(),
                                    [](const Stack& each) { return each.view == view_clock; });
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
  CHECK(phases_of(device, "chain") == std::set<std::string>{"", "all", "barrier"});
  CHECK(phases_of(gpu(), "chain").contains("tail"));
  // A processor's core runs the work-items of a group one after another: nobody waits.
  device.type = DeviceType::cpu;
  device.clock.kind = ClockKind::cpu;
  CHECK(phases_of(device, "barrier") == std::set<std::string>{"", "span", "tail"});
}

TEST_CASE("a tail is the mean wait for the last end, by the clock that its parts share") {
  // Two groups of two parts, of which the second began on a clock that is far ahead.
  const std::vector<Stamp> stamps{
      {.began = 10, .ended = 110, .waited = 20, .shared_began = 10, .shared_ended = 110},
      {.began = 30, .ended = 70, .waited = 0, .shared_began = 30, .shared_ended = 70},
      {.began = 5000, .ended = 5160, .waited = 80, .shared_began = 20, .shared_ended = 180},
      {.began = 5000, .ended = 5100, .waited = 20, .shared_began = 20, .shared_ended = 120}};
  CHECK(phase_ticks("span", stamps, 2, true) == 170.0);
  CHECK(phase_ticks("tail", stamps, 2, true) == (70.0 + 110.0 + 0.0 + 60.0) / 4);
  CHECK(phase_ticks("span", stamps, 2, false) == (100.0 + 160.0) / 2);
  CHECK(phase_ticks("tail", stamps, 2, false) == ((0.0 + 40.0) / 2 + (0.0 + 60.0) / 2) / 2);
  CHECK(phase_ticks("all", stamps, 2, true) == (100.0 + 40.0 + 160.0 + 100.0) / 4);
  CHECK(phase_ticks("barrier", stamps, 2, false) == 30.0);
  CHECK(phase_ticks("weather", stamps, 2, true) == 0.0);
  CHECK(phase_ticks("span", {}, 2, true) == 0.0);
  const Stamp one = as_one(std::span(stamps).first(2));
  CHECK(one.began == 10);
  CHECK(one.ended == 110);
  CHECK(one.waited == 10);
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
    const Finding* const engine = find(found, "copy engine", "implicit, async copy");
    REQUIRE(engine != nullptr);
    CHECK(engine->label == (is_emulated ? "emulated" : "waited for"));
    CHECK((find(found, "stall", "implicit, async copy", "memory structural: pending copy") ==
           nullptr) == is_emulated);
    CHECK(find(found, "copy engine", "implicit, direct") == nullptr);
  }
}

TEST_CASE("copies have noise of every kind, made by as many groups again") {
  std::map<std::string, std::set<std::int64_t>> amounts;
  std::set<std::uint32_t> results;
  for (const Point& point : plan_of({"implicit"}).points) {
    const CopyShape shape = CopyShape::of(point);
    const std::string kind = point.parameters.text_or("noise", "");
    CHECK((shape.noise_groups != 0) == !kind.empty());
    if (kind.empty()) continue;
    CHECK(shape.noise_groups == shape.groups);
    CHECK(point.parameters.integer("idealised") == 0);
    CHECK(all_noise[shape.noise.kind] == kind);
    amounts[kind].insert(point.parameters.integer("noise_amount"));
    // The same for every way to copy; of no amount always the same.
    results.insert(noise_result(shape, 7, 3, 2, 5));
  }
  CHECK(amounts.size() == std::size(all_noise));
  for (const auto& [kind, each] : amounts) CHECK(each == std::set<std::int64_t>{0, 1, 2, 4, 8, 16});
  CHECK(results.size() == 1 + 4 * 5);
}

TEST_CASE("a tree has the nodes that were asked for, each with one parent") {
  for (const std::uint32_t nodes : {1U, 2U, 65U, 1024U, 8192U}) {
    const Tree tree = make_tree(nodes, 7);
    CHECK(tree.nodes() == nodes);
    CHECK(tree.children.front() == 1);
    CHECK(tree.children.back() == nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint32_t count = tree.children[node + 1] - tree.children[node];
      CHECK(count <= (node == 0 ? 64U : 8U));
      CHECK(tree.children[node] > node);
    }
  }
  CHECK(make_tree(1024, 1).children == make_tree(1024, 1).children);
  CHECK(make_tree(1024, 1).children != make_tree(1024, 2).children);
  CHECK(search_result(make_tree(64, 1), 3) != search_result(make_tree(64, 1), 4));
}

TEST_CASE("all ways to copy leave the same words, and those of a chunk come from its place") {
  std::vector<std::vector<std::uint32_t>> chunks;
  for (const Point& point : plan_of({"implicit"}).points) {
    if (point.parameters.integer("idealised") != 0) continue;
    const CopyShape shape = CopyShape::of(point);
    chunks.push_back(copied_chunk(shape, 3, 11));
    CHECK(chunks.back() == chunks.front());
    CHECK(chunks.back() != copied_chunk(shape, 4, 11));
    CHECK(chunks.back() != copied_chunk(shape, 3, 12));
    // Whoever writes a place of the target writes the same: what masks the source keeps to it.
    CHECK((shape.from_mask & shape.to_mask) == shape.from_mask);
  }
  CHECK(chunks.size() >= 3);
}

TEST_CASE("the builds that prepare may ask for are few") { CHECK(variants().size() == 11); }

}  // namespace
}  // namespace clprobe::stalls_device
