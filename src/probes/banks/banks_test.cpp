// SPDX-License-Identifier: Apache-2.0
// What the probe `banks` plans, refuses, refines and concludes; its kernels are not run here.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/model.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::banks {
namespace {

const Probe& banks_probe() { return *find_probe("banks"); }

using Options = std::vector<std::pair<std::string_view, OptionValue>>;
using Ints = std::vector<int>;
using Words = std::vector<std::string>;

Request asking(const Options& options, const std::vector<std::string>& series = {}) {
  Request request;
  request.series = series;
  for (const auto& [name, value] : options) request.own.set(name, value);
  return request;
}

Shape shape_at(const Point& point) { return shape_of<Shape>(point); }

/// How often such a memory is asked for the pattern of a point.
int wavefronts_at(const Point& point, const Model& model) {
  const Shape shape = shape_at(point);
  return wavefronts_of(offsets_of(shape.pattern, shape.word_bytes, shape.lanes), shape.word_bytes,
                       model);
}

std::string options_of(const Point& point) {
  return build_options(kind_of(point.series), shape_at(point));
}

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

/// What is planned beside the transpositions, which transpose_test.cpp is about.
std::vector<Point> accesses_for(const DeviceInfo& device, const Request& request = {}) {
  std::vector<Point> points = banks_probe().plan(device, request).points;
  std::erase_if(points, is_transposition);
  return points;
}

std::set<std::string> series_of(std::span<const Point> points) {
  std::set<std::string> series;
  for (const Point& point : points) series.insert(point.series);
  return series;
}

/// Samples as a device with such banks would give: chains 23 + 2 a way, others 1 a way, and the
/// model E = w * l * k + 300. `costs_nothing`: no banks at all.
void take_samples(std::vector<Point>& points, const Model& model, bool costs_nothing = false) {
  for (Point& point : points) {
    const double wavefronts = costs_nothing ? 1.0 : wavefronts_at(point, model);
    const AccessKind& kind = kind_of(point.series);
    double cycles = kind.is_chain ? 23.0 + 2.0 * wavefronts : 0.1 + wavefronts;
    if (kind.is_single) {
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
std::vector<Point> measured(const DeviceInfo& device, const Request& request, const Model& model) {
  std::vector<Point> points = accesses_for(device, request);
  take_samples(points, model);
  std::vector<Point> more = banks_probe().refine(device, request, points);
  take_samples(more, model);
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

TEST_CASE("plans keep to the device") {
  for (const DeviceInfo& device : {gpu(), wave64(), phone(), cpu()}) {
    const Plan plan = banks_probe().plan(device, {});
    CHECK(plan.points.size() > 100);
    for (const Point& point : plan.points) {
      if (is_transposition(point)) continue;
      const std::int64_t items =
          point.parameters.integer("lanes") * point.parameters.integer("sub_groups");
      CHECK(items <= device.max_work_group_size);
      const auto local = static_cast<std::uint64_t>(point.parameters.integer("local_bytes"));
      CHECK(local + 48 <= device.local_memory.count);
      const Shape shape = shape_at(point);
      CHECK(footprint_of(shape.pattern, shape.word_bytes, shape.lanes) + 16 <= local);
      CHECK_FALSE(options_of(point).empty());
    }
  }
  CHECK(banks_probe().plan(cpu(), {}).points.size() < banks_probe().plan(gpu(), {}).points.size());
}

TEST_CASE("every stride, both modes, loads and stores, all words") {
  const std::vector<Point> points = accesses_for(gpu());
  CHECK(series_of(points) ==
        std::set<std::string>{"load-latency", "load-throughput", "store-throughput"});
  for (const int word : {4, 8, 16}) {
    for (const char* const series : {"load-latency", "load-throughput", "store-throughput"}) {
      std::set<std::int64_t> strides;
      for (const Point& point : points) {
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
  for (const Point& point : accesses_for(gpu())) {
    builds.insert(options_of(point));
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
  std::vector<Point> points = accesses_for(phone());
  take_samples(points, {32, 4, 32});
  CHECK(banks_probe().refine(phone(), {}, points).empty());
}

TEST_CASE("what is asked of the device and cannot be is one line with the valid range") {
  const auto said = [](const DeviceInfo& device, const Options& options) {
    return banks_probe().check(device, asking(options));
  };
  CHECK(said(gpu(), {}).empty());
  CHECK(said(gpu(), {{"ways", Ints{1, 33}}}).find("--ways: 33") == 0);
  CHECK(said(gpu(), {{"ways", Ints{33}}}).find("choose 1 to 32") != std::string::npos);
  CHECK(said(wave64(), {{"ways", Ints{33}}}).empty());
  CHECK(said(gpu(), {{"sub-groups", Ints{32}}}).empty());
  CHECK(said(gpu(), {{"sub-groups", Ints{33}}}).find("choose 1 to 32") != std::string::npos);
  CHECK(said(wave64(), {{"sub-groups", Ints{5}}}).find("choose 1 to 4") != std::string::npos);
  CHECK(said(gpu(), {{"strides", Ints{65}}}).empty());
  const Options wide{{"words", Words{"16"}}, {"strides", Ints{100}}};
  CHECK(said(gpu(), wide).find("--strides: 100") == 0);
  CHECK(said(gpu(), wide).find("choose 0 to 82") != std::string::npos);
  // The plan says that there is no local memory.
  CHECK(said(bare(), {{"strides", Ints{64}}}).empty());
}

TEST_CASE("the largest stride that a check allows is planned") {
  for (const char* const word : {"4", "8", "16"}) {
    const auto stride_of = [&](int stride) {
      return asking({{"words", Words{word}}, {"strides", Ints{stride}}});
    };
    const std::string said = banks_probe().check(gpu(), stride_of(100000));
    const int max = std::stoi(said.substr(said.find("0 to ") + 5));
    const Plan plan = banks_probe().plan(gpu(), stride_of(max));
    CHECK(std::any_of(plan.points.begin(), plan.points.end(), [&](const Point& point) {
      return point.parameters.integer_or("stride_words", -1) == max;
    }));
  }
}

TEST_CASE("words, sub-groups, instructions and series are those that were asked for") {
  const Request request =
      asking({{"words", Words{"8"}}, {"sub-groups", Ints{2, 4}}, {"instructions", Ints{3, 8}}},
             {"load-throughput"});
  const Plan plan = banks_probe().plan(gpu(), request);
  CHECK(series_of(plan.points) == std::set<std::string>{"load-throughput"});
  for (const Point& point : plan.points) {
    CHECK(point.parameters.integer("word_bytes") == 8);
    CHECK(point.parameters.integer("sub_groups") == 4);
    CHECK(point.parameters.integer("instructions") == 8);
  }
  // The model alone needs the banks as well.
  CHECK(series_of(banks_probe().plan(gpu(), asking({}, {"store-model"})).points) ==
        std::set<std::string>{"load-throughput"});
  CHECK(banks_probe().plan(gpu(), asking({}, {"global"})).points.empty());
}

TEST_CASE("points name their parameters in this order, and are read back as they were") {
  std::vector<Point> points = accesses_for(gpu());
  take_samples(points, {32, 4, 32});
  const std::vector<Point> more = banks_probe().refine(gpu(), {}, points);
  points.insert(points.end(), more.begin(), more.end());
  std::set<std::vector<std::string>> orders;
  for (const Point& point : points) {
    std::vector<std::string> names;
    for (const auto& [name, value] : point.parameters) names.push_back(name);
    orders.insert(names);
    Point again;
    write_shape(shape_at(point), again);
    CHECK(again.parameters == point.parameters);
  }
  const auto order = [](const Words& of_pattern) {
    Words names{"word_bytes", "pattern"};
    names.insert(names.end(), of_pattern.begin(), of_pattern.end());
    for (const char* const name : {"sub_groups", "lanes", "instructions", "local_bytes"}) {
      names.emplace_back(name);
    }
    return names;
  };
  CHECK(orders == std::set<Words>{order({"stride_words"}), order({}), order({"rows"}),
                                  order({"ways", "span_bytes", "banks"})});
}

TEST_CASE("--max-memory holds for the tables of offsets and the results") {
  Request request;
  CHECK(banks_probe().plan(gpu(), request).memory == Bytes{32 * 32 * 4 + 2 * 100 * 8});
  request.max_memory = {32 * 32 * 4 + 2 * 100 * 8};
  CHECK_FALSE(banks_probe().plan(gpu(), request).points.empty());
  request.max_memory = request.max_memory - Bytes{1};
  const Plan plan = banks_probe().plan(gpu(), request);
  CHECK(plan.points.empty());
  CHECK(plan.memory == Bytes{});
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings.front().reason.find("--max-memory") != std::string::npos);
}

TEST_CASE("32 banks of 4 bytes are found, with what they cost") {
  const std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
  CHECK(value_of(found, "bank_width", "local memory") == 4.0);
  CHECK(value_of(found, "lanes_together", "local memory") == 32.0);
  CHECK(value_of(found, "bic_margin", "local memory") > 100.0);
  CHECK_FALSE(find(found, "second_best", "local memory")->label.empty());
  CHECK(value_of(found, "cost_per_way", "load-latency 4 B") == doctest::Approx(2.0));
  CHECK(value_of(found, "conflict_free", "load-latency 4 B") == doctest::Approx(25.0));
  CHECK(value_of(found, "cost_per_way", "store-throughput 16 B") == doctest::Approx(1.0));
  CHECK(value_of(found, "bytes_per_cycle", "load-throughput 4 B") == doctest::Approx(128 / 1.1));
  for (const char* const name : {"bandwidth", "bytes_per_cycle"}) {
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
  CHECK_FALSE(find(found, "deviates_most", "store-model")->label.empty());
}

TEST_CASE("what visits say by themselves is in the intervals of a bandwidth and a median") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  for (Point& point : points) {
    Sample later = point.samples.back();
    later.visit = 1;
    *later.ticks *= 2;
    point.samples.insert(point.samples.end(), {later, later});
  }
  const Findings found = banks_probe().analyse(gpu(), points);
  const Finding* const rate = find(found, "bytes_per_cycle", "load-throughput 4 B");
  REQUIRE(rate != nullptr);
  CHECK(*rate->value == doctest::Approx(128 / 1.1));
  CHECK(*rate->low == doctest::Approx(64 / 1.1));
  CHECK_FALSE(rate->holds_scatter);
  const Finding* const free = find(found, "conflict_free", "load-latency 4 B");
  REQUIRE(free != nullptr);
  CHECK(*free->value == doctest::Approx(25.0));
  CHECK(*free->high == doctest::Approx(50.0));
  CHECK(free->holds_scatter);
}

TEST_CASE("other memories are found from what is measured on their devices") {
  for (const Model& model : {Model{64, 4, 64}, {32, 8, 32}}) {
    const Findings found = banks_probe().analyse(wave64(), measured(wave64(), {}, model));
    CAPTURE(model.banks);
    CHECK(value_of(found, "banks", "local memory") == model.banks);
    CHECK(value_of(found, "bank_width", "local memory") == model.width_bytes);
    CHECK(value_of(found, "lanes_together", "local memory") == model.lanes_together);
    CHECK(value_of(found, "c1", "load-model") == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("congestion is of the banks that were found, w, l and k swept") {
  std::vector<Point> points = accesses_for(gpu());
  take_samples(points, {32, 4, 32});
  const std::vector<Point> more = banks_probe().refine(gpu(), {}, points);
  CHECK(series_of(more) == std::set<std::string>{"load-model", "store-model"});
  CHECK(more.size() == 2 * 4 * 4 * 4);
  CHECK(more.back().parameters.integer("ways") == 32);
  CHECK(more.back().parameters.integer("sub_groups") == 32);
  CHECK(more.back().parameters.integer("instructions") == 32);
  Request thorough;
  thorough.effort = Effort::thorough;
  CHECK(banks_probe().refine(gpu(), thorough, points).size() == 2 * 6 * 6 * 6);
  for (const Point& point : more) {
    CHECK(wavefronts_at(point, {32, 4, 32}) == point.parameters.integer("ways"));
  }
  const Request request =
      asking({{"ways", Ints{3}}, {"sub-groups", Ints{5}}, {"instructions", Ints{7}}});
  const auto asked = banks_probe().refine(gpu(), request, points);
  REQUIRE(asked.size() == 2);
  CHECK(asked.front().parameters.integer("ways") == 3);
}

TEST_CASE("a CPU has no banks, and no made-up number") {
  std::vector<Point> points = accesses_for(cpu());
  take_samples(points, {}, true);
  CHECK(banks_probe().refine(cpu(), {}, points).empty());
  const Findings found = banks_probe().analyse(cpu(), points);
  const Finding* const none = find(found, "banks", "local memory");
  REQUIRE(none != nullptr);
  CHECK_FALSE(none->value.has_value());
  CHECK(none->reason.starts_with("not visible"));
  CHECK(none->reason.find("ordinary memory") != std::string::npos);
  for (const char* const name : {"bank_width", "lanes_together", "second_best", "c1"}) {
    CHECK(std::none_of(found.findings.begin(), found.findings.end(),
                       [&](const Finding& each) { return each.name == name; }));
  }
  CHECK(find(found, "cost_per_way", "load-latency 4 B") == nullptr);
  CHECK(find(found, "conflict_free", "load-latency 4 B")->unit == "seconds");
  // Asked for, the congestion is measured all the same: any candidate has these rows in one bank.
  const auto asked = banks_probe().refine(cpu(), asking({{"ways", Ints{2}}}), points);
  REQUIRE_FALSE(asked.empty());
  CHECK(asked.front().parameters.integer("span_bytes") == 1024);
}

TEST_CASE("points of another version are left out, and nothing is thrown") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  points[0].parameters.set("pattern", std::string("spiral"));
  points[1].parameters.set("word_bytes", std::int64_t{0});
  points[2].parameters.set("lanes", std::int64_t{-4});
  points[3].failure = "it failed";
  points[5].parameters.set("instructions", 1.5);
  points[4].samples.clear();
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
}

}  // namespace
}  // namespace clprobe::banks
