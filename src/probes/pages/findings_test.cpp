// SPDX-License-Identifier: Apache-2.0
// Plans and findings of the probe `pages`, from hand-made points.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probes/pages/pages.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::pages {
namespace {

DeviceInfo gpu_at_1_ghz() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.global_memory = gibibytes(16);
  device.max_allocation = gibibytes(4);
  device.timer = Timer::clock;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  return device;
}

/// A device with buffers for 64 and 1,024 translations of 64 KiB, before and after a first cache of
/// `lines` lines. Misses take 50 cycles and 300 more.
struct Made {
  std::uint64_t lines{2048};
  std::uint64_t page{64U << 10U};
  std::uint64_t second_miss{300};

  [[nodiscard]] std::uint64_t cycles_of(const RingShape& shape) const {
    const std::uint64_t touched =
        shape.step_bytes < page ? shape.nodes * shape.step_bytes / page : shape.nodes;
    std::uint64_t cycles = shape.nodes <= lines ? 30 : 200;
    if (touched > 64) cycles += 50;
    if (touched > 1024) cycles += second_miss;
    return cycles;
  }
};

std::vector<Point> timed(std::vector<Point> points, const Made& made) {
  for (Point& each : points) {
    const std::uint64_t cycles = made.cycles_of(shape_of<RingShape>(each));
    for (std::uint64_t visit = 0; visit < 3; ++visit) {
      each.samples.push_back({.accesses = 1000, .ticks = 1000 * cycles, .visit = visit});
    }
  }
  return points;
}

std::vector<Point> measured_points(const Made& made) {
  const DeviceInfo device = gpu_at_1_ghz();
  std::vector<Point> points = timed(probe.plan(device, {}).points, made);
  const std::vector<Point> more = timed(probe.refine(device, {}, points), made);
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

const Finding& finding_at(const Findings& found, std::string_view name, int level) {
  const auto at = std::ranges::find_if(found.findings, [&](const Finding& each) {
    return each.name == name && each.level == level;
  });
  REQUIRE(at != found.findings.end());
  return *at;
}

}  // namespace

TEST_CASE("pages: two levels, their pages, and what a miss costs") {
  const Findings found = analyse(gpu_at_1_ghz(), measured_points({}));
  const Finding& first = finding_at(found, "reach", 1);
  CHECK(*first.value == doctest::Approx(64.0 * 65536).epsilon(0.06));
  CHECK(*first.low == 64.0 * 65536);
  CHECK(*first.high <= 70.0 * 65536);
  const Finding& second = finding_at(found, "reach", 2);
  CHECK(*second.value == doctest::Approx(1024.0 * 65536).epsilon(0.06));
  for (const int level : {1, 2}) {
    const Finding& page = finding_at(found, "page", level);
    CHECK(page.value == 65536.0);
    CHECK(page.low == 16384.0);
    CHECK(page.high == 65536.0);
  }
  CHECK(*finding_at(found, "miss_cost", 1).value == doctest::Approx(50e-9).scale(0).epsilon(0.01));
  // The packed ring of as many lines misses the first buffer as well.
  CHECK(*finding_at(found, "miss_cost", 2).value == doctest::Approx(250e-9).scale(0).epsilon(0.02));
}

TEST_CASE("pages: the card names both levels") {
  ProbeResult result;
  result.findings = analyse(gpu_at_1_ghz(), measured_points({.page = 2U << 20U})).findings;
  // Of 1,024 pages of 2 MiB, the largest ring has too few.
  const Card shown = card(result);
  REQUIRE(shown.lines.size() == 1);
  CHECK(shown.lines[0].topic == "TLB reach");
  CHECK(shown.lines[0].text.ends_with(" MiB in pages of at least 2 MiB (then +50.0 ns)"));
  CHECK(finding_at({result.findings, {}}, "page", 1).reason ==
        "larger pages would need larger rings");
}

TEST_CASE("pages: where the first cache ends as well, translation has an upper bound") {
  const Findings found = analyse(gpu_at_1_ghz(), measured_points({.lines = 64}));
  const Finding& reach = finding_at(found, "reach", 1);
  CHECK_FALSE(reach.value.has_value());
  CHECK(*reach.high == doctest::Approx(64.0 * 65536).epsilon(0.1));
  // A cache of 128 lines is far enough away from 64 pages.
  CHECK(finding_at(analyse(gpu_at_1_ghz(), measured_points({.lines = 128})), "reach", 1).value);
}

TEST_CASE("pages: differences of less than 2 % are no translation") {
  const auto reach_with = [](std::uint64_t more) {
    std::vector<Point> points = probe.plan(gpu_at_1_ghz(), {}).points;
    for (Point& each : points) {
      const auto shape = shape_of<RingShape>(each);
      const std::uint64_t cycles =
          1000 + (each.series == paged_series && shape.nodes > 64 ? more : 0);
      each.samples.push_back({.accesses = 1000, .ticks = 1000 * cycles});
      each.samples.push_back({.accesses = 1000, .ticks = 1000 * cycles, .visit = 1});
    }
    return finding_at(analyse(gpu_at_1_ghz(), points), "reach", 1);
  };
  CHECK_FALSE(reach_with(19).high.has_value());
  CHECK(reach_with(450).high.has_value());
}

TEST_CASE("pages: every paged ring has a packed ring of as many nodes, in the memory of the plan") {
  DeviceInfo device = gpu_at_1_ghz();
  device.max_allocation = mebibytes(64);
  const Plan plan = probe.plan(device, {});
  std::set<std::uint64_t> packed;
  std::set<std::uint64_t> steps;
  for (const Point& each : plan.points) {
    const auto shape = shape_of<RingShape>(each);
    CHECK(shape.ring_bytes() <= mebibytes(64).count);
    if (each.series == packed_series) packed.insert(shape.nodes);
  }
  for (const Point& each : plan.points) {
    const auto shape = shape_of<RingShape>(each);
    if (each.series != paged_series) continue;
    CHECK(packed.contains(shape.nodes));
    steps.insert(shape.step_bytes);
  }
  CHECK(steps.size() == 4);
  device.max_allocation = kibibytes(64);
  CHECK(probe.plan(device, {}).findings.at(0).reason ==
        "the memory is too small for a ring of pages");
}

}  // namespace clprobe::pages
