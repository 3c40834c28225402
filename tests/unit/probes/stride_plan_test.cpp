// SPDX-License-Identifier: Apache-2.0
// What the probe `stride` plans and refuses, and what its launches must find; no kernel is run.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe {
namespace {

const Probe& stride_probe() { return *find_probe("stride"); }

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

std::string problem(const DeviceInfo& device, const StreamLimits& asked, Bytes max_memory = {}) {
  Limits limits;
  limits.stream = asked;
  limits.max_memory = max_memory;
  return stride_probe().check(device, limits);
}

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
    if runs_items_in_turn ((device)) expected.insert("read int16");
    CHECK(series == expected);
    for (const std::string& name : series) {
      std::set<std::uint64_t> strides;
      std::uint64_t grid = 0;
      for (const Point& point : plan.points) {
        if (point.series != name) continue;
        const StrideShape shape = StrideShape::of(point);
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

TEST_CASE("a CPU reads elements of a line in 16 streams") {
  for (const Point& point : stride_probe().plan(cpu(), {}).points) {
    const StrideShape shape = StrideShape::of(point);
    CHECK((shape.element_bytes() == 64) == (shape.run() == 16));
  }
}

TEST_CASE("buffers: 1 GiB on a large GPU, four times the last cache where it is known") {
  const auto buffer = [](const DeviceInfo& device, const Limits& limits) {
    return StrideShape::of(stride_probe().plan(device, limits).points.front()).buffer_bytes();
  };
  CHECK(buffer(big_gpu(), {}) == gibibytes(1).count);
  CHECK(buffer(cpu(), {}) == mebibytes(128).count);
  Limits limits;
  limits.last_cache = mebibytes(100);  // the larger of what `latency` found and what is reported
  CHECK(buffer(cpu(), limits) == mebibytes(512).count);
  limits.last_cache = mebibytes(1);
  CHECK(buffer(cpu(), limits) == mebibytes(128).count);
  limits.last_cache = mebibytes(300);
  CHECK(buffer(big_gpu(), limits) == gibibytes(2).count);
  limits.max_memory = mebibytes(100);  // two buffers, powers of two
  CHECK(buffer(cpu(), limits) == mebibytes(32).count);
  Limits quick;
  quick.effort = Effort::quick;
  CHECK(buffer(big_gpu(), quick) == mebibytes(256).count);
}

TEST_CASE("the known patterns have their names") {
  Limits limits;
  limits.stream.grid = 1024;
  limits.stream.work_group = 64;
  limits.stream.operations = {Operation::read};
  for (const Point& point : stride_probe().plan(big_gpu(), limits).points) {
    const std::uint64_t stride = number(point, "stride_elements");
    const std::string expected = stride == 1      ? "serial"
                                 : stride == 64   ? "work-group stride"
                                 : stride == 1024 ? "grid stride"
                                                  : "between";
    CHECK(point.parameters.text("pattern") == expected);
  }
}

TEST_CASE("what was asked for is a series each") {
  Limits limits;
  limits.stream.types = {ElementType::int32, ElementType::float64};
  limits.stream.vectors = {1, 16};
  limits.stream.operations = {Operation::update};
  limits.stream.buffers = {BufferKind::device, BufferKind::host};
  limits.stream.timer = Timer::host;
  std::set<std::string> series;
  for (const Point& point : stride_probe().plan(big_gpu(), limits).points) {
    series.insert(point.series);
    CHECK(point.parameters.text("timer") == "host");
  }
  CHECK(series ==
        std::set<std::string>{"update int", "update int16", "update double", "update double16",
                              "update int in host memory", "update int16 in host memory",
                              "update double in host memory", "update double16 in host memory"});
}

TEST_CASE("events are not asked for where they are not true") {
  DeviceInfo device = cpu();
  device.launch_timer = Timer::host;
  CHECK(stride_probe().plan(device, {}).points.front().parameters.text("timer") == "host");
  Limits limits;
  limits.stream.timer = Timer::event;
  const Plan plan = stride_probe().plan(device, limits);
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
  says(problem(big_gpu(), {.grid = 1000}), {"--grid", "1000", "512 or 1024"});
  says(problem(big_gpu(), {.elements = 3}), {"--elements", "2 or 4"});
  says(problem(big_gpu(), {.work_group = 96}), {"--work-group", "64 or 128"});
  says(problem(big_gpu(), {.elements = 1U << 20U, .grid = 1U << 21U}),
       {"--grid", "2097152", "at most 1048576"});
  says(problem(big_gpu(), {.grid = 64, .work_group = 128}),
       {"--work-group", "does not divide", "at most 64"});
  says(problem(big_gpu(), {.work_group = 2048}), {"--work-group", "at most 1024"});
  says(problem(phone(), {.work_group = 64}), {"--work-group", "at most 32"});
  says(problem(cpu(), {.elements = std::uint64_t{1} << 40U}),
       {"--elements", "more memory", "at most 268435456"});
  says(problem(cpu(), {.elements = 1U << 20U}, mebibytes(1)), {"--elements", "at most 32768"});
  says(problem(phone(), {.types = {ElementType::float64}}), {"--type", "int or float"});
  says(problem(cpu(), {.buffers = {BufferKind::svm}}), {"--buffer", "device or host"});
  CHECK(problem(big_gpu(), {}).empty());
  CHECK(problem(phone(), {}).empty());
  CHECK(problem(big_gpu(), {.elements = 16}).empty());
  CHECK(problem(big_gpu(), {.elements = 1, .grid = 1, .work_group = 1}).empty());
}

TEST_CASE("more than 4 GiB and more than 2^32 elements are planned, with places of 64 bits") {
  Limits limits;
  limits.stream.elements = std::uint64_t{1} << 33U;
  limits.stream.operations = {Operation::read};
  CHECK(stride_probe().check(big_gpu(), limits).empty());
  const Plan plan = stride_probe().plan(big_gpu(), limits);
  REQUIRE_FALSE(plan.points.empty());
  const StrideShape shape = StrideShape::of(plan.points.back());
  CHECK(shape.buffer_bytes() == gibibytes(32).count);
  CHECK(needs_wide(shape));
  CHECK(shape.first_of(shape.grid - 1) + (shape.run() - 1) * shape.stride == shape.elements - 1);
  StrideShape narrow = shape;
  narrow.elements = std::uint64_t{1} << 32U;  // the last place is 2^32 - 1
  CHECK_FALSE(needs_wide(narrow));
}

TEST_CASE("every element belongs to one work-item, whatever the stride") {
  StrideShape shape;
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
  StrideShape shape;
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
  StrideShape shape;
  shape.elements = 1U << 12U;
  shape.grid = 64;
  shape.stride = 8;
  const WordRule right = sum_rule(shape, 0, shape.run());
  StrideShape wrong = shape;
  wrong.stride = 16;
  const WordRule other = sum_rule(wrong, 0, shape.run());
  const WordRule shifted = sum_rule(shape, 1, shape.run());
  int same = 0;
  for (std::uint64_t item = 0; item < shape.grid; ++item) {
    // In 32 bits, as the kernel compares ints.
    const auto low = [](std::uint64_t sum) { return static_cast<std::uint32_t>(sum); };
    const std::uint32_t expected = low(right.at(shape.first_of(item)));
    if (expected == low(other.at(wrong.first_of(item)))) ++same;
    if (expected == low(shifted.at(shape.first_of(item)))) ++same;
    if (expected == low(right.at(shape.first_of(item) + 1))) ++same;
  }
  CHECK(same == 0);
}

TEST_CASE("one build for an element and an unrolling: the stride is none of the options") {
  StrideShape shape;
  shape.elements = 1U << 20U;
  shape.grid = 1U << 10U;
  std::set<std::string> options;
  for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 2) {
    options.insert(stride_options(shape, false));
  }
  CHECK(options.size() == 1);
  CHECK(stride_variants().size() == 31);
}

}  // namespace
}  // namespace clprobe
