// SPDX-License-Identifier: Apache-2.0
// Which points show where a level ends.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/turns.hpp"
#include "fake_device.hpp"

namespace clprobe {
namespace {

Point point_of(std::int64_t size, double ns) {
  Point point = fake_point("near", size);
  for (int i = 0; i < 3; ++i) point.samples.push_back(launch_of(100'000, ns).sample);
  return point;
}

/// 10 ns up to 16 bytes, 30 ns from 64 on.
std::vector<Point> rising_points() {
  return {point_of(4, 10.0),  point_of(8, 10.0),  point_of(16, 10.0), point_of(24, 15.0),
          point_of(32, 20.0), point_of(48, 25.0), point_of(64, 30.0), point_of(128, 30.0)};
}

Finding capacity_between(double low, double high) {
  Finding finding{.name = "capacity", .series = "near"};
  finding.value = std::sqrt(low * high);
  finding.low = low;
  finding.high = high;
  finding.unit = "bytes";
  return finding;
}

Probe probe_by_size() {
  Probe probe = fake_probe();
  probe.view.x = "working_set_bytes";
  return probe;
}

/// A side with these points, and where its level ends.
struct RisingSide {
  const Probe probe = probe_by_size();
  const DeviceInfo device = fake_info();
  const std::vector<Point> points = rising_points();
  const Measured measured{&probe, &device, points};
  const Finding capacity = capacity_between(16, 32);
};

constexpr std::array level{PointPair{0, 0}, PointPair{1, 1}};
constexpr std::array next{PointPair{6, 6}, PointPair{7, 7}};

}  // namespace

TEST_CASE_FIXTURE(RisingSide, "a level's end is followed at sizes of its rise, of both sides") {
  std::string reason;
  const auto find = [&](const Finding& ours, const Measured& other) {
    reason.clear();
    return find_end(ours, measured, capacity, other, level, next, reason);
  };
  const auto found = find(capacity, measured);
  REQUIRE(found);
  CHECK(found->pairs == std::vector<PointPair>{{3, 3}, {4, 4}, {5, 5}});
  REQUIRE(found->end.sizes().size() == 3);
  CHECK(found->end.sizes()[1] == doctest::Approx(std::log(32.0)));
  CHECK(reason.empty());
  // Sizes that the other side has not measured show nothing.
  std::vector<Point> fewer = points;
  fewer[4].samples.clear();
  const auto without = find(capacity, {&probe, &device, fewer});
  REQUIRE(without);
  CHECK(without->pairs == std::vector<PointPair>{{3, 3}, {5, 5}});
  // Other sizes are at other places.
  std::vector<Point> shifted(points.begin() + 1, points.end());
  const std::array shifted_level{PointPair{1, 0}};
  const std::array shifted_next{PointPair{7, 6}};
  const auto elsewhere = find_end(capacity, measured, capacity, {&probe, &device, shifted},
                                  shifted_level, shifted_next, reason);
  REQUIRE(elsewhere);
  CHECK(elsewhere->pairs == std::vector<PointPair>{{3, 2}, {4, 3}, {5, 4}});
}

TEST_CASE_FIXTURE(RisingSide, "why no points show an end") {
  const auto why = [&](const Finding& ours, const Measured& other) {
    std::string reason;
    CHECK_FALSE(find_end(ours, measured, capacity, other, level, next, reason));
    return reason;
  };
  const std::string elsewhere = "the curve does not rise there from one level to the next";
  CHECK(why(capacity_between(4, 8), measured) == elsewhere);
  CHECK(why(capacity_between(64, 128), measured) == elsewhere);
  Finding open = capacity;
  open.low.reset();
  CHECK(why(open, measured) == "it has no bracket");
  DeviceInfo another = device;
  another.name = "another";
  CHECK(why(capacity, {&probe, &another, points}).starts_with("two devices"));
  std::vector<Point> gentle = points;
  gentle[6] = point_of(64, 12.0);
  gentle[7] = point_of(128, 12.0);
  CHECK(why(capacity, {&probe, &device, gentle}) == "the next level takes hardly longer");
  std::vector<Point> other_sizes;
  for (const Point& point : points) {
    other_sizes.push_back(point);
    const std::int64_t size = point.parameters.integer("working_set_bytes");
    other_sizes.back().parameters.set("working_set_bytes", size + 1);
  }
  CHECK(why(capacity, {&probe, &device, other_sizes}) ==
        "both sides have no measured size in common");
}

}  // namespace clprobe
