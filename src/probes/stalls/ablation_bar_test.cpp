// SPDX-License-Identifier: Apache-2.0
// Bars by ablation, made from times whose causes are known, and from kernels with added noise.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/stalls/points_test.hpp"

namespace clprobe::stalls {
namespace {

TEST_CASE("costs that do not depend on each other are found again, in GSI's names") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  measure(points,
          {{"memory data: main memory", 700},
           {"memory data: L2", 150},
           {"memory structural: bank conflict", 0},
           {"compute data", 50}},
          100, {{"memory", 300}});
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "time", "memory-bound") == doctest::Approx(1000e-9).scale(0).epsilon(0.01));
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
  // All parts of the bar add up to exactly 1.
  const std::vector<Stack> stacks = stacks_in(found.findings);
  REQUIRE(stacks.size() == 1);
  const double sum =
      std::accumulate(stacks[0].parts.begin(), stacks[0].parts.end(), 0.0,
                      [](double total, const StackPart& part) { return total + part.share; });
  CHECK(sum == doctest::Approx(1.0).epsilon(1e-9));
  CHECK(find(found, "interaction", "memory-bound") == nullptr);
}

TEST_CASE("a CPU takes what the best of a kernel's visits took, by launches, too") {
  DeviceInfo cpu = gpu();
  cpu.type = DeviceType::cpu;
  for (const char* const name : {"dependency-chain", "uts"}) {
    CAPTURE(name);
    std::vector<Point> points = plan_of({name}, cpu).points;
    // In two of three visits, other processes slow the kernel down: to 1500 and 1400 ns from 1000
    // ns.
    for (Point& point : points) {
      for (const double ns : {1500.0, 1000.0, 1400.0}) {
        const std::size_t first = point.samples.size();
        set_time(point, ns);
        for (std::size_t i = first; i < point.samples.size(); ++i) {
          point.samples[i].visit = first / 4;
          if (timer_of(point, cpu) == Timer::clock) {
            point.samples[i].ticks = 2 * *point.samples[i].event_ns;
          }
        }
      }
    }
    const Findings by_cpu = analyse(cpu, points);
    const Finding* const of_cpu = find(by_cpu, "time", name);
    REQUIRE(of_cpu != nullptr);
    CHECK(*of_cpu->value == doctest::Approx(1000e-9).scale(0));
    CHECK(of_cpu->method == "best visits");
    CHECK(*of_cpu->high > 1.3 * *of_cpu->value);
    const Findings by_gpu = analyse(gpu(), points);
    const Finding* const of_gpu = find(by_gpu, "time", name);
    REQUIRE(of_gpu != nullptr);
    CHECK(*of_gpu->value > 1001e-9);
    CHECK(of_gpu->method != "best visits");
  }
}

TEST_CASE("loads are told level by level, and what is left in issue and the unattributed") {
  std::vector<Point> points = plan_of({"latency-bound"}).points;
  for (Point& point : points) {
    const auto is_there = [&](Cause cause) { return has_cause(point, cause); };
    double ns = 120.0 + (is_there(Cause::chain) ? 80.0 : 0.0);
    if (is_there(Cause::main_memory)) {
      ns += 800.0;
    } else if (is_there(Cause::second_cache)) {
      ns += 300.0;
    }
    // The point has 16 groups for each group of the kernel. A group takes 40 ns of a compute unit's
    // time.
    if (const auto crowd = crowd_of(point); crowd != 0) {
      CHECK(crowd == 16);
      CHECK(point.parameters.integer("groups") == 132 * 16);
      CHECK_FALSE(is_there(Cause::main_memory));
      CHECK_FALSE(is_there(Cause::chain));
      ns = 16 * 40.0;
    }
    set_time(point, ns);
  }
  const Findings found = analyse(gpu(), points);
  const auto share = [&](std::string_view label) {
    return value_of(found, "stall", "latency-bound", label);
  };
  CHECK(share("memory data: main memory") == doctest::Approx(0.5).epsilon(0.01));
  CHECK(share("memory data: L2") == doctest::Approx(0.3).epsilon(0.01));
  CHECK(share("compute data") == doctest::Approx(0.08).epsilon(0.02));
  CHECK(share("no stall: issue") == doctest::Approx(0.04).epsilon(0.02));
  CHECK(share("unattributed") == doctest::Approx(0.08).epsilon(0.02));
  const std::vector<Stack> stacks = stacks_in(found.findings);
  REQUIRE(stacks.size() == 1);
  double sum = 0.0;
  for (const StackPart& part : stacks[0].parts) sum += part.share;
  CHECK(sum == doctest::Approx(1.0).epsilon(1e-9));
  // Without a point that measures issue, the bar has no part for issue. The time of issue is then
  // unattributed.
  std::erase_if(points, [](const Point& each) { return crowd_of(each) > 0; });
  const Findings without = analyse(gpu(), points);
  CHECK(find(without, "stall", "latency-bound", "no stall: issue") == nullptr);
  CHECK(value_of(without, "stall", "latency-bound", "unattributed") ==
        doctest::Approx(0.12).epsilon(0.02));
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
  // Removing all causes saves 500 of 1000 ns. Removing only main memory saves 600 ns. The share of
  // the first cause must not exceed 1 although 600 ns exceed 500 ns.
  CHECK(value_of(found, "first_cause", "memory-bound", "memory data: main memory") ==
        doctest::Approx(0.75).epsilon(0.02));
  const Finding* const first = find(found, "first_cause", "memory-bound");
  CHECK(*first->high <= 1.0);
  CHECK(*first->low <= *first->value);
  CHECK(first->reason == "removing memory structural: bank conflict slows the kernel by 30.0 %");
  // A share of the time cannot be negative.
  const Finding* const conflict =
      find(found, "stall", "memory-bound", "memory structural: bank conflict");
  REQUIRE(conflict != nullptr);
  CHECK_FALSE(conflict->value.has_value());
  CHECK(conflict->reason.starts_with(
      "not known: memory structural: bank conflict would take -30.0 ±"));
  CHECK(conflict->reason.ends_with(" % of the time, which is below 0 %"));
}

TEST_CASE("a share of more than the whole is not known, and no first cause") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  // Simulated disturbance: builds with main memory but without the chain take 4000 ns longer, which
  // is more than the time of the whole kernel.
  for (Point& point : points) {
    const auto is_there = [&](Cause cause) { return has_cause(point, cause); };
    const double slow = is_there(Cause::main_memory) && !is_there(Cause::chain) ? 4000 : 0;
    set_time(point, 500 + slow + (is_there(Cause::main_memory) ? 500 : 0) +
                        (is_there(Cause::bank_conflict) ? 200 : 0));
  }
  const Findings found = analyse(gpu(), points);
  const Finding* const memory = find(found, "stall", "memory-bound", "memory data: main memory");
  REQUIRE(memory != nullptr);
  CHECK_FALSE(memory->value.has_value());
  CHECK(memory->reason.starts_with("not known: "));
  CHECK(memory->reason.ends_with(" % of the time, which is above 100 %"));
  CHECK(value_of(found, "stall", "memory-bound", "memory structural: bank conflict") ==
        doctest::Approx(200.0 / 1200.0).epsilon(0.1));
  const Finding* const first = find(found, "first_cause", "memory-bound");
  REQUIRE(first != nullptr);
  CHECK_FALSE(first->value.has_value());
  CHECK(first->label.empty());
  CHECK(first->reason == memory->reason);
}

TEST_CASE("no share is told that is above the whole, nor an end of its interval") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  // Removing three of the four causes costs 12 ns each, so the time that remains without causes
  // exceeds the time of the kernel.
  measure(points,
          {{"memory data: main memory", 0},
           {"memory data: L2", -12},
           {"memory structural: bank conflict", -12},
           {"compute data", -12}},
          1000);
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "stall", "memory-bound", "unattributed") == 1.0);
  for (const Finding& each : found.findings) {
    CAPTURE(each.name);
    CAPTURE(each.label);
    if (each.unit != "share" || !each.value) continue;
    CHECK(*each.value <= 1.0);
    CHECK(*each.high <= 1.0);
    CHECK(*each.low <= *each.value);
  }
}

TEST_CASE("noise that would fit in more than all of the time is not known") {
  // The time is constant up to an amount of 8 and rises steeply at 16. If the rise is steep enough,
  // the rising line has a negative time at an amount of 0.
  const auto absorbed_where = [](double amount_16) {
    std::vector<Point> points = plan_of({"memory-bound"}).points;
    measure(points,
            {{"memory data: main memory", 600},
             {"memory data: L2", 0},
             {"memory structural: bank conflict", 0},
             {"compute data", 0}},
            400);
    for (Point& point : points) {
      if (point.parameters.text_or("noise", "") != "memory") continue;
      if (point.parameters.integer("noise_amount") < 16) continue;
      point.samples.clear();
      set_time(point, amount_16);
    }
    return *find(analyse(gpu(), points), "absorbed", "memory-bound", "memory");
  };
  const Finding whole = absorbed_where(2000);
  REQUIRE(whole.value.has_value());
  CHECK(*whole.value <= 1.0);
  const Finding more = absorbed_where(8000);
  CHECK_FALSE(more.value.has_value());
  CHECK(more.reason.starts_with("not known: memory would be free "));
  CHECK(more.reason.ends_with(" % of the time, which is above 100 %"));
}

TEST_CASE("a share outside by less than its sigma is kept") {
  std::vector<Point> points = plan_of({"memory-bound"}).points;
  measure(points,
          {{"memory data: main memory", 600},
           {"memory data: L2", 200},
           {"memory structural: bank conflict", -3},
           {"compute data", 0}},
          500);
  // The samples scatter by 10 %.
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

TEST_CASE("a share outside by no more than builds differ by is kept, however sure it is") {
  const auto share_where_it_costs = [](double ns) {
    std::vector<Point> points = plan_of({"memory-bound"}).points;
    measure(points,
            {{"memory data: main memory", 600},
             {"memory data: L2", 200},
             {"memory structural: bank conflict", ns},
             {"compute data", 0}},
            200);
    for (Point& point : points) point.samples.pop_back();  // without the sample that is 30 % slower
    const Findings found = analyse(gpu(), points);
    return *find(found, "stall", "memory-bound", "memory structural: bank conflict");
  };
  CHECK(share_where_it_costs(-40).value == doctest::Approx(-0.0417).epsilon(0.05));
  CHECK_FALSE(share_where_it_costs(-70).value.has_value());
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
        "the kernel absorbed all the noise, so the share is a lower bound");
}

TEST_CASE("where nothing can be taken away, nothing is named first") {
  std::vector<Point> points = plan_of({"barrier"}).points;
  for (Point& point : points) set_time(point, 500);
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "noise", "barrier")->label == "not known");
  CHECK_FALSE(find(found, "first_cause", "barrier")->value.has_value());
}

TEST_CASE("a disturbance that hides a saving or a free resource leaves no cause and no verdict") {
  std::vector<Point> points = plan_of({"barrier"}).points;
  measure(points,
          {{"memory data: L2", 0},
           {"memory structural: bank conflict", 0},
           {"synchronization: barrier", 700},
           {"compute data", 0}},
          300);
  const auto disturbed = [&](std::string_view name) {
    Findings found = analyse(gpu(), points);
    for (Finding& each : found.findings) {
      if (each.name == name && each.value) each.low = -0.1;
    }
    combine(found.findings);
    return found;
  };
  CHECK(find(disturbed(""), "noise", "barrier")->label == "agree");
  const Findings no_cause = disturbed("stall");
  CHECK_FALSE(find(no_cause, "first_cause", "barrier")->value.has_value());
  CHECK(find(no_cause, "noise", "barrier")->reason ==
        "the largest cause is unknown, so noise cannot confirm it");
  const Findings no_share = disturbed("absorbed");
  CHECK(find(no_share, "first_cause", "barrier")->value.has_value());
  CHECK(find(no_share, "noise", "barrier")->label == "not known");
}

TEST_CASE("a build without samples leaves a reason and no bar") {
  std::vector<Point> points = plan_of({"dependency-chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points[3].samples.clear();
  const Findings found = analyse(gpu(), points);
  const Finding* const stall = find(found, "stall", "dependency-chain");
  REQUIRE(stall != nullptr);
  CHECK_FALSE(stall->value.has_value());
  CHECK(stall->reason == "kernel version 3 of 16 has no samples");
}

TEST_CASE("points of another version are told, and not guessed") {
  std::vector<Point> points = plan_of({"dependency-chain"}).points;
  for (Point& point : points) set_time(point, 500);
  points.front().parameters.set("factors", std::string("weather"));
  const Findings found = analyse(gpu(), points);
  CHECK(find(found, "stall", "dependency-chain")->reason ==
        "the points come from another version of clprobe: cause weather");
}

}  // namespace
}  // namespace clprobe::stalls
