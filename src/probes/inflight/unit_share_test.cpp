// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/inflight.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "probes/inflight/points_test.hpp"

namespace clprobe::inflight {
namespace {

/// A round of a work-group with a load of 128 bytes for each work-item.
Point round_of(std::string_view target, int items, double cycles) {
  Point point = block(1, 1, MergerMode::within, items);
  point.parameters.set("target", std::string(target));
  Sample sample{.accesses = 1000};
  sample.ticks = static_cast<std::uint64_t>(1000.0 * cycles);
  point.samples = {sample, sample};
  return point;
}

/// Streams whose lines take so many picoseconds each, all together.
Point stream_of(std::uint64_t ps) {
  Shape shape = Shape::of(block(1, 1, MergerMode::within, 32));
  shape.buffer_bytes = mebibytes(256).count;
  std::vector<Point> planned = loaded_points(gpu(), shape);
  for (Point& point : planned) {
    if (point.series != loaded_traffic_series) continue;
    Sample sample{.accesses = 1000};
    sample.ticks = 2 * ps;  // 2 a ns
    point.samples = {sample, sample};
    return point;
  }
  FAIL("no streams are planned");
  return {};
}

}  // namespace

TEST_CASE("one unit's share is what its group had of memory beside what all units streamed") {
  // 256 lines in 1024 cycles of 0.5 ns are half a line a ns; the device streams 20.
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
