// SPDX-License-Identifier: Apache-2.0
// What the probe `latency` plans, refines and concludes; its kernels are not run here.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/levels.hpp"
#include "clprobe/registry.hpp"
#include "probes/latency/chase.hpp"

namespace clprobe {
namespace {

const Probe& latency_probe() { return *find_probe("latency"); }

DeviceInfo big_gpu() {
  DeviceInfo device;
  device.name = "Big GPU";
  device.type = DeviceType::gpu;
  device.isa = "nvptx";
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(256);
  device.max_allocation = gibibytes(64);
  device.local_memory = kibibytes(48);
  device.constant_buffer = kibibytes(64);
  device.cache_line = Bytes{128};
  device.image_buffer_pixels = 268435456;
  device.pointers_stay_valid = true;
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

DeviceInfo phone() {
  DeviceInfo device = big_gpu();
  device.name = "Phone";
  device.isa = "spir";
  device.global_memory = mebibytes(64);
  device.max_allocation = mebibytes(16);
  device.local_memory = kibibytes(32);
  device.image_buffer_pixels = 65536;
  device.cache_line = Bytes{64};
  device.pointers_stay_valid = false;
  device.timer = Timer::event;
  device.clock = {};
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device = phone();
  device.name = "CPU";
  device.type = DeviceType::cpu;
  device.isa = "x86";
  device.global_memory = gibibytes(6);
  device.max_allocation = gibibytes(2);
  device.local_memory = kibibytes(512);
  device.constant_buffer = kibibytes(512);
  device.image_buffer_pixels = 134217728;
  return device;
}

/// An AMD device: constants are ordinary memory, and a uniform chase has a cache of its own.
DeviceInfo amd() {
  DeviceInfo device = big_gpu();
  device.name = "AMD";
  device.isa = "amdgcn-gfx90a";
  device.global_memory = gibibytes(64);
  device.max_allocation = gibibytes(54);
  device.constant_buffer = gibibytes(54);
  device.local_memory = kibibytes(64);
  return device;
}

DeviceInfo bare() {
  DeviceInfo device = phone();
  device.name = "Bare";
  device.image_buffer_pixels = 0;
  device.constant_buffer = Bytes{};
  device.local_memory = Bytes{};
  device.cache_line = Bytes{};
  return device;
}

std::vector<DeviceInfo> all_devices() { return {big_gpu(), phone(), cpu(), amd(), bare()}; }

std::uint64_t number(const Point& point, std::string_view name) {
  return static_cast<std::uint64_t>(point.parameters.integer(name));
}

std::set<std::string> series_of(std::span<const Point> points) {
  std::set<std::string> series;
  for (const Point& point : points) series.insert(point.series);
  return series;
}

std::vector<std::uint64_t> sizes_of(std::span<const Point> points, std::string_view series) {
  std::vector<std::uint64_t> sizes;
  for (const Point& point : points) {
    if (point.series == series) sizes.push_back(number(point, "working_set_bytes"));
  }
  return sizes;
}

Plan plan_of(const DeviceInfo& device, const Limits& limits = {}) {
  return latency_probe().plan(device, limits);
}

/// Limits as people set them, that every device must cope with.
std::vector<Limits> many_limits() {
  std::vector<Limits> all(1);
  for (const Effort effort : {Effort::quick, Effort::thorough}) {
    all.emplace_back().effort = effort;
  }
  for (const AddressForm form : {AddressForm::pointer, AddressForm::index, AddressForm::offset}) {
    all.emplace_back().address = form;
  }
  for (const Bytes most : {kibibytes(1), kibibytes(100), mebibytes(3), mebibytes(16)}) {
    all.emplace_back().max_memory = most;
  }
  for (const Bytes step : {Bytes{8}, Bytes{64}, Bytes{200}, kibibytes(4), mebibytes(1)}) {
    all.emplace_back().step = step;
  }
  all.emplace_back().sizes = {{kibibytes(4), kibibytes(64), 2.0}};
  all.emplace_back().sizes = {{Bytes{1}, mebibytes(1), 0.0}, {mebibytes(1), mebibytes(1), 0.0}};
  all.emplace_back().sizes = {{Bytes{100}, Bytes{100}, 0.0}};
  all.emplace_back().sizes = {{gibibytes(1), gibibytes(1), 0.0}};
  all.emplace_back().series = {"global", "image"};
  return all;
}

/// What each memory of the device can hold.
void check_fits(const DeviceInfo& device, const Point& point) {
  const std::uint64_t size = number(point, "working_set_bytes");
  if (point.series == "local") CHECK(size <= device.local_memory.count);
  if (point.series.starts_with("constant")) CHECK(size <= device.constant_buffer.count);
  if (point.series == "constant-program") CHECK(size <= kibibytes(64).count);
  if (point.series == "image") {
    CHECK(size / 4 <= static_cast<std::uint64_t>(device.image_buffer_pixels));
  }
  const bool is_buffer = point.series != "local" && point.series != "constant-program";
  if (is_buffer) CHECK(number(point, "buffer_bytes") <= device.max_allocation.count);
}

/// What every plan promises, whatever the device and the limits.
void check_points(const DeviceInfo& device, const Plan& plan) {
  std::map<std::string, std::uint64_t> last;
  for (const Point& point : plan.points) {
    const std::uint64_t size = number(point, "working_set_bytes");
    const std::uint64_t step = number(point, "step_bytes");
    CAPTURE(point.series);
    CAPTURE(size);
    REQUIRE(step >= 8);
    CHECK(step % 8 == 0);
    CHECK(size % step == 0);
    CHECK(size >= 2 * step);
    CHECK(size > last[point.series]);  // rising, so none is there twice
    last[point.series] = size;
    CHECK(number(point, "buffer_bytes") >= size);
    CHECK(number(point, "line_bytes") >= 8);
    CHECK(point.samples.empty());
    CHECK(point.failure.empty());
    CHECK_NOTHROW(static_cast<void>(chase_options(point)));
    check_fits(device, point);
  }
}

TEST_CASE("plans keep to the device, whatever the limits") {
  for (const DeviceInfo& device : all_devices()) {
    for (const Limits& limits : many_limits()) {
      CAPTURE(device.name);
      const Plan plan = plan_of(device, limits);
      check_points(device, plan);
      CHECK(plan.points.size() + plan.findings.size() > 0);
    }
  }
}

TEST_CASE("without limits a plan ends at the least of 1 GiB, a buffer, and a quarter of memory") {
  const auto largest = [](const DeviceInfo& device) {
    return sizes_of(plan_of(device).points, "global").back();
  };
  CHECK(largest(big_gpu()) == gibibytes(1).count);
  CHECK(largest(phone()) == mebibytes(16).count);
  DeviceInfo device = big_gpu();
  device.global_memory = mebibytes(100);
  CHECK(largest(device) == mebibytes(25).count);
  device = big_gpu();
  device.max_allocation = mebibytes(256);
  CHECK(largest(device) == mebibytes(256).count);
}

TEST_CASE("--max-memory moves the end both ways, but never beyond one allocation") {
  Limits limits;
  limits.max_memory = mebibytes(2);
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global").back() == mebibytes(2).count);
  limits.max_memory = gibibytes(8);
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global").back() == gibibytes(8).count);
  CHECK(sizes_of(plan_of(phone(), limits).points, "global").back() == mebibytes(16).count);
}

TEST_CASE("--sizes are measured as they were asked for") {
  Limits limits;
  limits.sizes = {{kibibytes(4), kibibytes(64), 2.0}};
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global") ==
        std::vector<std::uint64_t>{4096, 8192, 16384, 32768, 65536});
  limits.sizes = {{mebibytes(5), mebibytes(5), 0.0}, {kibibytes(1), kibibytes(1), 0.0}};
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global") ==
        std::vector<std::uint64_t>{1024, 5242880});
  // Above what a plan takes by itself, since it was asked for.
  limits.sizes = {{gibibytes(6), gibibytes(6), 0.0}};
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global") ==
        std::vector<std::uint64_t>{gibibytes(6).count});
  limits.max_memory = gibibytes(2);
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global").empty());
}

TEST_CASE("neighbouring sizes are 9 % apart, but for what whole steps allow") {
  for (const DeviceInfo& device : all_devices()) {
    const Plan plan = plan_of(device);
    const auto sizes = sizes_of(plan.points, "global");
    const auto step = static_cast<double>(number(plan.points.front(), "step_bytes"));
    CHECK(sizes.front() == 1024);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      CHECK(static_cast<double>(sizes[i]) <= 1.09 * (static_cast<double>(sizes[i - 1]) + step));
    }
  }
  Limits quick;
  quick.effort = Effort::quick;
  CHECK(plan_of(big_gpu(), quick).points.size() < plan_of(big_gpu()).points.size());
}

TEST_CASE("the step is the larger of 64 bytes and the reported line, or what was asked for") {
  const auto step = [](const DeviceInfo& device, Bytes asked) {
    Limits limits;
    limits.step = asked;
    return number(plan_of(device, limits).points.front(), "step_bytes");
  };
  CHECK(step(big_gpu(), {}) == 128);
  CHECK(step(bare(), {}) == 64);
  CHECK(step(big_gpu(), Bytes{8}) == 8);
  CHECK(step(big_gpu(), kibibytes(4)) == 4096);
}

TEST_CASE("what a device has not is a finding that says so") {
  const Plan plan = plan_of(bare());
  CHECK(series_of(plan.points) == std::set<std::string>{"global", "global-pages"});
  std::set<std::string> missing;
  for (const Finding& finding : plan.findings) {
    missing.insert(finding.series);
    CHECK_FALSE(finding.value.has_value());
    CHECK_FALSE(finding.reason.empty());
    CHECK(finding.source == Source::reported);
  }
  CHECK(missing ==
        std::set<std::string>{"constant-argument", "constant-program", "local", "image"});
}

TEST_CASE("limits that leave nothing to measure are a mistake, with what to choose instead") {
  Limits limits;
  limits.sizes = {{Bytes{16}, Bytes{16}, 0.0}};
  const auto mistake = [&](const DeviceInfo& device) {
    return latency_probe().check(device, limits);
  };
  CHECK(plan_of(big_gpu(), limits).points.empty());
  CHECK(mistake(big_gpu()) ==
        "--sizes: 16 B is less than two steps of 128 B: choose at least 256 B");
  limits.sizes = {{Bytes{256}, Bytes{256}, 0.0}};
  CHECK(plan_of(big_gpu(), limits).points.size() == 5);  // all but one node per page
  CHECK(mistake(big_gpu()).empty());
  limits.step = Bytes{1024};
  CHECK(mistake(big_gpu()) ==
        "--sizes: 256 B is less than two steps of 1 KiB: choose at least 2 KiB, or a smaller "
        "--step");

  limits = {};
  limits.step = gibibytes(1);
  CHECK(mistake(big_gpu()) ==
        "--step: two steps of 1 GiB fit into none of the memories: choose at most 512 MiB");
  limits.step = mebibytes(512);
  CHECK(sizes_of(plan_of(big_gpu(), limits).points, "global") ==
        std::vector<std::uint64_t>{gibibytes(1).count});
  CHECK(mistake(big_gpu()).empty());
  limits.step = gibibytes(8'000'000'000);
  CHECK(mistake(phone()).ends_with("choose at most 8 MiB"));
  // What the device has not is no mistake of the person's.
  limits = {};
  limits.series = {"local"};
  CHECK(mistake(bare()).empty());
  limits.sizes = {{mebibytes(1), mebibytes(1), 0.0}};
  CHECK(mistake(big_gpu()).empty());
}

TEST_CASE("with a step of a page or more there is no other chase with one node per page") {
  Limits limits;
  limits.step = kibibytes(4);
  CHECK(series_of(plan_of(big_gpu(), limits).points).contains("global-pages"));
  const Plan plan = plan_of(cpu(), limits);
  CHECK_FALSE(series_of(plan.points).contains("global-pages"));
  CHECK(std::any_of(plan.findings.begin(), plan.findings.end(), [](const Finding& finding) {
    return finding.series == "global-pages" && finding.reason == "a step is a page or more";
  }));
}

TEST_CASE("a device that has everything is asked everything") {
  const std::set<std::string> usual{"global",           "global-pages", "constant-argument",
                                    "constant-program", "local",        "image"};
  for (const DeviceInfo& device : {big_gpu(), phone(), cpu()}) {
    CHECK(series_of(plan_of(device).points) == usual);
    CHECK(plan_of(device).findings.empty());
  }
  std::set<std::string> with_scalar = usual;
  with_scalar.insert("global-scalar");
  CHECK(series_of(plan_of(amd()).points) == with_scalar);
}

TEST_CASE("--series leaves the others out, findings included") {
  Limits limits;
  limits.series = {"local", "image"};
  CHECK(series_of(plan_of(big_gpu(), limits).points) == std::set<std::string>{"image", "local"});
  const Plan plan = plan_of(bare(), limits);
  CHECK(plan.points.empty());
  CHECK(plan.findings.size() == 2);
}

TEST_CASE("pointers are chased where they stay valid, else indexes; and what was asked for") {
  const auto form = [](const DeviceInfo& device, AddressForm asked, std::string_view series) {
    Limits limits;
    limits.address = asked;
    const Plan plan = plan_of(device, limits);
    const auto point = std::find_if(plan.points.begin(), plan.points.end(),
                                    [&](const Point& each) { return each.series == series; });
    return point == plan.points.end() ? std::string() : point->parameters.text("address");
  };
  CHECK(form(big_gpu(), AddressForm::automatic, "global") == "pointer");
  CHECK(form(phone(), AddressForm::automatic, "global") == "index");
  CHECK(form(phone(), AddressForm::pointer, "global") == "pointer");
  CHECK(form(big_gpu(), AddressForm::offset, "global") == "offset");
  // Constants and images hold no pointers.
  CHECK(form(phone(), AddressForm::pointer, "constant-argument") == "offset");
  CHECK(form(big_gpu(), AddressForm::pointer, "constant-argument") == "index");  // NVIDIA
  CHECK(form(big_gpu(), AddressForm::pointer, "constant-program") == "offset");
  CHECK(form(big_gpu(), AddressForm::pointer, "image") == "index");
}

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

std::vector<Point> measured(const DeviceInfo& device, const Limits& limits) {
  std::vector<Point> points = plan_of(device, limits).points;
  take_samples(points, "global", three_levels());
  return points;
}

TEST_CASE("refining adds sizes around the knees, none twice, all inside the curve") {
  const std::vector<Point> points = measured(big_gpu(), {});
  const std::vector<Point> more = latency_probe().refine(big_gpu(), {}, points);
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
    CHECK(number(point, "buffer_bytes") >= size);
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
    for (Point& point : latency_probe().refine(big_gpu(), {}, points)) {
      points.push_back(std::move(point));
    }
    take_samples(points, "global", three_levels());
  }
  const auto sizes = sizes_of(points, "global");
  CHECK(std::set<std::uint64_t>(sizes.begin(), sizes.end()).size() == sizes.size());
}

TEST_CASE("sizes that were asked for, quick runs and empty curves are not refined") {
  Limits limits;
  limits.sizes = {{kibibytes(1), gibibytes(1), 1.2}};
  CHECK(latency_probe().refine(big_gpu(), limits, measured(big_gpu(), limits)).empty());
  limits = {};
  limits.effort = Effort::quick;
  CHECK(latency_probe().refine(big_gpu(), limits, measured(big_gpu(), limits)).empty());
  CHECK(latency_probe().refine(big_gpu(), {}, {}).empty());
  CHECK(latency_probe().refine(big_gpu(), {}, plan_of(big_gpu()).points).empty());
}

std::vector<Finding> findings_of(const Findings& found, std::string_view series,
                                 std::string_view name) {
  std::vector<Finding> chosen;
  for (const Finding& finding : found.findings) {
    if (finding.series == series && finding.name == name) chosen.push_back(finding);
  }
  return chosen;
}

TEST_CASE("a curve of three levels gives three of each finding") {
  std::vector<Point> points = measured(big_gpu(), {});
  for (Point& point : latency_probe().refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", three_levels());
  // Flat where the lines fit: no step is one of translation.
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = latency_probe().analyse(big_gpu(), points);

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
    CHECK(latencies[i].value.value_or(0) == doctest::Approx(ns[i] * 1e-9).epsilon(0.05));
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

TEST_CASE("a cache whose next level ends at twice its size is not said to be one for sure") {
  std::vector<Point> points = plan_of(big_gpu()).points;
  const auto halves =
      sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 64.0 * 1048576}, {450.0, 0.0}});
  take_samples(points, "global", halves);
  for (Point& point : latency_probe().refine(big_gpu(), {}, points)) {
    points.push_back(std::move(point));
  }
  take_samples(points, "global", halves);
  take_samples(points, "global-pages", {{16.0, 0.0}});
  const Findings found = latency_probe().analyse(big_gpu(), points);
  const auto steps = findings_of(found, "global", "step");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].label == "cache");
  CHECK(steps[0].reason.empty());
  CHECK(steps[1].label == "cache-or-far");
  CHECK(steps[1].reason.find("ends at about twice this size") != std::string::npos);
  CHECK(steps[2].label == "cache");
}

TEST_CASE("a curve that ends too early to exclude a far half says so") {
  Limits limits;
  const auto second_step = [&](Bytes most) {
    limits.max_memory = most;
    std::vector<Point> points = plan_of(big_gpu(), limits).points;
    take_samples(points, "global",
                 sharp({{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {260.0, 0.0}}));
    take_samples(points, "global-pages", {{16.0, 0.0}});
    const auto steps = findings_of(latency_probe().analyse(big_gpu(), points), "global", "step");
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
  const Findings found = latency_probe().analyse(big_gpu(), measured(big_gpu(), {}));
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
    const Findings found = latency_probe().analyse(device, points);
    CHECK(findings_of(found, "global", "latency").size() == 3);
    CHECK(findings_of(found, "global", "cycles").empty());
  }
  DeviceInfo device = big_gpu();
  device.timer = Timer::event;  // one length of sample: no slope, and nothing to say
  CHECK(findings_of(latency_probe().analyse(device, points), "global", "cycles").empty());
}

TEST_CASE("too few points for a level are said to be too few") {
  Limits limits;
  limits.sizes = {{kibibytes(4), kibibytes(8), 2.0}};
  const Findings found = latency_probe().analyse(big_gpu(), measured(big_gpu(), limits));
  REQUIRE(found.findings.size() == 1);
  CHECK_FALSE(found.findings[0].value.has_value());
  CHECK(found.findings[0].reason.find("2 points") != std::string::npos);
  CHECK(latency_probe().analyse(big_gpu(), {}).findings.empty());
}

/// `options` without what differs with the size of local memory.
std::string without_local_bytes(std::string options) {
  const auto at = options.find(" -DLOCAL_BYTES=");
  if (at == std::string::npos) return options;
  const auto end = std::min(options.find(' ', at + 1), options.size());
  return options.erase(at, end - at);
}

TEST_CASE("every way in which a plan builds the kernel is among the variants that tests compile") {
  std::set<std::string> known;
  for (const KernelVariant& variant : chase_variants()) {
    CHECK(known.insert(without_local_bytes(variant.options)).second);
  }
  std::vector<Limits> all = many_limits();
  for (const AddressForm form :
       {AddressForm::automatic, AddressForm::pointer, AddressForm::index, AddressForm::offset}) {
    for (const Bytes most :
         {gibibytes(1), gibibytes(4), gibibytes(5), gibibytes(16), gibibytes(40)}) {
      Limits limits;
      limits.address = form;
      limits.max_memory = most;
      all.push_back(limits);
    }
  }
  std::set<std::string> strangers;
  for (const DeviceInfo& device : all_devices()) {
    for (const Limits& limits : all) {
      for (const Point& point : plan_of(device, limits).points) {
        const std::string options = without_local_bytes(chase_options(point));
        if (!known.contains(options)) strangers.insert(point.series + ": " + options);
      }
    }
  }
  for (const std::string& stranger : strangers) FAIL_CHECK(stranger);
}

TEST_CASE("a chase is as wide as its buffer needs") {
  const auto options = [](std::string_view address, Bytes buffer) {
    Point point;
    point.series = "global";
    point.parameters = {{"buffer_bytes", static_cast<std::int64_t>(buffer.count)},
                        {"address", std::string(address)},
                        {"unroll", std::int64_t{16}}};
    return chase_options(point);
  };
  const auto is_wide = [&](std::string_view address, Bytes buffer) {
    return options(address, buffer).find("-DWIDE=1") != std::string::npos;
  };
  CHECK_FALSE(is_wide("offset", gibibytes(4)));
  CHECK(is_wide("offset", gibibytes(4) + Bytes{64}));
  CHECK_FALSE(is_wide("index", gibibytes(16)));
  CHECK(is_wide("index", gibibytes(16) + Bytes{64}));
}

TEST_CASE("a series that there is not is refused") {
  CHECK_THROWS_AS(static_cast<void>(chase_series("registers")), std::out_of_range);
  CHECK(chase_series("global-scalar").scalar);
}

}  // namespace
}  // namespace clprobe
