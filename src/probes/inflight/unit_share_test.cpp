// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/inflight.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "probes/inflight/points_test.hpp"

namespace clprobe::inflight {
namespace {

/// Returns a point with rounds of a work-group. Each work-item loads a line of 128 bytes.
Point round_of(std::string_view target, int items, double cycles) {
  Point point = block(1, 1, MergerMode::within, items);
  point.parameters.set("target", std::string(target));
  Sample sample{.accesses = 1000};
  sample.ticks = static_cast<std::uint64_t>(1000.0 * cycles);
  point.samples = {sample, sample};
  return point;
}

/// Returns a point with streams on all compute units: one line per `ps` picoseconds.
Point stream_of(std::uint64_t ps) {
  Shape shape = Shape::of(block(1, 1, MergerMode::within, 32));
  shape.buffer_bytes = mebibytes(256).count;
  std::vector<Point> planned = loaded_points(gpu(), shape);
  for (Point& point : planned) {
    if (point.series != loaded_traffic_series) continue;
    Sample sample{.accesses = 1000};
    sample.ticks = 2 * ps;  // 2 ticks per ns
    point.samples = {sample, sample};
    return point;
  }
  FAIL("no streams are planned");
  return {};
}

}  // namespace

TEST_CASE("one unit's share is what its group had of memory beside what all units streamed") {
  // The work-group loads 256 lines in 1024 cycles of 0.5 ns, that is 0.5 lines per ns. The fastest
  // streams load 20 lines per ns.
  const std::vector<Point> points{round_of("memory", 32, 1000.0), round_of("memory", 256, 1024.0),
                                  round_of("cache", 256, 256.0), stream_of(100), stream_of(50)};
  const auto share = find_unit_share(gpu(), points);
  REQUIRE(share);
  CHECK(*share->value == doctest::Approx(0.5 / 20.0));
  CHECK(share->unit == "share");
}

TEST_CASE("there is none without streams or without groups that load from memory") {
  CHECK_FALSE(find_unit_share(gpu(), std::vector<Point>{round_of("memory", 256, 1024.0)}));
  CHECK_FALSE(
      find_unit_share(gpu(), std::vector<Point>{round_of("cache", 256, 256.0), stream_of(50)}));
}

}  // namespace clprobe::inflight
