// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/first_level.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <vector>

#include "analysis/api/estimate.hpp"

namespace clprobe {
namespace {

Finding first_of_levels() {
  Finding first{.name = "latency", .series = "global"};
  first.level = 1;
  first.unit = "seconds";
  return first;
}

TEST_CASE("a first level that was measured and has no plateau keeps its number") {
  std::vector<CurvePoint> flat;
  for (double size = 4096; size < 1e6; size *= 2) flat.push_back({size, 10.0});
  const std::vector<Level> levels{
      {.latency = 10.0, .latency_interval = {10.0, 10.0}, .spread = {10.0, 10.0}}};
  CHECK(number_of_first(flat, levels) == 1);
  CHECK_FALSE(lost_first_level(flat, levels, first_of_levels()).has_value());
  std::vector<CurvePoint> faster = flat;
  faster.front().latency = 5.5;
  CHECK(number_of_first(faster, levels) == 2);
  const std::optional<Finding> found = lost_first_level(faster, levels, first_of_levels());
  REQUIRE(found.has_value());
  CHECK(found->level == 1);
  CHECK_FALSE(found->value.has_value());
  CHECK(found->unit == "seconds");
  CHECK(*found->low * 1e9 == doctest::Approx(5.5).epsilon(0.01));
  CHECK(found->high == found->low);
  CHECK(found->reason == "4 KiB: no plateau; measure more sizes");
}

TEST_CASE("a series without levels has the value of its largest size") {
  std::vector<Point> points;
  for (const std::int64_t size : {1048576, 4096}) {
    points.push_back({.series = "read", .parameters = {{"working_set_bytes", size}}});
    points.back().facts.set("imported_ns", size == 4096 ? 2.0 : 4.0);
  }
  DeviceInfo device;
  device.timer = Timer::imported;
  Finding made{.name = "bandwidth", .series = "read", .unit = "bytes_per_second"};
  const Finding rate = at_largest_size(made, points, device);
  CHECK(rate.value == doctest::Approx(0.25e9));
  CHECK(is_at_one_size(rate));
  CHECK(rate.method == "at 1 MiB");
  CHECK(rate.reason.starts_with("2 sizes; no plateau: "));
  made.unit = "seconds";
  const Finding alone = at_largest_size(made, std::span(points).last(1), device);
  CHECK(alone.value.value() * 1e9 == doctest::Approx(2.0));
  CHECK(one_size_text(alone) == "at 4 KiB (one size; no plateau)");
}

}  // namespace
}  // namespace clprobe
