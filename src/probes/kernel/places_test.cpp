// SPDX-License-Identifier: Apache-2.0
// Tests of the findings on a kernel's resident groups and on the time to start groups, from
// launches whose times are known.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

/// Sets the times and resident groups of a launch of 1024 groups. 1000 groups are resident, 500
/// from 4/8 of the padding up, and 250 with the maximum padding. The time is inversely proportional
/// to the resident groups. The partial wave of 24 groups takes as long as a full wave.
void set_resident(std::vector<Point>& points) {
  for (Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    if (!has_entry(shape.variant)) continue;
    const std::int64_t resident = shape.padding_eighths < 4   ? 1000
                                  : shape.padding_eighths < 8 ? 500
                                                              : 250;
    point.facts.set(resident_fact, resident);
    point.facts.set(padding_fact, static_cast<std::int64_t>(16 + 6144 * shape.padding_eighths));
    point.samples.clear();
    const bool is_whole = shape.distinct_groups == 1000;
    measure(point, is_whole ? 5e5 : 1e9 / static_cast<double>(resident));
  }
}

}  // namespace

TEST_CASE("kernel: groups at once are a curve, and half of them a finding") {
  std::vector<Point> points = measured(1.0);
  set_resident(points);
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(*need(found, "resident_groups").value == 1000);
  CHECK(*need(found, "waves").value == doctest::Approx(1.024));
  CHECK(*need(found, "occupancy").value == doctest::Approx(1.0).epsilon(0.01));
  CHECK(need(found, "occupancy").label == "with 500 groups at once");
  CHECK(need(found, "tail").reason == "refused: not all required launches were measured");
}

TEST_CASE(
    "kernel: what starting its groups takes is measured by a launch of which none does work") {
  std::vector<Point> points = measured(1.0);
  set_resident(points);
  for (Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    if (shape.variant != Variant::ending) continue;
    CHECK(point.series == "triad, ending at once");
    CHECK_FALSE(probe.find_problem(point).has_value());
    CHECK(shape.distinct_groups == 1024);
    point.samples.clear();
    measure(point, 8e5);
  }
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(*need(found, "starting").value == doctest::Approx(0.8).epsilon(0.01));
  CHECK(need(found, "starting").label == "1024 groups");
  CHECK(need(found, "advice")
            .label.starts_with("Starting 1024 groups takes 80 % of the kernel's time"));
  // The launch whose groups end at once counts neither as a launch with padding nor as the launch
  // of full waves.
  CHECK(*need(found, "resident_groups").value == 1000);
  CHECK(need(found, "tail").reason == "refused: not all required launches were measured");
}

TEST_CASE("kernel: the launch without its last wave is measured in view of the groups at once") {
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  std::vector<Point> points = measured(1.0);
  set_resident(points);
  std::vector<Point> more = refine(device_with_events(), request, points);
  const auto whole = std::find_if(more.begin(), more.end(), [](const Point& each) {
    return each.series == "triad, whole waves";
  });
  REQUIRE(whole != more.end());
  CHECK(shape_of<Shape>(*whole).distinct_groups == 1000);
  CHECK(shape_of<Shape>(*whole).groups == 1024);
  CHECK_FALSE(probe.find_problem(*whole).has_value());
  points.push_back(*whole);
  set_resident(points);
  for (Point& point : points) point.facts.set(app_share_fact, std::int64_t{500'000});
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(*need(found, "tail").value == doctest::Approx(1.0 - 0.5 * 1.024).epsilon(0.01));
  CHECK(need(found, "tail").label == "24 of 1024 groups");
}

TEST_CASE("kernel: with an entry that costs more than a tenth nothing is said of groups") {
  std::vector<Point> points = measured(1.0);
  for (Point& point : points) {
    if (!has_entry(shape_of<Shape>(point).variant)) continue;
    point.facts.set(resident_fact, std::int64_t{1000});
    point.samples.clear();
    measure(point, 1.2e6);
  }
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(need(found, "resident_groups").reason ==
        "not reliable: with clprobe's instrumentation the kernel takes 1.20 times as long, so the "
        "count of resident groups would describe a different kernel");
  CHECK(find_finding(found.findings, "tail") == nullptr);
}

}  // namespace clprobe::kernel
