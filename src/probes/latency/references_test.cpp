// SPDX-License-Identifier: Apache-2.0
// Which points tell what disturbs a run.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

std::map<ReferenceKind, std::uint64_t> references_of(const DeviceInfo& device) {
  const Plan plan = plan_of(device);
  std::map<ReferenceKind, std::uint64_t> sizes;
  for (const PlannedReference& each : plan.references) {
    const Point& point = plan.points.at(each.point);
    CHECK(point.series == "global");
    CHECK(sizes.emplace(each.kind, number(point, "working_set_bytes")).second);
    // A reference alone has a buffer of its own size, not a part of a larger store.
    REQUIRE(each.alone);
    const Point& alone = each.alone->point;
    CHECK(alone.parameters == point.parameters);
    CHECK(alone.facts.integer("buffer_bytes") == point.parameters.integer("working_set_bytes"));
    CHECK(each.alone->memory.count > number(point, "working_set_bytes"));
  }
  REQUIRE(sizes.size() == 3);
  return sizes;
}

// Returns true if `size` is at least `least` and less than 1.1 times `least`.
bool is_just_above(std::uint64_t size, Bytes least) {
  return size >= least.count && static_cast<double>(size) < 1.1 * static_cast<double>(least.count);
}

}  // namespace

TEST_CASE("references are the smallest size, one that caches hold, and one that none does") {
  const auto sizes = references_of(big_gpu());
  CHECK(sizes.at(ReferenceKind::core) == kibibytes(1).count);
  // The reference in a cache is near the geometric mean of 1 KiB and 256 MiB, 512 KiB.
  CHECK(sizes.at(ReferenceKind::cache) > kibibytes(400).count);
  CHECK(sizes.at(ReferenceKind::cache) < kibibytes(640).count);
  CHECK(is_just_above(sizes.at(ReferenceKind::memory), mebibytes(256)));
}

TEST_CASE("on CPUs the reference of the caches is at the end of none of them") {
  DeviceInfo cpu = big_gpu();
  cpu.type = DeviceType::cpu;
  for (const Bytes cache : {Bytes{}, mebibytes(32), mebibytes(400)}) {
    cpu.reported.set("cache_bytes", static_cast<std::int64_t>(cache.count));
    const auto sizes = references_of(cpu);
    CHECK(is_just_above(sizes.at(ReferenceKind::cache), kibibytes(181)));
    CHECK(sizes.at(ReferenceKind::memory) >= mebibytes(256).count);
    CHECK(sizes.at(ReferenceKind::memory) >= cache.count * 2);
  }
}

TEST_CASE("a first look has no time for references") {
  Request request;
  request.effort = Effort::quick;
  CHECK(plan_of(big_gpu(), request).references.empty());
}

}  // namespace clprobe::latency
