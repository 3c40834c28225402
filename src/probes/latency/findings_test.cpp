// SPDX-License-Identifier: Apache-2.0
// What the probe `latency` refines and concludes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/latency/test_devices.hpp"

namespace clprobe::latency {
namespace {

/// A curve with the given plateaus; a size beyond a capacity misses by its share.
struct Plateau {
  double ns;
  double capacity_bytes;  // 0: the last
};

double time_at(const std::vector<Plateau>& plateaus, double size) {
  double time = 0.0;
  double nearer = 0.0;
  for (const Plateau& plateau : plateaus) {
    const bool is_last = plateau.capacity_bytes == 0.0;
    const double within = is_last ? 1.0 : std::min(1.0, plateau.capacity_bytes / size);
    time += plateau.ns * (within - nearer);
    nearer = within;
  }
  return time;
}

/// Gives every point of `series` samples, by the clock of big_gpu() (2 ticks a nanosecond).
void take_samples(std::vector<Point>& points, std::string_view series,
                  const std::function<double(double)>& time_of) {
  constexpr std::uint64_t accesses = 100'000;
  for (Point& point : points) {
    if (point.series != series) continue;
    const double ns = time_of(static_cast<double>(number(point, "working_set_bytes")));
    Sample sample{.accesses = accesses};
    sample.ticks = static_cast<std::uint64_t>(2.0 * ns * static_cast<double>(accesses));
    sample.event_ns = *sample.ticks / 2;
    sample.host_ns = *sample.ticks / 2;
    point.samples = {sample, sample, sample};
  }
}

void take_samples(std::vector<Point>& points, std::string_view series,
                  const std::vector<Plateau>& plateaus) {
  take_samples(points, series, [&](double size) { return time_at(plateaus, size); });
}

/// Plateaus whose knees end at 1.15 times the capacity, so that even near ones stay apart.
std::function<double(double)> sharp(std::vector<Plateau> plateaus) {
  return [plateaus = std::move(plateaus)](double size) {
    double time = plateaus.front().ns;
    for (std::size_t i = 1; i < plateaus.size(); ++i) {
      const double beyond = (size / plateaus[i - 1].capacity_bytes - 1.0) / 0.15;
      time += (plateaus[i].ns - plateaus[i - 1].ns) * std::clamp(beyond, 0.0, 1.0);
    }
    return time;
  };
}

std::vector<Plateau> three_levels() {
  return {{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {450.0, 0.0}};
}

std::vector<Point> measured(const DeviceInfo& device, const Request& request) {
  std::vector<Point> points = plan_of(device, request).points;
  take_samples(points, "global", three_levels());
  return points;
}

TEST_CASE("refining adds sizes around the knees, none twice, all inside the curve") {
  const std::vector<Point> points = measured(big_gpu(), {});
  const std::vector<Point> more = probe.refine(big_gpu(), {}, points);
  REQUIRE_FALSE(more.empty());
  auto sizes = sizes_of(points, "global");
  const std::uint64_t largest = sizes.back();
  bool near_first_knee = false;
  for (const Point& point : more) {
    const std::uint64_t size = number(point, "working_set_bytes");
    CHECK(point.series == "global");
    CHECK(size % number(point, "step_bytes") == 0);
    CHECK(std::find(sizes.begin(), sizes.end(), size) == sizes.end());
    CHECK(size <= largest);
    CHECK(shape_of<RingShape>(point).buffer_bytes >= size);
    CHECK(point.samples.empty());
    CHECK(point.failure.empty());
    near_first_knee =
        near_first_knee || (size > kibibytes(150).count && size < kibibytes(250).count);
    sizes.push_back(size);
  }
  CHECK(near_first_knee);
}

TEST_CASE("refining twice adds nothing that is there") {
  std::vector<Point> points = measured(big_gpu(), {});
  for (int round = 0; round < 3; ++round) {
    for (Point& point : probe.refine(big_gpu(), {}, points)) {
      points.push_back(std::move(point));
    }
    take_samples(points, "global", three_levels());
  }
  const auto sizes = sizes_of(points, "global");
  CHECK(std::set<std::uint64_t>(sizes.begin(), sizes.end()).size() == sizes.size());
}

TEST_CASE("what a plan keeps sparse is not refined") {
  const auto added_from = [](const DeviceInfo& device, Bytes from) {
    std::vector<Point> points = plan_of(device).points;
    take_samples(points, "global", {{16.0, 192.0 * 1024}, {140.0, 300.0 * 1048576}, {450.0, 0.0}});
    const auto sizes = sizes_of(probe.refine(device, {}, points), "global");
    return std::count_if(sizes.begin(), sizes.end(), [&](auto size) { return size >= from.count; });
  };
  DeviceInfo cpu = big_gpu();
  cpu.type = DeviceType::cpu;
  CHECK(added_from(big_gpu(), mebibytes(128)) > 0);
  CHECK(added_from(cpu, mebibytes(128)) == 0);
  CHECK(added_from(cpu, Bytes{}) > 0);
}

TEST_CASE("sizes that were asked for, quick runs and empty curves are not refined") {
  Request request;
  set_sizes(request, {{kibibytes(1), gibibytes(1), 1.2}});
  CHECK(probe.refine(big_gpu(), request, measured(big_gpu(), request)).empty());
  request = {};
  request.effort = Effort::quick;
  CHECK(probe.refine(big_gpu(), request, measured(big_gpu(), request)).empty());
  CHECK(probe.refine(big_gpu(), {}, {}).empty());
  CHECK(probe.refine(big_gpu(), {}, plan_of(big_gpu()).points).empty());
}

std::vector<Finding> findings_of(const Findings& found, std::string_view series,
                                 std::string_view name) {
  std::vector<Finding> chosen;
  for (const Finding& finding : found.findings) {
    if (finding.series == series && finding.name == name) chosen.push_back(finding);
  }
  return chosen;
}

TEST_CASE("every finding is declared, in its unit") {
  std::vector<Point> points = measured(big_gpu(), {});
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);
  REQUIRE_FALSE(found.findings.empty());
  for (const Finding& each : found.findings) {
    CAPTURE(each.name);
    const auto spec = std::find_if(probe.findings.begin(), probe.findings.end(),
                                   [&](const FindingSpec& of) { return of.name == each.name; });
    REQUIRE(spec != probe.findings.end());
    CHECK(spec->unit == each.unit);
  }
}

TEST_CASE("a curve of three levels gives three of each finding") {
  std::vector<Point> points = measured(big_gpu(), {});
  for (Point& point : probe.refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", three_levels());
  // Flat where the lines fit: no step is one of translation.
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);

  const auto latencies = findings_of(found, "global", "latency");
  const auto cycles = findings_of(found, "global", "cycles");
  const auto capacities = findings_of(found, "global", "capacity");
  REQUIRE(latencies.size() == 3);
  REQUIRE(cycles.size() == 3);
  REQUIRE(capacities.size() == 3);
  const std::array ns{16.0, 140.0, 450.0};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(latencies[i].level == static_cast<int>(i) + 1);
    CHECK(latencies[i].unit == "seconds");
    CHECK(latencies[i].value.value_or(0) == doctest::Approx(ns[i] * 1e-9).scale(0).epsilon(0.05));
    CHECK(latencies[i].low <= latencies[i].value);
    CHECK(latencies[i].value <= latencies[i].high);
    CHECK(cycles[i].value.value_or(0) ==
          doctest::Approx(latencies[i].value.value_or(0) * 2e9).epsilon(1e-9));
    CHECK(cycles[i].unit == "cycles");
  }
  // A chase sees a capacity where 5 % of the accesses miss.
  constexpr std::array seen{192.0 * 1024 / 0.95, 32.0 * 1048576 / 0.95};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(capacities[i].low.value_or(0) <= seen[i]);
    CHECK(capacities[i].high.value_or(0) >= seen[i]);
    CHECK(capacities[i].value.value_or(0) == doctest::Approx(seen[i]).epsilon(0.03));
  }
  CHECK_FALSE(capacities[2].reason.empty());
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].label == "cache");
  CHECK(steps[1].label == "cache");
}

TEST_CASE("later probes know the capacities of levels, but not those of translations") {
  ProbeResult result{.probe = "latency"};
  for (const int level : {2, 1, 3, 4}) {
    Finding capacity;
    capacity.name = "capacity";
    capacity.series = "global";
    capacity.level = level;
    if (level < 4) capacity.value = 1e5 * level;
    result.findings.push_back(capacity);
  }
  Finding step;
  step.name = "step";
  step.series = "global";
  step.level = 3;
  step.label = "translation";
  result.findings.push_back(step);
  Known known{.levels = {{7, Bytes{7}}}};
  probe.learn(result, known);
  CHECK(known.last_cache.count == 200'000);
  CHECK(known.levels == std::vector<KnownLevel>{{1, Bytes{100'000}}, {2, Bytes{200'000}}});
}

TEST_CASE("a cache whose next level ends at twice its size is not said to be one for sure") {
  std::vector<Point> points = plan_of(big_gpu()).points;
  const auto halves =
      sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 64.0 * 1048576}, {450.0, 0.0}});
  take_samples(points, "global", halves);
  for (Point& point : probe.refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", halves);
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), points);
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].label == "cache");
  CHECK(steps[0].reason.empty());
  CHECK(steps[1].label == "cache-or-far");
  CHECK(steps[1].reason.find("ends at about twice this size") != std::string::npos);
  CHECK(steps[2].label == "cache");
}

TEST_CASE("a curve that ends too early to exclude a far half says so") {
  Request request;
  const auto second_step = [&](Bytes most) {
    set_sizes(request, {{kibibytes(1), most, 0.0}});
    std::vector<Point> points = plan_of(big_gpu(), request).points;
    take_samples(points, "global",
                 sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 0.0}}));
    take_samples(points, "global-pages", {{16.0, 0.0}});
    const auto steps = findings_of(probe.analyse(big_gpu(), points), "global", "step");
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].label == "cache");
    return steps[1];
  };
  const Finding early = second_step(mebibytes(64));
  CHECK(early.label == "cache-or-far");
  CHECK(early.reason.find("was not measured up to twice this size") != std::string::npos);
  CHECK(second_step(mebibytes(128)).label == "cache");
}

TEST_CASE("where nothing was measured with one node per page, the step is unknown and says why") {
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), {}));
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].label == "unknown");
  CHECK(steps[0].reason.find("not measured") != std::string::npos);
}

TEST_CASE("there are no cycles where a tick is no cycle of the core") {
  const std::vector<Point> points = measured(big_gpu(), {});
  for (const ClockRate rate : {ClockRate::unknown, ClockRate::constant_rate}) {
    DeviceInfo device = big_gpu();
    device.clock.rate = rate;
    const Findings found = probe.analyse(device, points);
    CHECK(findings_of(found, "global", "latency").size() == 3);
    CHECK(findings_of(found, "global", "cycles").empty());
  }
  DeviceInfo device = big_gpu();
  device.timer = Timer::event;  // one length of sample: no slope, and nothing to say
  CHECK(findings_of(probe.analyse(device, points), "global", "cycles").empty());
}

TEST_CASE("another tool's times are cycles as well where its clock is known") {
  const std::vector<Point> measured_points = measured(big_gpu(), {});
  const auto curve = latency_curve(measured_points, "global", big_gpu());
  std::vector<Point> points;
  points.reserve(curve.size());
  for (const auto& at : curve) {
    Point point;
    point.series = "global";
    point.parameters.set("working_set_bytes", static_cast<std::int64_t>(at.working_set_bytes));
    point.facts.set("imported_ns", at.latency);
    points.push_back(std::move(point));
  }
  DeviceInfo device;
  device.timer = Timer::imported;
  CHECK(findings_of(probe.analyse(device, points), "global", "cycles").empty());
  device.clock.rate = ClockRate::core_cycles;
  device.clock.ticks_per_ns = 2.0;
  const Findings found = probe.analyse(device, points);
  const auto times = findings_of(found, "global", "latency");
  const auto cycles = findings_of(found, "global", "cycles");
  REQUIRE(cycles.size() == times.size());
  REQUIRE(cycles.size() == 3);
  CHECK(*cycles[1].value == doctest::Approx(*times[1].value * 2e9));
}

std::vector<Finding> beyond_a_level(const std::function<double(double)>& time_of) {
  std::vector<Point> points = measured(big_gpu(), {});
  take_samples(points, "global", time_of);
  return findings_of(probe.analyse(big_gpu(), points), "global", "beyond");
}

TEST_CASE("a latency that rises on behind the last level is said to, and is no level") {
  constexpr double end = 64.0 * 1024 * 1024;
  const auto rising_to = [](double max_ns) {
    return [max_ns](double size) {
      const double last = std::log(static_cast<double>(gibibytes(1).count) / end);
      return size <= end ? 20.0 : 20.0 * std::pow(max_ns / 20.0, std::log(size / end) / last);
    };
  };
  const auto found = beyond_a_level(rising_to(320.0));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].level.has_value());
  CHECK(*found[0].value > 250e-9);
  CHECK(*found[0].value <= 320e-9);
  CHECK(found[0].high == found[0].value);
  CHECK(*found[0].low < 100e-9);
  CHECK(found[0].reason.find("no plateau beyond ") == 0);
  CHECK(beyond_a_level(rising_to(24.0)).empty());
  CHECK(beyond_a_level([](double) { return 20.0; }).empty());
}

TEST_CASE("behind a plateau that is memory there is nothing") {
  CHECK(findings_of(probe.analyse(big_gpu(), measured(big_gpu(), {})), "global", "beyond").empty());
}

TEST_CASE("what an order of addresses saves is its latency beside that of a random one") {
  const auto in_order = [](double ns, bool has_global) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, "global-in-order", [&](double) { return ns; });
    const auto all =
        findings_of(probe.analyse(big_gpu(), plan.points), "global-in-order", "in_order");
    REQUIRE(all.size() == 1);
    return all.front();
  };
  // At 1 GiB 441 ns, since a thirty-second of the loads hits the second level.
  CHECK(*in_order(44.1, true).value == doctest::Approx(0.1).epsilon(0.01));
  CHECK(*in_order(441.0, true).value == doctest::Approx(1.0).epsilon(0.01));
  CHECK_FALSE(in_order(44.1, false).value.has_value());
  CHECK(
      findings_of(probe.analyse(big_gpu(), measured(big_gpu(), {})), "global-in-order", "in_order")
          .empty());
}

TEST_CASE("each level says what it adds to the one before") {
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), {}));
  const auto added = findings_of(found, "global", "added");
  const auto times = findings_of(found, "global", "latency");
  REQUIRE(times.size() == 3);
  REQUIRE(added.size() == 2);
  for (std::size_t i = 0; i < added.size(); ++i) {
    CHECK(added[i].level == times[i + 1].level);
    CHECK(*added[i].value == *times[i + 1].value - *times[i].value);
    CHECK(*added[i].low == *times[i + 1].low - *times[i].high);
    CHECK(*added[i].high == *times[i + 1].high - *times[i].low);
  }
}

TEST_CASE("a memory's nearest level is set beside that of global memory, and its curve") {
  const auto beside = [](std::string_view series, const std::function<double(double)>& time_of,
                         bool has_global = true) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, series, time_of);
    return findings_of(probe.analyse(big_gpu(), plan.points), series, "beside_global");
  };
  const auto global_time = [](double size) { return time_at(three_levels(), size); };
  const auto faster = beside("local", [](double) { return 12.0; });
  REQUIRE(faster.size() == 1);
  CHECK(*faster[0].value == doctest::Approx(0.75).epsilon(0.01));
  CHECK(*faster[0].low <= *faster[0].value);
  CHECK(*faster[0].high >= *faster[0].value);
  CHECK(faster[0].label.empty());
  CHECK(beside("image", global_time).at(0).label == "as global");
  CHECK(beside("image", [&](double size) { return 1.07 * global_time(size); }).at(0).label ==
        "as global");
  CHECK(beside("image", [&](double size) { return 1.2 * global_time(size); }).at(0).label.empty());
  CHECK(beside("image", [&](double size) { return 0.85 * global_time(size); }).at(0).label.empty());
  // Alike up to the first cache's end is not alike.
  CHECK(beside("image", [](double) { return 16.0; }).at(0).label.empty());
  CHECK(beside(
            "local", [](double) { return 12.0; }, false)
            .empty());
  CHECK(beside("global", global_time).empty());
}

TEST_CASE("too few points for a level are said to be too few") {
  Request request;
  set_sizes(request, {{kibibytes(4), kibibytes(8), 2.0}});
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), request));
  REQUIRE(found.findings.size() == 1);
  CHECK_FALSE(found.findings[0].value.has_value());
  CHECK(found.findings[0].reason.find("2 points") != std::string::npos);
  CHECK(probe.analyse(big_gpu(), {}).findings.empty());
}

}  // namespace
TEST_CASE("memory of the host that answers as the device's does lies on the device") {
  const auto host_memory = [](double host_ns, bool has_global) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, "host", [&](double) { return host_ns; });
    for (const Finding& each : probe.analyse(big_gpu(), plan.points).findings) {
      if (each.name == "host_memory") return each;
    }
    return Finding{};
  };
  // At 64 MiB half of the loads miss the second level: 295 ns.
  CHECK(host_memory(300.0, true).label == "device");
  CHECK(host_memory(340.0, true).label == "device");
  CHECK(host_memory(370.0, true).label == "host");
  CHECK(host_memory(1200.0, true).label == "host");
  CHECK(host_memory(1200.0, true).series == "host");
  CHECK(host_memory(1200.0, false).label.empty());
  CHECK(host_memory(1200.0, false).reason == "as much global memory was not measured");
  // The level is there all the same, without a step: its end is no cache's.
  Plan plan = plan_of(big_gpu());
  take_samples(plan.points, "host", [](double) { return 1200.0; });
  const Findings found = probe.analyse(big_gpu(), plan.points);
  const auto latency = std::find_if(
      found.findings.begin(), found.findings.end(),
      [](const Finding& each) { return each.name == "latency" && each.series == "host"; });
  REQUIRE(latency != found.findings.end());
  CHECK(*latency->value == doctest::Approx(1200e-9).scale(0).epsilon(0.01));
}

}  // namespace clprobe::latency
