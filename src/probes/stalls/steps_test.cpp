// SPDX-License-Identifier: Apache-2.0
// What a load is longer by at each level, by taking levels away and by `latency`.
#include "probes/stalls/steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/simulated.hpp"
#include "probes/stalls/made_points.hpp"

namespace clprobe::stalls {
namespace {

constexpr double loads = 16.0;  // of an access of latency-bound

std::vector<KnownLatency> three_levels(double memory_ns) {
  return {{.up_to = kibibytes(128), .ns = 20, .low_ns = 19.9, .high_ns = 20.1},
          {.up_to = mebibytes(40), .ns = 140, .low_ns = 139, .high_ns = 141},
          {.ns = memory_ns, .low_ns = memory_ns - 1, .high_ns = memory_ns + 1}};
}

/// Of a kernel whose loads take so long in the arrays of the three levels.
Findings found_with(const std::vector<KnownLatency>& known, double far_ns, double near_ns,
                    double first_ns, DeviceType type = DeviceType::gpu) {
  Request request;
  request.own.set("case", std::vector<std::string>{"latency-bound"});
  request.known.latencies = known;
  std::vector<Point> points = probe.plan(gpu(), request).points;
  std::erase_if(points, [](const Point& each) { return crowd_of(each) > 0; });
  for (Point& point : points) {
    const double load_ns = has_cause(point, Cause::main_memory)    ? far_ns
                           : has_cause(point, Cause::second_cache) ? near_ns
                                                                   : first_ns;
    set_time(point, loads * load_ns + 100.0);
  }
  DeviceInfo device = gpu();
  device.type = type;
  return analyse(device, points);
}

double added_ns(const Findings& found, std::string_view name, int level) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.level == level) return *each.value * 1e9;
  }
  FAIL("no such finding");
  return 0.0;
}

}  // namespace

TEST_CASE("what a level adds to a load stands beside what latency found") {
  const Findings found = found_with(three_levels(330), 335, 142, 20);
  CHECK(added_ns(found, "added", 3) == doctest::Approx(193).epsilon(0.02));
  CHECK(added_ns(found, "added", 2) == doctest::Approx(122).epsilon(0.02));
  CHECK(added_ns(found, "added_by_latency", 3) == doctest::Approx(190));
  CHECK(added_ns(found, "added_by_latency", 2) == doctest::Approx(120));
  const Finding* const verdict = find(found, "as_latency", "latency-bound");
  REQUIRE(verdict != nullptr);
  CHECK(verdict->label == "agree");
  CHECK(verdict->reason.find("L2 minus L1: 12") == 0);
  CHECK(verdict->reason.find("; main memory minus L2: 19") != std::string::npos);
  CHECK(verdict->reason.find(" ns per load, 190 ns by the latency probe") != std::string::npos);
}

TEST_CASE("more than a tenth beside the intervals is a doubt") {
  const auto says = [](double memory_ns) {
    const Findings found = found_with(three_levels(memory_ns), 340, 140, 20);
    return find(found, "as_latency", "latency-bound")->label;
  };
  // 200 ns here, with an interval of some ns.
  CHECK(says(340 - 15) == "agree");
  CHECK(says(340 - 32) == "doubt");
  CHECK(says(340 + 18) == "agree");
  CHECK(says(340 + 40) == "doubt");
}

TEST_CASE("without latency's levels there is no verdict, and no step of arrays that it lacks") {
  const Findings found = found_with({}, 335, 142, 20);
  CHECK(added_ns(found, "added", 2) == doctest::Approx(122).epsilon(0.02));
  CHECK(find(found, "as_latency", "latency-bound") == nullptr);
  std::vector<KnownLatency> near = three_levels(330);
  near.pop_back();
  const Findings less = found_with(near, 335, 142, 20);
  CHECK(added_ns(less, "added_by_latency", 2) == doctest::Approx(120));
  const auto of_memory = std::count_if(
      less.findings.begin(), less.findings.end(),
      [](const Finding& each) { return each.name == "added_by_latency" && each.level == 3; });
  CHECK(of_memory == 0);
  CHECK(find(less, "as_latency", "latency-bound")->label == "agree");
  // Chases that a core overlaps.
  const Findings cpu = found_with(three_levels(330), 335, 142, 20, DeviceType::cpu);
  CHECK(find(cpu, "added", "latency-bound") == nullptr);
}

TEST_CASE("levels that latency finds on a simulated machine are those of the arrays") {
  const Probe* const latency = find_probe("latency");
  REQUIRE(latency != nullptr);
  const auto backend = simulated_backend(simulator::preset("gsi"), 1);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host changes nothing
  Request request;
  request.series = {"global"};
  const ProbeResult result = measure(*latency, *backend, request, budget, {});
  Known known;
  latency->learn(result, known);
  REQUIRE(known.latencies.size() >= 3);
  CHECK(known.latencies.back().up_to.count == 0);
  for (std::size_t i = 1; i < known.latencies.size(); ++i) {
    CHECK(known.latencies[i].ns > known.latencies[i - 1].ns);
  }
  // A cycle of the first level, 29 to 61 of the second, 197 to 261 of memory, at 0.7 GHz.
  const double first = known.latencies.front().ns;
  const double second = known.latencies[1].ns;
  const double memory = known.latencies.back().ns;
  CHECK(first < 10.0);
  CHECK(second == doctest::Approx(45 / 0.7).epsilon(0.2));
  CHECK(memory == doctest::Approx(229 / 0.7).epsilon(0.2));
  const Findings found = found_with(known.latencies, memory, second, first);
  CHECK(find(found, "as_latency", "latency-bound")->label == "agree");
  const Findings other = found_with(known.latencies, memory, second, first + 30.0);
  CHECK(find(other, "as_latency", "latency-bound")->label == "doubt");
}

}  // namespace clprobe::stalls
