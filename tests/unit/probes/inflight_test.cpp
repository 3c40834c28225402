// SPDX-License-Identifier: Apache-2.0
// The plan of `inflight`, what it refuses, its lines and its findings; no OpenCL.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "clprobe/simulated.hpp"
#include "probes/inflight/findings.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe {
namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.compute_units = 132;
  device.cache_line = {128};
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.timer = Timer::clock;
  device.clock = {.kind = ClockKind::nvidia, .rate = ClockRate::core_cycles, .ticks_per_ns = 2.0};
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.sub_group_size = 1;
  device.cache_line = {64};
  return device;
}

const Probe& probe() { return *find_probe("inflight"); }

std::set<std::string> series_of(const Plan& plan) {
  std::set<std::string> series;
  for (const Point& each : plan.points) series.insert(each.series);
  return series;
}

Point block(int loads, int merger, const char* mode, int items) {
  Point point;
  point.series = "cache-x" + std::to_string(loads);
  point.parameters = {{"target", std::string("cache")},   {"buffer_bytes", std::int64_t{1 << 20}},
                      {"line_bytes", std::int64_t{128}},  {"sub_group", std::int64_t{32}},
                      {"loads", std::int64_t{loads}},     {"merger", std::int64_t{merger}},
                      {"merger_mode", std::string(mode)}, {"work_items", std::int64_t{items}}};
  return point;
}

TEST_CASE("a GPU with a clock gets curves of both targets, and chains") {
  const Plan plan = probe().plan(gpu(), {});
  const std::set<std::string> series = series_of(plan);
  for (const char* const name :
       {"overhead", "cache-x1", "cache-x8", "memory-x1", "memory-x4", "cache-chains",
        "memory-chains", "loaded-latency", "loaded-traffic"}) {
    CAPTURE(name);
    CHECK(series.contains(name));
  }
  CHECK_FALSE(series.contains("host-x1"));
  CHECK(plan.findings.empty());
  for (const Point& each : plan.points) {
    if (is_loaded(each)) continue;
    const InflightShape shape = InflightShape::of(each);
    CHECK(shape.work_items <= 1024);
    CHECK(shape.lines_per_round() * 2 <= shape.lines);
    CHECK((shape.lines & (shape.lines - 1)) == 0);
  }
}

TEST_CASE("processors have no curves, and it is said why") {
  const Plan plan = probe().plan(cpu(), {});
  CHECK(series_of(plan) ==
        std::set<std::string>{"cache-chains", "memory-chains", "loaded-latency", "loaded-traffic"});
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings.front().name == "limit");
  CHECK_FALSE(plan.findings.front().reason.empty());
  for (const Point& each : plan.points) {
    if (!is_loaded(each)) CHECK(InflightShape::of(each).work_items == 1);
  }
}

TEST_CASE("without a clock chains alone are measured, and it is said why") {
  DeviceInfo blind = gpu();
  blind.timer = Timer::event;
  const Plan plan = probe().plan(blind, {});
  CHECK(series_of(plan) == std::set<std::string>{"cache-chains", "memory-chains"});
  REQUIRE(plan.findings.size() == 2);
  CHECK(plan.findings[0].name == "limit");
  CHECK(plan.findings[1].name == "memory_parallelism");
  for (const Finding& each : plan.findings) CHECK(each.reason.find("clock") != std::string::npos);
}

TEST_CASE("--series narrows the plan, and a word of another probe leaves nothing") {
  const auto of = [](std::vector<std::string> words) {
    Limits limits;
    limits.series = std::move(words);
    return probe().plan(gpu(), limits);
  };
  CHECK(series_of(of({"chains"})) == std::set<std::string>{"cache-chains", "memory-chains"});
  CHECK(series_of(of({"loaded"})) == std::set<std::string>{"loaded-latency", "loaded-traffic"});
  const std::set<std::string> curves = series_of(of({"thread-latency"}));
  CHECK(curves.contains("overhead"));
  CHECK(curves.contains("memory-x8"));
  CHECK_FALSE(curves.contains("cache-chains"));
  const Plan other = of({"global"});
  CHECK(other.points.empty());
  CHECK(other.findings.empty());
}

TEST_CASE("streams and the chase together keep to the memory that is allowed") {
  Limits limits;
  limits.max_memory = mebibytes(64);
  for (const Point& each : probe().plan(gpu(), limits).points) {
    if (!is_loaded(each)) continue;
    const LoadedShape shape = LoadedShape::of(each);
    CHECK(2 * each.parameters.integer("buffer_bytes") <= 64 << 20);
    CHECK(shape.vectors() * 16 ==
          static_cast<std::uint64_t>(each.parameters.integer("buffer_bytes")));
    CHECK(shape.items <= 256);
  }
}

TEST_CASE("a processor keeps a core for the chase, and one core is tried all the same") {
  for (const std::int64_t cores : {1, 2, 64}) {
    DeviceInfo device = cpu();
    device.compute_units = cores;
    for (const Point& each : probe().plan(device, {}).points) {
      if (!is_loaded(each)) continue;
      const LoadedShape shape = LoadedShape::of(each);
      CHECK(shape.items == 1);
      if (shape.groups > 0) {
        CHECK(shape.groups == static_cast<std::uint64_t>(std::max<std::int64_t>(1, cores - 1)));
      }
    }
  }
}

TEST_CASE("what is asked for is what is planned") {
  Limits limits;
  limits.in_flight = {{32, 64}, {2}, {1, 4}, {"memory"}};
  const Plan plan = probe().plan(gpu(), limits);
  CHECK(series_of(plan) == std::set<std::string>{"overhead", "memory-x2", "memory-x2-within-4",
                                                 "memory-x2-across-4", "memory-chains"});
  const auto planned = std::count_if(plan.points.begin(), plan.points.end(),
                                     [](const Point& each) { return each.series == "memory-x2"; });
  CHECK(planned == 2);
}

TEST_CASE("what a device can never do is refused in one line with the nearest choice") {
  Limits limits;
  limits.in_flight.work_items = {64, 2048};
  CHECK(probe().check(gpu(), limits) ==
        "--work-items: 2048 are more than a work-group of it has: choose 1 to 1024");
  limits = {};
  limits.in_flight.mergers = {4096};
  CHECK(probe().check(gpu(), limits).starts_with("--mergers: 4096"));
  limits = {};
  limits.in_flight = {{1024}, {16}, {32}, {"cache"}};
  CHECK(probe().check(gpu(), limits).empty());
}

TEST_CASE("the cycle of lines visits each line once and can be entered anywhere") {
  for (const std::uint32_t lines : {1U, 2U, 8U, 4096U}) {
    const LineCycle cycle{lines - 1};
    std::set<std::uint32_t> seen;
    std::uint32_t line = 0;
    for (std::uint32_t k = 0; k < lines; ++k) {
      CHECK(cycle.at(k) == line);
      seen.insert(line);
      line = cycle.after(line);
    }
    CHECK(seen.size() == lines);
    CHECK(line == 0);
  }
}

TEST_CASE("chains meet no line that a launch of more or fewer chains has read before them") {
  InflightShape shape;
  shape.kind = InflightKind::chains;
  shape.lines = 1U << 14U;
  std::set<std::uint32_t> read;
  std::uint64_t position = 0;
  std::uint64_t all = 0;
  for (const auto& [chains, hops] : {std::pair(1U, 128U),
                                     {16U, 1U},
                                     {16U, 128U},
                                     {4U, 128U},
                                     {8U, 31U},
                                     {1U, 128U},
                                     {64U, 100U},
                                     {2U, 128U}}) {
    shape.chains = chains;
    const std::uint64_t distance = shape.chain_distance(hops);
    for (std::uint32_t line : shape.chain_lines(position, distance)) {
      for (std::uint32_t hop = 0; hop < hops; ++hop) {
        read.insert(line);
        line = shape.cycle().after(line);
        ++all;
      }
    }
    position += shape.chain_positions(hops);
  }
  REQUIRE(position <= shape.lines);
  CHECK(read.size() == all);
  // More than there are lines: they divide the cycle, and go on.
  shape.chains = 64;
  CHECK(shape.chain_distance(1024) == (1U << 14U) / 64);
  CHECK(shape.chain_positions(1024) == 1024);
}

TEST_CASE("mergers share lines within a sub-group or across") {
  const InflightShape within = InflightShape::of(block(1, 4, "within", 64));
  CHECK(within.place_of(0) == within.place_of(3));
  CHECK(within.place_of(3) != within.place_of(4));
  CHECK(within.lines_per_load() == 16);
  const InflightShape across = InflightShape::of(block(1, 2, "across", 128));
  CHECK(across.place_of(5) == across.place_of(37));
  CHECK(across.place_of(5) != across.place_of(6));
  CHECK(across.place_of(5) != across.place_of(69));
  CHECK(across.lines_per_load() == 64);
}

TEST_CASE("the witness counts every load of every round") {
  const InflightShape one = InflightShape::of(block(1, 1, "within", 2));
  const LineCycle cycle = one.cycle();
  // Rounds 0 and 1 of two work-items, from line 6.
  const std::uint64_t expected =
      std::uint64_t{cycle.after(6)} + cycle.after(7) + cycle.after(8) + cycle.after(9);
  CHECK(one.block_witness(6, 1) == expected);
  CHECK(one.block_witness(6, 2) > expected);
}

/// Samples of a pool of `capacity` requests: what does not fit waits for those before.
std::vector<Point> curve(int loads, int capacity, double latency) {
  constexpr double interval = 0.3;
  std::vector<Point> points;
  for (int n = 2; n <= 512; n += 2) {
    Point point = block(loads, 1, "within", n);
    const int waits = (n * loads - 1) / capacity;
    const double cycles = latency + interval * n * loads + waits * (latency - interval * capacity);
    point.samples.assign(
        3, {.accesses = 1, .ticks = static_cast<std::uint64_t>(cycles), .host_ns = 1000});
    points.push_back(point);
  }
  return points;
}

/// Else `compare` could not judge them.
void check_intervals(const Findings& found) {
  for (const Finding& each : found.findings) {
    if (!each.value) continue;
    CAPTURE(each.series);
    CAPTURE(each.name);
    REQUIRE(each.low);
    REQUIRE(each.high);
    CHECK(*each.low <= *each.value);
    CHECK(*each.value <= *each.high);
  }
}

TEST_CASE("jumps at as many requests are a pool, through the probe's own findings") {
  std::vector<Point> points;
  for (const int loads : {1, 2, 3}) {
    for (Point& each : curve(loads, 200, 400.0)) points.push_back(std::move(each));
  }
  const Findings found = probe().analyse(gpu(), points);
  const auto limit = std::find_if(found.findings.begin(), found.findings.end(),
                                  [](const Finding& each) { return each.name == "limit"; });
  REQUIRE(limit != found.findings.end());
  CAPTURE(limit->reason);
  CHECK(limit->label == "MSHR");
  const auto requests = std::find_if(found.findings.begin(), found.findings.end(),
                                     [](const Finding& each) { return each.name == "requests"; });
  REQUIRE(requests != found.findings.end());
  check_intervals(found);
  CHECK(*requests->low <= 200);
  CHECK(*requests->high >= 200);
}

/// Samples of a device whose memory gives 3000 bytes a ns at most, with an idle latency of 500 ns:
/// what is asked for beyond waits in a queue.
std::vector<Point> loaded_samples(std::vector<Point> points, double least_asked) {
  for (Point& point : points) {
    const LoadedShape shape = LoadedShape::of(point);
    const double asked =
        shape.groups == 0
            ? 0.0
            : std::max(least_asked, 24000.0 / (1.0 + static_cast<double>(shape.delay) / 16.0));
    constexpr double most = 3000.0;
    const double used = most * asked / (most + asked);
    const double latency = 500.0 / (1.0 - used / most);
    // By a clock of 2 ticks a ns.
    point.samples.assign(3, {.accesses = 100, .host_ns = 1000});
    const double ns = shape.counts_traffic ? 128.0 / used : latency;
    for (Sample& sample : point.samples) {
      sample.accesses = 1'000'000;
      sample.ticks = static_cast<std::uint64_t>(2e6 * ns);
    }
  }
  return points;
}

std::vector<Point> loaded_plan() {
  Limits limits;
  limits.series = {"loaded"};
  return probe().plan(gpu(), limits).points;
}

const Finding* found_of(const Findings& found, std::string_view name, std::string_view series) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.series == series) return &each;
  }
  return nullptr;
}

TEST_CASE("pairs of traffic and latency give what is in flight where the latency has doubled") {
  std::vector<Point> points = loaded_samples(loaded_plan(), 0.0);
  const std::vector<Point> more = probe().refine(gpu(), {}, points);
  CHECK(more.size() == 6);  // three delays, in both series
  for (const Point& each : more) CHECK(is_loaded(each));
  for (Point& each : loaded_samples(more, 0.0)) points.push_back(std::move(each));
  const Findings found = probe().analyse(gpu(), points);
  check_intervals(found);
  const Finding* const all = found_of(found, "memory_parallelism", "device");
  REQUIRE(all != nullptr);
  // Half of the bandwidth is used there: 1500 bytes a ns, 1000 ns, lines of 128 bytes.
  constexpr double truth = 1500.0 * 1000.0 / 128.0;
  CHECK(*all->value == doctest::Approx(truth).epsilon(0.1));
  CHECK(*all->low < truth);
  CHECK(*all->high > truth);
  const Finding* const each = found_of(found, "memory_parallelism", "compute-unit");
  REQUIRE(each != nullptr);
  CHECK(*each->value == doctest::Approx(*all->value / 132.0));
  const Finding* const bytes = found_of(found, "bytes_in_flight", "device");
  REQUIRE(bytes != nullptr);
  CHECK(*bytes->value == doctest::Approx(*all->value * 128.0));
  const Finding* const idle = found_of(found, "latency", "loaded");
  REQUIRE(idle != nullptr);
  CHECK(*idle->value == doctest::Approx(500e-9));
}

TEST_CASE("a latency that never doubles gives a bound below what was in flight") {
  std::vector<Point> few;
  for (Point& each : loaded_plan()) {
    const LoadedShape shape = LoadedShape::of(each);
    if (shape.groups == 0 || shape.delay >= 1024) few.push_back(std::move(each));
  }
  const std::vector<Point> points = loaded_samples(std::move(few), 0.0);
  CHECK(probe().refine(gpu(), {}, points).empty());
  const Findings found = probe().analyse(gpu(), points);
  check_intervals(found);
  CHECK(found_of(found, "memory_parallelism", "device") == nullptr);
  const Finding* const least = found_of(found, "memory_parallelism_at_least", "device");
  REQUIRE(least != nullptr);
  const double asked = 24000.0 / (1.0 + 1024.0 / 16.0);
  const double used = 3000.0 * asked / (3000.0 + asked);
  CHECK(*least->value == doctest::Approx(used * 500.0 / 128.0));
  const Finding* const knee = found_of(found, "knee_bandwidth", "loaded");
  REQUIRE(knee != nullptr);
  CHECK_FALSE(knee->value);
  CHECK_FALSE(knee->reason.empty());
}

TEST_CASE("a chase beside which nothing was streamed says nothing of parallelism") {
  std::vector<Point> points = loaded_samples(loaded_plan(), 0.0);
  std::erase_if(points, [](const Point& each) { return LoadedShape::of(each).groups > 0; });
  REQUIRE(points.size() == 1);
  CHECK(probe().analyse(gpu(), points).findings.empty());
}

TEST_CASE("what one core of a processor has outstanding is told as its parallelism") {
  std::vector<Point> points;
  Limits limits;
  limits.series = {"chains"};
  for (Point& each : probe().plan(cpu(), limits).points) {
    const auto chains = static_cast<double>(InflightShape::of(each).chains);
    const double ns = 100.0 / std::min(chains, 10.0);
    each.samples.assign(
        3, {.accesses = 1000, .ticks = static_cast<std::uint64_t>(2000 * ns), .host_ns = 1000});
    points.push_back(std::move(each));
  }
  const Findings found = probe().analyse(cpu(), points);
  check_intervals(found);
  const Finding* const core = found_of(found, "memory_parallelism", "compute-unit");
  REQUIRE(core != nullptr);
  CHECK(*core->value == doctest::Approx(10.0).epsilon(0.1));
  CHECK(*core->low <= 10.0);
  CHECK(*core->high >= 10.0);
}

TEST_CASE("without points nothing is found, and a failed point counts for nothing") {
  CHECK(probe().analyse(gpu(), {}).findings.empty());
  std::vector<Point> points = curve(1, 200, 400.0);
  for (Point& each : points) each.failure = "lost";
  CHECK(probe().analyse(gpu(), points).findings.empty());
}

}  // namespace
}  // namespace clprobe
