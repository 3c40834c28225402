// SPDX-License-Identifier: Apache-2.0
// Which sizes the probe `latency` adds around knees.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE("refining adds sizes around the knees, none twice, all inside the curve") {
  const std::vector<Point> points = measured(big_gpu(), {});
  const std::vector<Point> more = probe.refine(big_gpu(), {}, points);
  REQUIRE_FALSE(more.empty());
  auto sizes = sizes_of(points, "global");
  const std::uint64_t largest = sizes.back();
  bool near_first_knee = false;
  for (const Point& point : more) {
    const std::uint64_t size = number(point, "working_set_bytes");
    CHECK(point.series == "global");
    CHECK(size % number(point, "step_bytes") == 0);
    CHECK(std::find(sizes.begin(), sizes.end(), size) == sizes.end());
    CHECK(size <= largest);
    CHECK(shape_of<RingShape>(point).buffer_bytes >= size);
    CHECK(point.samples.empty());
    CHECK(point.failure.empty());
    near_first_knee =
        near_first_knee || (size > kibibytes(150).count && size < kibibytes(250).count);
    sizes.push_back(size);
  }
  CHECK(near_first_knee);
}

TEST_CASE("refining twice adds nothing that is there") {
  std::vector<Point> points = measured(big_gpu(), {});
  for (int round = 0; round < 3; ++round) {
    for (Point& point : probe.refine(big_gpu(), {}, points)) {
      points.push_back(std::move(point));
    }
    take_samples(points, "global", three_levels());
  }
  const auto sizes = sizes_of(points, "global");
  CHECK(std::set<std::uint64_t>(sizes.begin(), sizes.end()).size() == sizes.size());
}

TEST_CASE("what a plan keeps sparse is not refined") {
  const auto added_from = [](const DeviceInfo& device, Bytes from) {
    std::vector<Point> points = plan_of(device).points;
    take_samples(points, "global", {{16.0, 192.0 * 1024}, {140.0, 300.0 * 1048576}, {450.0, 0.0}});
    const auto sizes = sizes_of(probe.refine(device, {}, points), "global");
    return std::count_if(sizes.begin(), sizes.end(), [&](auto size) { return size >= from.count; });
  };
  DeviceInfo cpu = big_gpu();
  cpu.type = DeviceType::cpu;
  CHECK(added_from(big_gpu(), mebibytes(128)) > 0);
  CHECK(added_from(cpu, mebibytes(128)) == 0);
  CHECK(added_from(cpu, Bytes{}) > 0);
}

TEST_CASE("sizes that were asked for, quick runs and empty curves are not refined") {
  Request request;
  set_sizes(request, {{kibibytes(1), gibibytes(1), 1.2}});
  CHECK(probe.refine(big_gpu(), request, measured(big_gpu(), request)).empty());
  request = {};
  request.effort = Effort::quick;
  CHECK(probe.refine(big_gpu(), request, measured(big_gpu(), request)).empty());
  CHECK(probe.refine(big_gpu(), {}, {}).empty());
  CHECK(probe.refine(big_gpu(), {}, plan_of(big_gpu()).points).empty());
}

}  // namespace
}  // namespace clprobe::latency
