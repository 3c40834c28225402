// SPDX-License-Identifier: Apache-2.0
// What the probe `banks` plans, refuses, refines and concludes; its kernels are not run here.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "analysis/banks.hpp"
#include "clprobe/registry.hpp"
#include "probes/banks/access.hpp"

namespace clprobe {
namespace {

const Probe& banks_probe() { return *find_probe("banks"); }

DeviceInfo gpu() {
  DeviceInfo device;
  device.name = "GPU";
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.local_memory = kibibytes(48);
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

DeviceInfo wave64() {
  DeviceInfo device = gpu();
  device.sub_group_size = 64;
  device.max_work_group_size = 256;
  device.local_memory = kibibytes(64);
  return device;
}

DeviceInfo phone() {
  DeviceInfo device = gpu();
  device.sub_group_size = 1;  // not told
  device.max_work_group_size = 128;
  device.local_memory = kibibytes(16);
  device.timer = Timer::event;
  device.clock = {};
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.sub_group_size = 8;
  device.max_work_group_size = 4096;
  device.local_memory = mebibytes(2);
  device.clock.rate = ClockRate::constant_rate;
  device.reported = {{"local_memory_type", std::int64_t{2}}};
  return device;
}

DeviceInfo bare() {
  DeviceInfo device = phone();
  device.local_memory = Bytes{};
  return device;
}

std::set<std::string> series_of(std::span<const Point> points) {
  std::set<std::string> series;
  for (const Point& point : points) series.insert(point.series);
  return series;
}

/// Samples as a device with such banks would give: chains 23 + 2 a way, others 1 a way, and the
/// model E = w * l * k + 300. `costs_nothing`: no banks at all.
void take_samples(std::vector<Point>& points, const BankModel& model, bool costs_nothing = false) {
  for (Point& point : points) {
    const int word = static_cast<int>(point.parameters.integer("word_bytes"));
    const int lanes = static_cast<int>(point.parameters.integer("lanes"));
    const auto wavefronts = static_cast<double>(
        costs_nothing ? 1 : wavefronts_of(offsets_of(pattern_of(point), word, lanes), word, model));
    const BankSeries& series = bank_series(point.series);
    double cycles = series.is_chain ? 23.0 + 2.0 * wavefronts : 0.1 + wavefronts;
    if (series.is_single) {
      const auto accesses = static_cast<double>(point.parameters.integer("sub_groups") *
                                                point.parameters.integer("instructions"));
      cycles = wavefronts + 300.0 / accesses;
    }
    constexpr std::uint64_t accesses = 1'000'000;
    Sample sample{.accesses = accesses};
    sample.ticks = static_cast<std::uint64_t>(cycles * static_cast<double>(accesses));
    point.samples = {sample, sample};
  }
}

const Finding* find(const Findings& found, std::string_view name, std::string_view series) {
  const auto finding =
      std::find_if(found.findings.begin(), found.findings.end(),
                   [&](const Finding& each) { return each.name == name && each.series == series; });
  return finding == found.findings.end() ? nullptr : &*finding;
}

double value_of(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find(found, name, series);
  REQUIRE(finding != nullptr);
  return finding->value.value_or(-1.0);
}

/// A whole run on such a device.
std::vector<Point> measured(const DeviceInfo& device, const Limits& limits,
                            const BankModel& model) {
  std::vector<Point> points = banks_probe().plan(device, limits).points;
  take_samples(points, model);
  std::vector<Point> more = banks_probe().refine(device, limits, points);
  take_samples(more, model);
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

TEST_CASE("plans keep to the device") {
  for (const DeviceInfo& device : {gpu(), wave64(), phone(), cpu()}) {
    const Plan plan = banks_probe().plan(device, {});
    CHECK(plan.points.size() > 100);
    for (const Point& point : plan.points) {
      const std::int64_t items =
          point.parameters.integer("lanes") * point.parameters.integer("sub_groups");
      CHECK(items <= device.max_work_group_size);
      const auto local = static_cast<std::uint64_t>(point.parameters.integer("local_bytes"));
      CHECK(local + 48 <= device.local_memory.count);
      const int word = static_cast<int>(point.parameters.integer("word_bytes"));
      const int lanes = static_cast<int>(point.parameters.integer("lanes"));
      CHECK(footprint_of(pattern_of(point), word, lanes) + 16 <= local);
      CHECK_FALSE(bank_options(point).empty());
    }
  }
  CHECK(banks_probe().plan(cpu(), {}).points.size() < banks_probe().plan(gpu(), {}).points.size());
}

TEST_CASE("every stride, both modes, loads and stores, all words") {
  const Plan plan = banks_probe().plan(gpu(), {});
  CHECK(series_of(plan.points) ==
        std::set<std::string>{"load-latency", "load-throughput", "store-throughput"});
  for (const int word : {4, 8, 16}) {
    for (const char* const series : {"load-latency", "load-throughput", "store-throughput"}) {
      std::set<std::int64_t> strides;
      for (const Point& point : plan.points) {
        const bool is_here =
            point.series == series && point.parameters.integer("word_bytes") == word;
        const auto stride = point.parameters.integer_or("stride_words", -1);
        if (is_here && stride >= 0) strides.insert(stride);
      }
      CHECK(strides.size() == 66);
    }
  }
}

TEST_CASE("one build serves every pattern of a series and word") {
  std::set<std::string> builds;
  for (const Point& point : banks_probe().plan(gpu(), {}).points) {
    builds.insert(bank_options(point));
  }
  CHECK(builds.size() == 9);
}

TEST_CASE("a device without local memory, or whose groups are one work-item, says so") {
  for (const bool is_alone : {false, true}) {
    DeviceInfo device = is_alone ? gpu() : bare();
    if (is_alone) device.max_work_group_size = 1;
    const Plan plan = banks_probe().plan(device, {});
    CHECK(plan.points.empty());
    REQUIRE(plan.findings.size() == 1);
    CHECK_FALSE(plan.findings.front().reason.empty());
  }
}

TEST_CASE("without a clock in the kernel the model is not measured, and that is said") {
  const Plan plan = banks_probe().plan(phone(), {});
  CHECK(plan.findings.size() == 2);
  std::vector<Point> points = plan.points;
  take_samples(points, {32, 4, 32});
  CHECK(banks_probe().refine(phone(), {}, points).empty());
}

TEST_CASE("what is asked of the device and cannot be is one line with the valid range") {
  const auto said = [](const DeviceInfo& device, const Limits& limits) {
    return banks_probe().check(device, limits);
  };
  CHECK(said(gpu(), {}).empty());
  CHECK(said(gpu(), {.ways = {1, 33}}).find("--ways: 33") == 0);
  CHECK(said(gpu(), {.ways = {33}}).find("choose 1 to 32") != std::string::npos);
  CHECK(said(wave64(), {.ways = {33}}).empty());
  CHECK(said(gpu(), {.sub_groups = {32}}).empty());
  CHECK(said(gpu(), {.sub_groups = {33}}).find("choose 1 to 32") != std::string::npos);
  CHECK(said(wave64(), {.sub_groups = {5}}).find("choose 1 to 4") != std::string::npos);
  CHECK(said(gpu(), {.strides = {65}}).empty());
  CHECK(said(gpu(), {.word_bytes = {16}, .strides = {100}}).find("--strides: 100") == 0);
  CHECK(said(gpu(), {.word_bytes = {16}, .strides = {100}}).find("choose 0 to 82") !=
        std::string::npos);
  CHECK(said(bare(), {.strides = {64}}).empty());  // the plan says that there is no local memory
}

TEST_CASE("the largest stride that a check allows is planned") {
  for (const int word : {4, 8, 16}) {
    const Limits limits{.word_bytes = {word}, .strides = {100000}};
    const std::string said = banks_probe().check(gpu(), limits);
    const int most = std::stoi(said.substr(said.find("0 to ") + 5));
    const Plan plan = banks_probe().plan(gpu(), {.word_bytes = {word}, .strides = {most}});
    CHECK(std::any_of(plan.points.begin(), plan.points.end(), [&](const Point& point) {
      return point.parameters.integer_or("stride_words", -1) == most;
    }));
  }
}

TEST_CASE("words, sub-groups, instructions and series are those that were asked for") {
  const Limits limits{.series = {"load-throughput"},
                      .word_bytes = {8},
                      .sub_groups = {2, 4},
                      .instructions = {3, 8}};
  const Plan plan = banks_probe().plan(gpu(), limits);
  CHECK(series_of(plan.points) == std::set<std::string>{"load-throughput"});
  for (const Point& point : plan.points) {
    CHECK(point.parameters.integer("word_bytes") == 8);
    CHECK(point.parameters.integer("sub_groups") == 4);
    CHECK(point.parameters.integer("instructions") == 8);
  }
  // The model alone needs the banks as well.
  CHECK(series_of(banks_probe().plan(gpu(), {.series = {"store-model"}}).points) ==
        std::set<std::string>{"load-throughput"});
  CHECK(banks_probe().plan(gpu(), {.series = {"global"}}).points.empty());
}

TEST_CASE("32 banks of 4 bytes are found, with what they cost") {
  const std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
  CHECK(value_of(found, "bank_width", "local memory") == 4.0);
  CHECK(value_of(found, "lanes_together", "local memory") == 32.0);
  CHECK(value_of(found, "behind", "local memory") > 100.0);
  CHECK_FALSE(find(found, "runner_up", "local memory")->label.empty());
  CHECK(value_of(found, "cost_a_way", "load-latency 4 B") == doctest::Approx(2.0));
  CHECK(value_of(found, "conflict_free", "load-latency 4 B") == doctest::Approx(25.0));
  CHECK(value_of(found, "cost_a_way", "store-throughput 16 B") == doctest::Approx(1.0));
  CHECK(value_of(found, "bytes_a_cycle", "load-throughput 4 B") == doctest::Approx(128 / 1.1));
  for (const char* const name : {"bandwidth", "bytes_a_cycle"}) {
    const Finding* const rate = find(found, name, "load-throughput 4 B");
    REQUIRE((rate->low.has_value() && rate->high.has_value()));
    CHECK(*rate->low <= *rate->value);
    CHECK(*rate->high >= *rate->value);
  }
  CHECK(value_of(found, "bandwidth", "load-throughput 4 B") == doctest::Approx(256e9 / 1.1));
  CHECK(value_of(found, "c1", "load-model") == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(value_of(found, "c2", "store-model") == doctest::Approx(300.0).epsilon(1e-3));
  CHECK(value_of(found, "model_r2", "load-model") > 0.9999);
  CHECK(find(found, "c1", "load-model")->unit == "cycles");
}

TEST_CASE("other memories are found from what is measured on their devices") {
  for (const BankModel& model : {BankModel{64, 4, 64}, {32, 8, 32}}) {
    const Findings found = banks_probe().analyse(wave64(), measured(wave64(), {}, model));
    CAPTURE(model.banks);
    CHECK(value_of(found, "banks", "local memory") == model.banks);
    CHECK(value_of(found, "bank_width", "local memory") == model.width_bytes);
    CHECK(value_of(found, "lanes_together", "local memory") == model.lanes_together);
    CHECK(value_of(found, "c1", "load-model") == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("congestion is of the banks that were found, w, l and k swept") {
  std::vector<Point> points = banks_probe().plan(gpu(), {}).points;
  take_samples(points, {32, 4, 32});
  const std::vector<Point> more = banks_probe().refine(gpu(), {}, points);
  CHECK(series_of(more) == std::set<std::string>{"load-model", "store-model"});
  CHECK(more.size() == 2 * 4 * 4 * 4);
  CHECK(more.back().parameters.integer("ways") == 32);
  CHECK(more.back().parameters.integer("sub_groups") == 32);
  CHECK(more.back().parameters.integer("instructions") == 32);
  const Limits thorough{.effort = Effort::thorough};
  CHECK(banks_probe().refine(gpu(), thorough, points).size() == 2 * 6 * 6 * 6);
  for (const Point& point : more) {
    const int k = static_cast<int>(point.parameters.integer("ways"));
    CHECK(wavefronts_of(offsets_of(pattern_of(point), 4, 32), 4, {32, 4, 32}) == k);
  }
  const auto asked =
      banks_probe().refine(gpu(), {.ways = {3}, .sub_groups = {5}, .instructions = {7}}, points);
  REQUIRE(asked.size() == 2);
  CHECK(asked.front().parameters.integer("ways") == 3);
}

TEST_CASE("a processor has no banks, and no made-up number") {
  std::vector<Point> points = banks_probe().plan(cpu(), {}).points;
  take_samples(points, {}, true);
  CHECK(banks_probe().refine(cpu(), {}, points).empty());
  const Findings found = banks_probe().analyse(cpu(), points);
  const Finding* const none = find(found, "banks", "local memory");
  REQUIRE(none != nullptr);
  CHECK_FALSE(none->value.has_value());
  CHECK(none->reason.starts_with("not visible"));
  CHECK(none->reason.find("ordinary memory") != std::string::npos);
  for (const char* const name : {"bank_width", "lanes_together", "runner_up", "c1"}) {
    CHECK(std::none_of(found.findings.begin(), found.findings.end(),
                       [&](const Finding& each) { return each.name == name; }));
  }
  CHECK(find(found, "cost_a_way", "load-latency 4 B") == nullptr);
  CHECK(find(found, "conflict_free", "load-latency 4 B")->unit == "seconds");
  // Asked for, the congestion is measured all the same: any candidate has these rows in one bank.
  const auto asked = banks_probe().refine(cpu(), {.ways = {2}}, points);
  REQUIRE_FALSE(asked.empty());
  CHECK(asked.front().parameters.integer("span_bytes") == 1024);
}

TEST_CASE("points of another version are left out, and nothing is thrown") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  points[0].parameters.set("pattern", std::string("spiral"));
  points[1].parameters.set("word_bytes", std::int64_t{0});
  points[2].parameters.set("lanes", std::int64_t{-4});
  points[3].failure = "it failed";
  points[4].samples.clear();
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
}

}  // namespace
}  // namespace clprobe
