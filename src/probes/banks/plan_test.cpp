// SPDX-License-Identifier: Apache-2.0
// What the probe `banks` plans, refuses and refines; its kernels are not run here.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "probes/banks/runs_test.hpp"

namespace clprobe::banks {
namespace {

std::string options_of(const Point& point) {
  return build_options(kind_of(point.series), shape_at(point));
}

DeviceInfo bare() {
  DeviceInfo device = phone();
  device.local_memory = Bytes{};
  return device;
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
  const auto said = [](const DeviceInfo& device, const GivenOptions& options) {
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
  const GivenOptions wide{{"word-size", Words{"16"}}, {"strides", Ints{100}}};
  CHECK(said(gpu(), wide).find("--strides: a distance of 100 words of 16 bytes needs") == 0);
  CHECK(said(gpu(), wide).find("choose 0 to 82") != std::string::npos);
  // `check` does not report missing local memory, since the plan does.
  CHECK(said(bare(), {{"strides", Ints{64}}}).empty());
}

TEST_CASE("the largest stride that a check allows is planned") {
  for (const char* const word : {"4", "8", "16"}) {
    const auto stride_of = [&](int stride) {
      return asking({{"word-size", Words{word}}, {"strides", Ints{stride}}});
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
      asking({{"word-size", Words{"8"}}, {"sub-groups", Ints{2, 4}}, {"instructions", Ints{3, 8}}},
             {"load-throughput"});
  const Plan plan = banks_probe().plan(gpu(), request);
  CHECK(series_of(plan.points) == std::set<std::string>{"load-throughput"});
  for (const Point& point : plan.points) {
    CHECK(point.parameters.integer("word_bytes") == 8);
    CHECK(point.parameters.integer("sub_groups") == 4);
    CHECK(point.parameters.integer("instructions") == 8);
  }
  // The conflict model alone also needs load-throughput, which shows the banks.
  CHECK(series_of(banks_probe().plan(gpu(), asking({}, {"store-model"})).points) ==
        std::set<std::string>{"load-throughput"});
  CHECK(banks_probe().plan(gpu(), asking({}, {"global"})).points.empty());
}

TEST_CASE("words of the model are as wide as the banks, where none are asked for") {
  const auto words = [](int width_bytes, const Request& request) {
    std::vector<Point> points = accesses_for(gpu(), request);
    take_samples(points, {32, width_bytes, 32});
    std::set<std::int64_t> found;
    for (const Point& point : banks_probe().refine(gpu(), request, points)) {
      found.insert(point.parameters.integer("word_bytes"));
    }
    return found;
  };
  CHECK(words(4, {}) == std::set<std::int64_t>{4});
  CHECK(words(8, {}) == std::set<std::int64_t>{8});
  CHECK(words(8, asking({{"word-size", Words{"4"}}})) == std::set<std::int64_t>{4});
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
  CHECK(banks_probe().plan(gpu(), request).memory == kibibytes(8));
  request.max_memory = kibibytes(8);
  CHECK_FALSE(banks_probe().plan(gpu(), request).points.empty());
  request.max_memory = request.max_memory - Bytes{1};
  const Plan plan = banks_probe().plan(gpu(), request);
  CHECK(plan.points.empty());
  CHECK(plan.memory == Bytes{});
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings.front().reason.find("--max-memory") != std::string::npos);
}

}  // namespace
}  // namespace clprobe::banks
