// SPDX-License-Identifier: Apache-2.0
// Tests of the findings on a kernel's causes, from launches with made-up times.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

constexpr std::string_view with_barrier =
    "kernel void triad(global float* a, global const float* b) {\n"
    "  a[get_global_id(0)] = b[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n}\n";

}  // namespace

TEST_CASE("kernel: causes that may be less than nothing leave the whole, and no more") {
  const auto left_without_barriers = [](double share) {
    std::vector<Point> points = plan_of(std::string(with_barrier), 1024).points;
    for (Point& point : points) {
      const bool is_without = shape_of<Shape>(point).setting.without_barriers;
      measure(point, is_without ? share * 1e6 : 1e6);
      // The first and the last sample differ by 2 % from the middle sample, in opposite directions
      // for the two builds.
      const std::uint64_t first = is_without ? 98 : 102;
      point.samples[0].event_ns = *point.samples[0].event_ns * first / 100;
      point.samples[2].event_ns = *point.samples[2].event_ns * (200 - first) / 100;
    }
    const Findings found = probe.analyse(device_with_events(), points);
    return left_in(found);
  };
  CHECK(left_without_barriers(1.004) == 1.0);
  CHECK(left_without_barriers(0.99) == doctest::Approx(0.99).epsilon(0.003));
  // A cause whose removal clearly slows the kernel has no share.
  CHECK(left_without_barriers(1.1) == 1.0);
}

TEST_CASE("kernel: what blocks of turns say of the prelude counts for more than two points") {
  std::vector<Point> points = measured(1.2);
  for (Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    if (shape.variant != Variant::instrumented || shape.setting != prelude::Setting{}) continue;
    for (std::size_t i = 0; i < max_ratios; ++i) {
      point.facts.set(fact_at(ratio_fact, i), std::int64_t{1'010'000 + (i % 2 == 0 ? 5'000 : 0)});
    }
    CHECK_FALSE(probe.find_problem(point).has_value());
  }
  const Findings found = probe.analyse(device_with_events(), points);
  const Finding& ratio = need(found, "instrument_ratio");
  CHECK(*ratio.value == doctest::Approx(1.0125).epsilon(0.001));
  CHECK(*ratio.low < *ratio.value);
  CHECK(need(found, "memory").value.has_value());
}

TEST_CASE("kernel: main memory and the last cache are parts where it is known how large that is") {
  DeviceInfo device = device_with_events();
  device.reported.set("cache_bytes", std::int64_t{4096});
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  const auto found_on = [&](DeviceType type) {
    device.type = type;
    std::vector<Point> points = plan(device, request).points;
    for (Point& point : points) {
      measure(point, shape_of<Shape>(point).distinct_groups <= 64 ? 5e5 : 1e6);
    }
    return probe.analyse(device, points);
  };
  const auto has = [](const Findings& found, std::string_view name) {
    return find_finding(found.findings, name) != nullptr;
  };
  // On a CPU, the reported cache size counts. On a GPU, the reported size may be that of another
  // cache, so only a measured size counts.
  const Findings on_cpu = found_on(DeviceType::cpu);
  CHECK(has(on_cpu, "main_memory"));
  CHECK_FALSE(has(on_cpu, "memory"));
  const Findings on_gpu = found_on(DeviceType::gpu);
  CHECK(has(on_gpu, "memory"));
  CHECK_FALSE(has(on_gpu, "main_memory"));
  request.known.last_cache = {4096};
  CHECK(has(found_on(DeviceType::gpu), "main_memory"));
}

TEST_CASE("kernel: lanes are left out where the fastest folding is, on devices that have them") {
  DeviceInfo gpu = device_with_events();
  gpu.type = DeviceType::gpu;
  gpu.sub_group_size = 32;
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  std::vector<Point> points = plan(gpu, request).points;
  const auto is_without = [](const Point& point) {
    const auto shape = shape_of<Shape>(point);
    return shape.variant == Variant::instrumented && shape.setting.without_lanes;
  };
  CHECK(std::none_of(points.begin(), points.end(), is_without));
  const auto ns_of = [](const Shape& shape) {
    if (shape.setting.without_lanes) return 2e5;
    return shape.distinct_groups <= 64 ? 5e5 : 1e6;
  };
  for (Point& point : points) measure(point, ns_of(shape_of<Shape>(point)));
  std::vector<Point> more = refine(gpu, request, points);
  REQUIRE(std::count_if(more.begin(), more.end(), is_without) == 1);
  for (Point& point : more) measure(point, ns_of(shape_of<Shape>(point)));
  points.insert(points.end(), more.begin(), more.end());
  for (const Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    Point again;
    write_shape(shape, again);
    CHECK(again.parameters == point.parameters);
  }
  const Findings found = probe.analyse(gpu, points);
  CHECK(*need(found, "memory").value == doctest::Approx(0.5).epsilon(0.02));
  CHECK(*need(found, "lanes").value == doctest::Approx(0.3).epsilon(0.02));
  // If the launch without lanes is missing, only the cause `lanes` is refused.
  std::erase_if(points, is_without);
  const Findings fewer = probe.analyse(gpu, points);
  CHECK(need(fewer, "lanes").reason ==
        "refused: some launches without this cause were not measured");
  CHECK(*need(fewer, "memory").value == doctest::Approx(0.5).epsilon(0.02));
  // A group of 48 work-items has one and a half sub-groups of 32.
  request.launches[0].bundle.launch.range.local = {48};
  request.launches[0].bundle.launch.range.global = {48 * 1024};
  CHECK(plan(gpu, request).points.front().facts.text_or("lanes_absence", "") ==
        "the kernel's work-groups do not consist of whole sub-groups");
  gpu.type = DeviceType::cpu;
  CHECK(plan(gpu, request).points.front().facts.text_or("lanes_absence", "") == not_present);
}

TEST_CASE("kernel: fences and special functions are left out, together with memory and without") {
  const DeviceInfo device = device_with_events();
  Request request;
  request.launches = {
      asked("kernel void triad(global float* a, float c) {\n"
            "  a[get_global_id(0)] = native_exp(c);\n"
            "  mem_fence(CLK_GLOBAL_MEM_FENCE);\n}\n",
            1024)};
  const auto ns_of = [](const Shape& shape) {
    if (shape.variant == Variant::ending) return 1e4;
    return 1e6 - (shape.setting.without_fences ? 3e5 : 0.0) -
           (shape.setting.without_functions ? 4e5 : 0.0);
  };
  std::vector<Point> points = plan(device, request).points;
  for (Point& point : points) measure(point, ns_of(shape_of<Shape>(point)));
  std::vector<Point> more = refine(device, request, points);
  for (Point& point : more) measure(point, ns_of(shape_of<Shape>(point)));
  points.insert(points.end(), more.begin(), more.end());
  const auto is_without_both = [](const Point& point) {
    const auto shape = shape_of<Shape>(point);
    return shape.variant == Variant::instrumented && shape.setting.without_fences &&
           shape.setting.without_functions;
  };
  CHECK(std::count_if(points.begin(), points.end(), is_without_both) == 2);
  for (const Point& point : points) {
    Point again;
    write_shape(shape_of<Shape>(point), again);
    CHECK(again.parameters == point.parameters);
  }
  const Findings found = probe.analyse(device, points);
  CHECK(*need(found, "fences").value == doctest::Approx(0.3).epsilon(0.02));
  CHECK(*need(found, "functions").value == doctest::Approx(0.4).epsilon(0.02));
  const auto has_part = [&](std::string_view label) {
    return std::any_of(found.findings.begin(), found.findings.end(), [&](const Finding& each) {
      return each.name == "stall" && each.label == label;
    });
  };
  CHECK(has_part("memory structural: pending release"));
  CHECK(has_part("compute structural"));
  CHECK(need(found, "advice").label.starts_with("Removing special functions saves at most 40 %"));
  // If builds are missing, special functions are refused first.
  std::erase_if(points,
                [](const Point& each) { return shape_of<Shape>(each).setting.without_functions; });
  const Findings fewer = probe.analyse(device, points);
  CHECK(need(fewer, "functions").reason ==
        "refused: some launches without this cause were not measured");
  CHECK(*need(fewer, "fences").value == doctest::Approx(0.3).epsilon(0.02));
}

}  // namespace clprobe::kernel
