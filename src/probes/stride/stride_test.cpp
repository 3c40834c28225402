// SPDX-License-Identifier: Apache-2.0
// What the probe `stride` plans and refuses, and what its launches must find; no kernel is run.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {
namespace {

using Words = std::vector<std::string>;
using Options = std::vector<std::pair<std::string_view, OptionValue>>;

const Probe& stride_probe() { return *find_probe("stride"); }

Request asking(const Options& options) {
  Request request;
  for (const auto& [name, value] : options) request.own.set(name, value);
  return request;
}

std::pair<std::string_view, OptionValue> count(std::string_view name, std::uint64_t value) {
  return {name, OptionValue{value}};
}

DeviceInfo big_gpu() {
  DeviceInfo device;
  device.name = "Big GPU";
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(64);
  device.launch_timer = Timer::event;
  device.reported = {{"double_fp_config", std::int64_t{63}},
                     {"cache_bytes", std::int64_t{1 << 24}}};
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device;
  device.name = "CPU";
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.global_memory = gibibytes(12);
  device.max_allocation = gibibytes(4);
  device.launch_timer = Timer::event;
  device.reported = {{"double_fp_config", std::int64_t{63}},
                     {"cache_bytes", std::int64_t{32 << 20}}};
  return device;
}

DeviceInfo phone() {
  DeviceInfo device;
  device.name = "Phone";
  device.type = DeviceType::gpu;
  device.compute_units = 2;
  device.max_work_group_size = 48;
  device.global_memory = mebibytes(64);
  device.max_allocation = mebibytes(16);
  return device;
}

std::string problem(const DeviceInfo& device, const Options& options, Bytes max_memory = {}) {
  Request request = asking(options);
  request.max_memory = max_memory;
  return stride_probe().check(device, request);
}

Shape shape_at(const Point& point) { return shape_of<Shape>(point); }

std::uint64_t number(const Point& point, const char* name) {
  return static_cast<std::uint64_t>(point.parameters.integer(name));
}

TEST_CASE("every power of two from one element to the grid, in each series") {
  for (const DeviceInfo& device : {big_gpu(), cpu(), phone()}) {
    CAPTURE(device.name);
    const Plan plan = stride_probe().plan(device, {});
    CHECK(plan.findings.empty());
    std::set<std::string> series;
    for (const Point& point : plan.points) series.insert(point.series);
    std::set<std::string> expected{"read int", "read int4", "copy int4"};
    if (runs_items_in_turn(device)) expected.insert("read int16");
    CHECK(series == expected);
    for (const std::string& name : series) {
      std::set<std::uint64_t> strides;
      std::uint64_t grid = 0;
      for (const Point& point : plan.points) {
        if (point.series != name) continue;
        const Shape shape = shape_at(point);
        strides.insert(shape.stride);
        grid = shape.grid;
        CHECK(shape.elements % shape.grid == 0);
        CHECK(shape.grid % shape.work_group == 0);
        CHECK(shape.run() % shape.unroll() == 0);
        CHECK(number(point, "stride_bytes") == shape.stride * shape.element_bytes());
        CHECK(shape.buffer_bytes() <= device.max_allocation.count);
        CHECK(number(point, "working_set_bytes") <= device.global_memory.count / 4);
        CHECK(shape.work_group <= static_cast<std::uint64_t>(device.max_work_group_size));
      }
      CHECK(*strides.begin() == 1);
      CHECK(*strides.rbegin() == grid);
      CHECK(strides.size() == log2_of(grid) + 1);
    }
  }
}

TEST_CASE("the first read at stride 1 is the reference, and by itself shares no larger buffer") {
  const Plan plan = stride_probe().plan(big_gpu(), {});
  REQUIRE(plan.references.size() == 1);
  const PlannedReference& reference = plan.references[0];
  const Point& point = plan.points.at(reference.point);
  CHECK(point.series == "read int");
  CHECK(number(point, "stride_elements") == 1);
  REQUIRE(reference.alone);
  CHECK(reference.alone->point.parameters == point.parameters);
  const Shape alone = shape_at(reference.alone->point);
  CHECK(alone.shared_buffer_bytes == alone.buffer_bytes());
  CHECK(alone.buffer_bytes() <= shape_at(point).shared_buffer_bytes);
  CHECK(reference.alone->memory == Bytes{alone.buffer_bytes()});
}

TEST_CASE("a CPU reads elements of a line in 16 streams") {
  for (const Point& point : stride_probe().plan(cpu(), {}).points) {
    const Shape shape = shape_at(point);
    CHECK((shape.element_bytes() == 64) == (shape.run() == 16));
  }
}

TEST_CASE("buffers: 1 GiB on a large GPU, four times the last cache where it is known") {
  const auto buffer = [](const DeviceInfo& device, const Request& request) {
    return shape_at(stride_probe().plan(device, request).points.front()).buffer_bytes();
  };
  CHECK(buffer(big_gpu(), {}) == gibibytes(1).count);
  CHECK(buffer(cpu(), {}) == mebibytes(128).count);
  Request request;
  // The last cache is the larger of the one that `latency` found and the one that the driver
  // reports.
  request.known.last_cache = mebibytes(100);
  CHECK(buffer(cpu(), request) == mebibytes(512).count);
  request.known.last_cache = mebibytes(1);
  CHECK(buffer(cpu(), request) == mebibytes(128).count);
  request.known.last_cache = mebibytes(300);
  CHECK(buffer(big_gpu(), request) == gibibytes(2).count);
  request.max_memory = mebibytes(100);  // two buffers, each a power of two
  CHECK(buffer(cpu(), request) == mebibytes(32).count);
  Request quick;
  quick.effort = Effort::quick;
  CHECK(buffer(big_gpu(), quick) == mebibytes(256).count);
}

TEST_CASE("the memory of a plan is that of its buffers and of their checks") {
  constexpr std::uint64_t sums = 2 * 4097 * 8;        // reads: on device and host
  constexpr std::uint64_t counts = 2 * 65536 * 4;     // copies: correct words
  constexpr std::uint64_t cpu_counts = 2 * 2048 * 4;  // on a CPU fewer work-items check
  CHECK(stride_probe().plan(big_gpu(), {}).memory == gibibytes(2) + Bytes{sums} + Bytes{counts});
  CHECK(stride_probe().plan(cpu(), {}).memory == mebibytes(256) + Bytes{sums} + Bytes{cpu_counts});
  const Request reads = asking({{"operation", Words{"read"}}, count("elements", 1024)});
  CHECK(stride_probe().plan(cpu(), reads).memory == Bytes{4096 + sums});
  const Request everywhere = asking({{"operation", Words{"read", "update"}},
                                     {"buffer", Words{"device", "host"}},
                                     count("elements", 1U << 20U)});
  CHECK(stride_probe().plan(big_gpu(), everywhere).memory ==
        mebibytes(4 * 4) + Bytes{sums} + Bytes{counts});
}

TEST_CASE("--max-memory holds for all buffers and their checks together") {
  for (const DeviceInfo& device : {big_gpu(), cpu(), phone()}) {
    for (const std::uint64_t kib : {1U, 64U, 100U, 1024U, 2048U, 65536U, 1U << 20U}) {
      Request request = asking({{"operation", Words{"read", "write", "copy"}},
                                {"type", Words{"int", "float"}},
                                {"buffer", Words{"device", "host"}}});
      request.max_memory = kibibytes(kib);
      CAPTURE(kib);
      const Plan plan = stride_probe().plan(device, request);
      CHECK(plan.memory <= request.max_memory);
      CHECK(plan.points.empty() == (plan.memory.count == 0));
      if (plan.points.empty()) CHECK(plan.findings.size() == 12);
    }
  }
}

TEST_CASE("the known patterns have their names") {
  const Request request =
      asking({count("grid", 1024), count("work-group", 64), {"operation", Words{"read"}}});
  for (const Point& point : stride_probe().plan(big_gpu(), request).points) {
    const std::uint64_t stride = number(point, "stride_elements");
    const std::string expected = stride == 1      ? "serial"
                                 : stride == 64   ? "work-group stride"
                                 : stride == 1024 ? "grid stride"
                                                  : "between";
    CHECK(point.parameters.text("pattern") == expected);
  }
}

TEST_CASE("what was asked for is a series each") {
  const Request request = asking({{"type", Words{"int", "double"}},
                                  {"vector", Words{"1", "16"}},
                                  {"operation", Words{"update"}},
                                  {"buffer", Words{"device", "host"}},
                                  {"timer", Words{"host"}}});
  std::set<std::string> series;
  for (const Point& point : stride_probe().plan(big_gpu(), request).points) {
    series.insert(point.series);
    CHECK(point.parameters.text("timer") == "host");
  }
  CHECK(series ==
        std::set<std::string>{"update int", "update int16", "update double", "update double16",
                              "update int in host memory", "update int16 in host memory",
                              "update double in host memory", "update double16 in host memory"});
}

TEST_CASE("points name their parameters in this order, and are read back as they were") {
  const Plan plan = stride_probe().plan(big_gpu(), {});
  std::vector<std::string> names;
  for (const auto& [name, value] : plan.points.back().parameters) names.push_back(name);
  CHECK(names == std::vector<std::string>{"stride_bytes", "stride_elements", "pattern", "operation",
                                          "type", "vector", "buffer", "elements",
                                          "working_set_bytes", "grid", "work_group", "timer"});
  for (const Point& point : plan.points) {
    CHECK(shape_at(point).shared_buffer_bytes == gibibytes(1).count);
    Point again;
    write_shape(shape_at(point), again);
    CHECK(again.parameters == point.parameters);
    CHECK(again.facts == point.facts);
  }
}

TEST_CASE("launches of the whole buffer are asked for, and need events") {
  const Request whole = asking({{"per-launch", Words{"whole"}}});
  for (const Point& point : stride_probe().plan(cpu(), {}).points) {
    CHECK_FALSE(shape_at(point).per_launch);
  }
  for (const Point& point : stride_probe().plan(cpu(), whole).points) {
    CHECK(point.parameters.text("per_launch") == "whole");
    CHECK(shape_at(point).per_launch == "whole");
  }
  const Plan by_host = stride_probe().plan(
      cpu(), asking({{"per-launch", Words{"whole"}}, {"timer", Words{"host"}}}));
  CHECK(by_host.points.empty());
  CHECK(by_host.findings.front().reason.find("--per-launch") != std::string::npos);
}

TEST_CASE("events are not asked for where they are not true") {
  DeviceInfo device = cpu();
  device.launch_timer = Timer::host;
  CHECK(stride_probe().plan(device, {}).points.front().parameters.text("timer") == "host");
  const Plan plan = stride_probe().plan(device, asking({{"timer", Words{"event"}}}));
  CHECK(plan.points.empty());
  REQUIRE_FALSE(plan.findings.empty());
  CHECK(plan.findings.front().reason.find("--timer host") != std::string::npos);
}

TEST_CASE("bad input names the nearest valid value") {
  using Strings = std::vector<std::string>;
  const auto says = [](const std::string& text, const Strings& parts) {
    CAPTURE(text);
    CHECK(text.find('\n') == std::string::npos);
    for (const std::string& part : parts) CHECK(text.find(part) != std::string::npos);
  };
  says(problem(big_gpu(), {count("elements", 1U << 20U), count("grid", 1U << 21U)}),
       {"--grid", "2097152", "at most 1048576"});
  says(problem(big_gpu(), {count("grid", 64), count("work-group", 128)}),
       {"--work-group", "exceeds the grid", "at most 64"});
  says(problem(big_gpu(), {count("work-group", 2048)}), {"--work-group", "at most 1024"});
  // The advice is the maximum of the device, not the nearest power of two, which the device
  // refuses.
  says(problem(big_gpu(), {count("work-group", 100000000)}), {"--work-group", "at most 1024"});
  says(problem(big_gpu(), {count("work-group", 96)}), {"not a power of two", "choose 64 or 128"});
  says(problem(phone(), {count("work-group", 3)}), {"not a power of two", "choose 2 or 4"});
  says(problem(phone(), {count("work-group", 64)}), {"--work-group", "at most 32"});
  says(problem(cpu(), {count("elements", std::uint64_t{1} << 40U)}),
       {"--elements", "exceed the available memory", "at most 268435456"});
  // The limit is half of 1 MiB, less the memory for checks, for each of two buffers of int4.
  says(problem(cpu(), {count("elements", 1U << 20U)}, mebibytes(1)),
       {"--elements", "2 buffers", "at most 16384"});
  says(problem(phone(), {{"type", Words{"double"}}}), {"--type", "int or float"});
  says(problem(cpu(), {{"buffer", Words{"svm"}}}), {"--buffer", "device or host"});
  CHECK(problem(big_gpu(), {}).empty());
  CHECK(problem(phone(), {}).empty());
  CHECK(problem(big_gpu(), {count("elements", 16)}).empty());
  CHECK(
      problem(big_gpu(), {count("elements", 1), count("grid", 1), count("work-group", 1)}).empty());
}

TEST_CASE("more than 4 GiB and more than 2^32 elements are planned, with places of 64 bits") {
  const Request request =
      asking({count("elements", std::uint64_t{1} << 33U), {"operation", Words{"read"}}});
  CHECK(stride_probe().check(big_gpu(), request).empty());
  const Plan plan = stride_probe().plan(big_gpu(), request);
  REQUIRE_FALSE(plan.points.empty());
  const Shape shape = shape_at(plan.points.back());
  CHECK(shape.buffer_bytes() == gibibytes(32).count);
  CHECK(needs_wide(shape));
  CHECK(shape.first_of(shape.grid - 1) + (shape.run() - 1) * shape.stride == shape.elements - 1);
  Shape narrow = shape;
  narrow.elements = std::uint64_t{1} << 32U;  // the largest index is 2^32 - 1
  CHECK_FALSE(needs_wide(narrow));
}

TEST_CASE("every element belongs to one work-item, whatever the stride") {
  Shape shape;
  shape.elements = 256;
  shape.grid = 16;
  for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 2) {
    std::vector<int> visits(shape.elements, 0);
    for (std::uint64_t item = 0; item < shape.grid; ++item) {
      for (std::uint64_t i = 0; i < shape.run(); ++i) {
        ++visits.at(shape.first_of(item) + i * shape.stride);
      }
    }
    CHECK(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }));
  }
}

TEST_CASE("the sums that work-items must find are those of their words") {
  Shape shape;
  shape.elements = 512;
  shape.grid = 16;
  for (const int vector : vector_widths) {
    shape.vector = static_cast<std::uint64_t>(vector);
    for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 4) {
      for (const std::uint64_t first : {0U, 3U, 16U}) {
        for (const std::uint64_t count : {1U, 2U, 5U, 16U}) {
          const WordRule rule = sum_rule(shape, first, count);
          for (const std::uint64_t item : {0U, 1U, 7U, 15U}) {
            std::uint64_t sum = 0;
            const std::uint64_t begin = shape.first_of(item);
            for (std::uint64_t i = first; i < first + count; ++i) {
              for (std::uint64_t lane = 0; lane < shape.vector; ++lane) {
                sum += data_rule.at((begin + i * shape.stride) * shape.vector + lane);
              }
            }
            REQUIRE(rule.at(begin) == sum);
          }
        }
      }
    }
  }
}

TEST_CASE("wrong patterns give other sums") {
  Shape shape;
  shape.elements = 1U << 12U;
  shape.grid = 64;
  shape.stride = 8;
  const WordRule right = sum_rule(shape, 0, shape.run());
  Shape wrong = shape;
  wrong.stride = 16;
  const WordRule other = sum_rule(wrong, 0, shape.run());
  const WordRule shifted = sum_rule(shape, 1, shape.run());
  int same = 0;
  for (std::uint64_t item = 0; item < shape.grid; ++item) {
    // Sums are compared in 32 bits, as the kernel compares sums of ints.
    const auto low = [](std::uint64_t sum) { return static_cast<std::uint32_t>(sum); };
    const std::uint32_t expected = low(right.at(shape.first_of(item)));
    if (expected == low(other.at(wrong.first_of(item)))) ++same;
    if (expected == low(shifted.at(shape.first_of(item)))) ++same;
    if (expected == low(right.at(shape.first_of(item) + 1))) ++same;
  }
  CHECK(same == 0);
}

TEST_CASE("one build for an element and an unrolling: the stride is none of the options") {
  Shape shape;
  shape.elements = 1U << 20U;
  shape.grid = 1U << 10U;
  std::set<std::string> options;
  for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 2) {
    options.insert(build_options(shape, false));
  }
  CHECK(options.size() == 1);
}

}  // namespace
}  // namespace clprobe::stride
