// SPDX-License-Identifier: Apache-2.0
// Points that show a finding, and visits of pairs of such points.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "fake_device.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

Point measured_point(std::int64_t size, double ns) {
  Point point = fake_point("near", size);
  for (int i = 0; i < 3; ++i) point.samples.push_back(launch_of(100'000, ns).sample);
  return point;
}

Finding made_finding(std::string_view name, double seconds) {
  Finding finding{.name = std::string(name), .series = "near"};
  finding.value = seconds;
  finding.unit = "seconds";
  return finding;
}

/// Analysis with two findings: the median time of the points below 11 ns, and the slope between the
/// two largest times.
Findings plateau_and_slope(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<double> low;
  std::vector<double> all;
  for (const Point& point : points) {
    const double ns = estimate(point, device)->ns;
    all.push_back(ns);
    if (ns < 11.0) low.push_back(ns);
  }
  std::sort(all.begin(), all.end());
  const double slope = all.back() - all[all.size() - 2];
  Findings found;
  found.findings = {made_finding("plateau", median(low) / 1e9), made_finding("slope", slope / 1e9)};
  return found;
}

Probe analysed_probe() {
  Probe probe = fake_probe();
  probe.analyse = plateau_and_slope;
  return probe;
}

// Three fast points, three slow ones, and one whose time equals the slope by chance.
const std::vector<Point> curve{measured_point(1, 10.0), measured_point(2, 10.1),
                               measured_point(3, 9.9),  measured_point(4, 50.0),
                               measured_point(5, 50.2), measured_point(6, 150.2),
                               measured_point(7, 100.0)};

PairSide side_of(FakeBackend& backend) { return {&backend, fake_info()}; }

}  // namespace

TEST_CASE("the points that show a finding are those that it follows") {
  const Probe probe = analysed_probe();
  const DeviceInfo device = fake_info();
  const Measured measured{&probe, &device, curve};
  const Finding plateau = made_finding("plateau", 10e-9);
  CHECK(find_carriers(plateau, measured) == std::vector<std::size_t>{0, 1, 2});
  // A point of 50 ns equals the slope by chance but does not determine it.
  CHECK(find_carriers(made_finding("slope", 50e-9), measured).empty());
  std::vector<Point> more = curve;
  more.push_back(measured_point(8, 10.7));
  more.push_back(measured_point(9, 9.6));
  CHECK(find_carriers(plateau, {&probe, &device, more}) == std::vector<std::size_t>{0, 1, 2, 8});
  Finding other_series = plateau;
  other_series.series = "far";
  CHECK(find_carriers(other_series, measured).empty());
  CHECK(find_carriers(made_finding("plateau", 20e-9), measured).empty());
  Finding unknown = plateau;
  unknown.value.reset();
  CHECK(find_carriers(unknown, measured).empty());
}

TEST_CASE("values of points in the units of findings") {
  DeviceInfo device = fake_info();
  device.clock.ticks_per_ns = 2.0;
  CHECK(*value_in("seconds", 5.0, device) == doctest::Approx(5e-9).scale(0));
  CHECK(*value_in("cycles", 5.0, device) == doctest::Approx(10.0));
  CHECK(*value_in("bytes_per_second", 5.0, device) == doctest::Approx(2e8));
  CHECK(*value_in("bytes_per_cycle", 5.0, device) == doctest::Approx(0.1));
  CHECK_FALSE(value_in("bytes", 5.0, device));
  device.clock.ticks_per_ns = 0.0;
  CHECK_FALSE(value_in("cycles", 5.0, device));
}

TEST_CASE("both sides are followed at the same points, unless they have none in common") {
  const Probe probe = analysed_probe();
  const DeviceInfo device = fake_info();
  std::vector<Point> slower = curve;
  std::reverse(slower.begin(), slower.end());
  const Measured baseline{&probe, &device, curve};
  const Measured other{&probe, &device, slower};
  const Finding plateau = made_finding("plateau", 10e-9);
  CHECK(pair_carriers(&plateau, baseline, &plateau, other, 2) ==
        std::vector<PointPair>{{0, 6}, {1, 5}});
  // Noise makes other points the fast ones on the other device.
  std::vector<Point> shifted{measured_point(1, 11.5), measured_point(2, 12.0),
                             measured_point(3, 12.5), measured_point(4, 10.0),
                             measured_point(5, 10.1), measured_point(6, 9.9),
                             measured_point(7, 200.0)};
  CHECK(pair_carriers(&plateau, baseline, &plateau, {&probe, &device, shifted}, 1) ==
        std::vector<PointPair>{{0, 0}});
  DeviceInfo another = device;
  another.name = "another";
  CHECK(pair_carriers(&plateau, baseline, &plateau, {&probe, &another, shifted}, 2) ==
        std::vector<PointPair>{{0, 3}, {1, 4}});
  // The other device lacks the finding.
  CHECK(pair_carriers(&plateau, baseline, nullptr, {&probe, &device, shifted}, 2) ==
        std::vector<PointPair>{{0, 0}, {1, 1}});
  CHECK(pair_carriers(nullptr, baseline, &plateau, {&probe, &device, shifted}, 1) ==
        std::vector<PointPair>{{3, 3}});
  CHECK(pair_carriers(&plateau, baseline, nullptr, {&probe, &another, shifted}, 2).empty());
  std::vector<Point> elsewhere = curve;
  for (Point& point : elsewhere) point.parameters.set("working_set_bytes", std::int64_t{1000});
  CHECK(pair_carriers(&plateau, baseline, &plateau, {&probe, &device, elsewhere}, 3) ==
        std::vector<PointPair>{{0, 0}, {1, 1}, {2, 2}});
}

TEST_CASE("the visit of a pair measures A B B A and B A A B, and shows how the sides differ") {
  std::string order;
  FakeBackend a([&](const Point&, std::uint64_t accesses) {
    order += 'A';
    return launch_of(accesses, 10.0);
  });
  FakeBackend b([&](const Point&, std::uint64_t accesses) {
    order += 'B';
    return launch_of(accesses, 11.0);
  });
  const Probe probe = analysed_probe();
  PairBudget budget;
  budget.time = std::chrono::seconds(0);
  budget.min_blocks = 2;
  budget.visit.samples_per_visit = 1;
  const auto never = [] { return false; };
  const Point before = measured_point(1, 10.0);
  const std::array sides{side_of(a), side_of(b)};
  const std::array points{&before, &before};
  PairVisit visit = visit_pair(probe, sides, points, false, budget, never);
  CHECK(order == "ABABBABAAB");  // the first two warm up
  CHECK(a.cores() == std::vector<std::size_t>{0, 0});
  CHECK(b.cores() == a.cores());
  REQUIRE(visit.blocks.size() == 2);
  CHECK(ratio_of_visit(visit.blocks, true).log_ratio == doctest::Approx(std::log(1.1)));
  CHECK(visit.samples[0].size() == 5);
  CHECK(visit.samples[1].size() == 5);
  // Visit numbers continue after those of the point.
  CHECK(visit.samples[0].front().visit == 1);
  CHECK(visit.samples[0].back().visit == 5);
  order.clear();
  visit_pair(probe, sides, points, true, budget, never);
  CHECK(order == "BABAABABBA");
  budget.min_blocks = 4;
  visit_pair(probe, sides, points, true, budget, never);
  // Each core measures both orders.
  CHECK(a.cores() == std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 1, 1});
  order.clear();
  const auto always = [] { return true; };
  visit = visit_pair(probe, sides, points, true, budget, always);
  CHECK(visit.blocks.empty());
}

TEST_CASE("an error names the side whose device failed") {
  const Probe probe = analysed_probe();
  FakeBackend good([](const Point&, std::uint64_t n) { return launch_of(n, 10.0); });
  FakeBackend bad([](const Point&, std::uint64_t) -> Measurement { throw DeviceError("gone"); });
  const Point point = measured_point(1, 10.0);
  for (const std::size_t failing : {0U, 1U}) {
    std::array sides{side_of(good), side_of(good)};
    sides.at(failing) = side_of(bad);
    try {
      visit_pair(probe, sides, {&point, &point}, false, {}, [] { return false; });
      FAIL("no error");
    } catch (const SideError& error) {
      CHECK(error.side() == failing);
      CHECK(std::string(error.what()) == "gone");
    }
  }
}

}  // namespace clprobe
