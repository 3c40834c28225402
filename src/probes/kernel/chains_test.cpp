// SPDX-License-Identifier: Apache-2.0
// Tests of the kernel with all causes removed next to copies and next to loads: planned points and
// resulting findings.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {
extern const Probe probe;

namespace {

DeviceInfo gpu() {
  DeviceInfo device = device_with_events();
  device.type = DeviceType::gpu;
  device.sub_group_size = 32;
  device.compute_units = 16;
  return device;
}

bool is_next_to_others(const Point& point) { return is_concurrent(shape_of<Shape>(point).variant); }

/// Returns the points of a kernel of 1 ms, half of which is main memory. With all causes removed,
/// the time per copy is `busy` times, and the time next to loads is `slowed` times the kernel's
/// time.
std::vector<Point> measured_with(const Request& request, double busy, double slowed) {
  const auto ns_of = [=](const Shape& shape) {
    const double kernel_ns = shape.distinct_groups <= 64 ? 5e5 : 1e6;
    if (!is_concurrent(shape.variant)) return kernel_ns;
    return (shape.variant == Variant::next_to_loads ? slowed : busy) * kernel_ns;
  };
  const auto measure_all = [&](std::vector<Point>& points) {
    for (Point& point : points) {
      point.facts.set(resident_fact, std::int64_t{4096});
      measure(point, ns_of(shape_of<Shape>(point)));
    }
  };
  std::vector<Point> points = plan(gpu(), request).points;
  measure_all(points);
  std::vector<Point> more = refine(gpu(), request, points);
  measure_all(more);
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

Request request_of(std::uint64_t groups) {
  Request request;
  request.launches = {asked(std::string(triad), groups)};
  request.effort = Effort::quick;
  return request;
}

}  // namespace

TEST_CASE("kernel: what is left has copies and loads beside it, in a quick look too") {
  const std::vector<Point> points = measured_with(request_of(1024), 0.4, 1.0);
  CHECK(std::count_if(points.begin(), points.end(), is_next_to_others) == 2);
  for (const Point& point : points) {
    if (!is_next_to_others(point)) continue;
    const auto shape = shape_of<Shape>(point);
    CHECK(shape.is_warm());
    CHECK(shape.distinct_groups <= 64);
    CHECK_FALSE(probe.find_problem(point).has_value());
    Point again;
    write_shape(shape, again);
    CHECK(again.parameters == point.parameters);
  }
}

TEST_CASE("kernel: what copies of what is left do not take is waiting for results") {
  const Findings found = probe.analyse(gpu(), measured_with(request_of(1024), 0.4, 1.0));
  CHECK(*need(found, "chains").value == doctest::Approx(0.3).epsilon(0.05));
  const Finding* const chains = find_stall(found, "compute data");
  REQUIRE(chains != nullptr);
  CHECK(*chains->value == *need(found, "chains").value);
  CHECK(*chains->value + left_in(found) == doctest::Approx(0.5).epsilon(0.01));
  CHECK(find_finding(found.findings, "near_waits") == nullptr);
}

TEST_CASE("kernel: what waits for loads with all causes gone is said, and no part of the bar") {
  const Findings found = probe.analyse(gpu(), measured_with(request_of(1024), 0.4, 1.8));
  CHECK(need(found, "chains").reason ==
        "refused: with all causes removed, the kernel still waits for loads: next to other loads, "
        "it takes 1.80 times as long");
  CHECK(*need(found, "near_waits").value == doctest::Approx(0.3).epsilon(0.05));
  CHECK(find_stall(found, "compute data") == nullptr);
}

TEST_CASE("kernel: a device that runs copies one behind the other tells nothing") {
  // A CPU runs copies one after another, so no concurrent launches are planned.
  DeviceInfo cpu = gpu();
  cpu.type = DeviceType::cpu;
  std::vector<Point> more = refine(cpu, request_of(1024), plan(cpu, request_of(1024)).points);
  CHECK(std::none_of(more.begin(), more.end(), is_next_to_others));
  // Without events, the start and end of a launch are unknown, so no concurrent launches are
  // planned.
  DeviceInfo timeless = gpu();
  timeless.launch_timer = Timer::wait;
  std::vector<Point> points = plan(timeless, request_of(1024)).points;
  for (Point& point : points) measure(point, 1e6);
  more = refine(timeless, request_of(1024), points);
  CHECK_FALSE(more.empty());
  CHECK(std::none_of(more.begin(), more.end(), is_next_to_others));
  points = measured_with(request_of(1024), 0.4, 1.0);
  for (Point& point : points) {
    if (!is_next_to_others(point)) continue;
    point.samples.clear();
    point.failure = "the device does not run two kernels at once";
  }
  CHECK(need(probe.analyse(gpu(), points), "chains").reason ==
        "refused: the device does not run two kernels at once");
}

TEST_CASE("kernel: loads alone, without copies, tell nothing, and it is said") {
  std::vector<Point> points = measured_with(request_of(1024), 0.4, 1.0);
  std::erase_if(
      points, [](const Point& point) { return shape_of<Shape>(point).variant == Variant::copies; });
  CHECK(need(probe.analyse(gpu(), points), "chains").reason ==
        "refused: not all required launches were measured");
}

TEST_CASE("kernel: nothing is beside what takes long") {
  for (const auto& [effort, max_ns] :
       {std::pair{Effort::quick, 10e6}, std::pair{Effort::normal, 50e6}}) {
    for (const bool is_short : {true, false}) {
      Request request = request_of(1024);
      request.effort = effort;
      std::vector<Point> points = plan(gpu(), request).points;
      for (Point& point : points) measure(point, is_short ? 0.99 * max_ns : 1.01 * max_ns);
      const std::vector<Point> more = refine(gpu(), request, points);
      CHECK(std::any_of(more.begin(), more.end(), is_next_to_others) == is_short);
    }
  }
}

}  // namespace clprobe::kernel
