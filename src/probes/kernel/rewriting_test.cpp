// SPDX-License-Identifier: Apache-2.0
// Launches of kernels that are rewritten in PTX, and the causes that they show.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

DeviceInfo nvidia() {
  DeviceInfo device = device_with_events();
  device.vendor = "NVIDIA Corporation";
  return device;
}

/// Instructions of the made-up kernel's parts, in the order of part_rows.
struct Counts {
  std::array<std::int64_t, ptx::part_count> all{10, 2, 0, 0, 0};
  std::array<std::int64_t, ptx::part_count> removable{10, 2, 0, 0, 0};
};

void set_counts(const Counts& counts, Point& plain) {
  for (std::size_t i = 0; i < ptx::part_count; ++i) {
    plain.facts.set(fmt::format(count_fact, part_rows.at(i).name), counts.all.at(i));
    plain.facts.set(fmt::format(removable_fact, part_rows.at(i).name), counts.removable.at(i));
  }
}

/// Returns the points of a measurement on a device that gives PTX. `ns_of` gives each launch's
/// time.
template <typename Time>
std::vector<Point> measured_with(const Counts& counts, std::size_t kernels, const Time& ns_of) {
  Request request;
  request.launches.assign(kernels, asked(std::string(triad), 1024));
  for (std::size_t i = 0; i < kernels; ++i) {
    request.launches[i].label += i == 0 ? "" : " " + std::to_string(i + 1);
  }
  std::vector<Point> points = plan(nvidia(), request).points;
  for (Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    measure(point, ns_of(shape));
    if (shape.variant == Variant::plain) set_counts(counts, point);
  }
  std::vector<Point> more = refine(nvidia(), request, points);
  for (Point& point : more) measure(point, ns_of(shape_of<Shape>(point)));
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

std::vector<std::string> rewritten_series(const std::vector<Point>& points) {
  std::vector<std::string> series;
  for (const Point& each : points) {
    if (shape_of<Shape>(each).variant == Variant::rewritten) series.push_back(each.series);
  }
  return series;
}

}  // namespace

TEST_CASE("kernel: what a kernel's PTX contains decides which rewritten kernels are launched") {
  const auto same = [](const Shape&) { return 1e6; };
  CHECK(rewritten_series(measured_with({}, 1, same)) ==
        std::vector<std::string>{"triad, rewritten", "triad, rewritten without stores",
                                 "triad, rewritten without loads",
                                 "triad, rewritten without loads and stores"});
  const Counts all{{10, 2, 6, 1, 3}, {10, 2, 6, 1, 3}};
  // All sets of four causes, and loads and stores alone.
  CHECK(rewritten_series(measured_with(all, 1, same)).size() == 16 + 2);
  CHECK(rewritten_series(measured_with(all, 2, same)).size() == 2 * (16 + 2));
}

TEST_CASE("kernel: a rewritten kernel shows what its memory costs, also without the far data") {
  const auto times = [](const Shape& shape) {
    if (shape.variant == Variant::ending) return 1e5;
    if (shape.variant != Variant::rewritten) return 1e6;
    const bool has_loads = !shape.removed.test(ptx::index_of(ptx::Part::loads));
    const bool has_stores = !shape.removed.test(ptx::index_of(ptx::Part::stores));
    if (has_loads && has_stores) return 1e6;
    if (has_loads) return 9e5;
    return has_stores ? 5e5 : 3e5;
  };
  const Findings found = probe.analyse(nvidia(), measured_with({}, 1, times));
  CHECK(*need(found, "memory").value == doctest::Approx(0.7).epsilon(0.01));
  CHECK(need(found, "memory").series == "triad, rewritten");
  CHECK(*need(found, "loads").value == doctest::Approx(0.5).epsilon(0.01));
  CHECK(*need(found, "stores").value == doctest::Approx(0.1).epsilon(0.02));
  CHECK(need(found, "lanes").reason == "not present");
  const Finding* const starting = find_stall(found, "idle: starting groups");
  REQUIRE(starting != nullptr);
  CHECK(*starting->value == doctest::Approx(0.1).epsilon(0.02));
  CHECK(left_in(found) == doctest::Approx(0.3).epsilon(0.01));
  const Finding& advice = need(found, "advice");
  CHECK(advice.series == "triad, rewritten");
  CHECK(advice.label ==
        "Removing memory saves at most 70 % of the kernel's time, the loads alone 50 %: load less, "
        "and keep reused values in registers or local memory.");
  CHECK(find_finding(found.findings, "idle_units") == nullptr);
}

TEST_CASE("kernel: at most is what the best order of removing saves") {
  const Counts counts{{4, 1, 8, 0, 2}, {4, 1, 8, 0, 0}};
  const auto times = [](const Shape& shape) {
    if (shape.variant != Variant::rewritten) return 1e6;
    const bool has_memory = !shape.removed.test(ptx::index_of(ptx::Part::loads)) ||
                            !shape.removed.test(ptx::index_of(ptx::Part::stores));
    const bool has_local = !shape.removed.test(ptx::index_of(ptx::Part::local_memory));
    // Either of both hides the other.
    if (has_memory) return has_local ? 1e6 : 9e5;
    return has_local ? 8e5 : 2e5;
  };
  const Findings found = probe.analyse(nvidia(), measured_with(counts, 1, times));
  CHECK(*need(found, "memory").value == doctest::Approx(0.45).epsilon(0.01));
  CHECK(*need(found, "local_memory").value == doctest::Approx(0.35).epsilon(0.01));
  CHECK(need(found, "barriers").reason ==
        "refused: all of the kernel's barriers determine addresses, branches or barriers, so "
        "clprobe keeps them");
  CHECK(need(found, "fences").reason == "not present");
  CHECK(need(found, "advice").label.starts_with("Removing memory saves at most 70 %"));
}

TEST_CASE("kernel: a change that avoids local memory avoids its barriers as well") {
  const Counts counts{{4, 1, 8, 0, 2}, {4, 1, 8, 0, 2}};
  const auto times = [](const Shape& shape) {
    if (shape.variant != Variant::rewritten) return 1e6;
    const bool has_local = !shape.removed.test(ptx::index_of(ptx::Part::local_memory));
    const bool has_barriers = !shape.removed.test(ptx::index_of(ptx::Part::barriers));
    return 2e5 + (has_local ? 5e5 : 0.0) + (has_barriers ? 3e5 : 0.0);
  };
  const Findings found = probe.analyse(nvidia(), measured_with(counts, 1, times));
  CHECK(*need(found, "local_memory").value == doctest::Approx(0.5).epsilon(0.01));
  CHECK(need(found, "advice")
            .label.starts_with("Removing local memory and its barriers saves at most 80 %"));
}

TEST_CASE("kernel: instructions that stay make a saving a lower bound") {
  const Counts counts{{10, 2, 0, 0, 0}, {7, 2, 0, 0, 0}};
  const auto times = [](const Shape& shape) { return shape.removed.any() ? 6e5 : 1e6; };
  const Findings found = probe.analyse(nvidia(), measured_with(counts, 1, times));
  CHECK(need(found, "memory").reason ==
        "at least: 3 of 10 loads determine addresses, branches or barriers, so clprobe keeps them");
  CHECK(need(found, "advice").label.starts_with("Removing memory saves at least 40 %"));
}

TEST_CASE("kernel: decisions that change the time alone are compared with the plain launch") {
  const auto with_ratio = [](double ratio) {
    const auto times = [ratio](const Shape& shape) {
      if (shape.variant != Variant::rewritten) return 1e6;
      return shape.removed.any() ? 3e5 : ratio * 1e6;
    };
    std::vector<Point> points = measured_with({}, 1, times);
    for (Point& point : points) {
      const auto shape = shape_of<Shape>(point);
      if (shape.variant == Variant::plain) point.facts.set(replayed_fact, std::int64_t{3});
    }
    return probe.analyse(nvidia(), points);
  };
  CHECK(*need(with_ratio(1.05), "memory").value == doctest::Approx(0.75 / 1.05).epsilon(0.01));
  CHECK(need(with_ratio(1.05), "memory").reason.empty());
  // Branches that wait for loads: the kernel without memory takes 0.3 of the plain time.
  const Findings waiting = with_ratio(0.6);
  CHECK(*need(waiting, "memory").value == doctest::Approx(0.7).epsilon(0.01));
  CHECK(need(waiting, "memory").reason.empty());
  CHECK(*need(waiting, "instrument_ratio").value == doctest::Approx(0.6).epsilon(0.01));
  // Replaying takes time itself, by an unknown part of what is left.
  const Findings slower = with_ratio(1.3);
  CHECK(*need(slower, "memory").value == doctest::Approx(0.7).epsilon(0.01));
  CHECK(need(slower, "memory").reason.starts_with("at least: with replayed branches"));
}

TEST_CASE("kernel: a launch with fewer groups than units leaves units idle") {
  DeviceInfo device = nvidia();
  device.compute_units = 4096;
  const auto times = [](const Shape& shape) { return shape.removed.any() ? 5e5 : 1e6; };
  const Findings found = probe.analyse(device, measured_with({}, 1, times));
  CHECK(*need(found, "idle_units").value == 0.75);
  CHECK(need(found, "advice").label ==
        "The launch has 1024 work-groups for 4096 compute units, so 75 % of the device is idle: "
        "divide the work among more work-items, in at least 4096 groups.");
}

TEST_CASE("kernel: a kernel that cannot be rewritten is instrumented as on other devices") {
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  std::vector<Point> points = plan(nvidia(), request).points;
  for (Point& point : points) {
    measure(point, 1e6);
    if (shape_of<Shape>(point).variant == Variant::plain) {
      point.facts.set(rewriting_absence, std::string("the driver provides no PTX"));
    }
  }
  for (const Point& point : refine(nvidia(), request, points)) {
    CHECK(shape_of<Shape>(point).variant != Variant::rewritten);
  }
}

}  // namespace clprobe::kernel
