// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/first_level.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace clprobe {
namespace {

Finding first_of_levels() {
  Finding first{.name = "latency", .series = "global"};
  first.level = 1;
  first.unit = "seconds";
  return first;
}

std::optional<Finding> lost(const std::vector<CurvePoint>& curve,
                            const std::vector<Level>& levels) {
  return lost_first_level(curve, levels, first_of_levels(), [](const CurvePoint& faster) {
    return "takes " + std::to_string(static_cast<int>(faster.latency));
  });
}

TEST_CASE("a first level that was measured and has no plateau keeps its number") {
  std::vector<CurvePoint> flat;
  for (double size = 4096; size < 1e6; size *= 2) flat.push_back({size, 10.0});
  const std::vector<Level> levels{
      {.latency = 10.0, .latency_interval = {10.0, 10.0}, .spread = {10.0, 10.0}}};
  CHECK(number_of_first(flat, levels) == 1);
  CHECK_FALSE(lost(flat, levels).has_value());
  std::vector<CurvePoint> faster = flat;
  faster.front().latency = 5.5;
  CHECK(number_of_first(faster, levels) == 2);
  const std::optional<Finding> found = lost(faster, levels);
  REQUIRE(found.has_value());
  CHECK(found->level == 1);
  CHECK_FALSE(found->value.has_value());
  CHECK(found->unit == "seconds");
  CHECK(found->reason == "no plateau, but 4 KiB takes 5: measure more sizes");
}

}  // namespace
}  // namespace clprobe
