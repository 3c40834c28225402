// SPDX-License-Identifier: Apache-2.0
// Checks the plans of the probe `map`, its rings, sums and orders of blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/map/map.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::map {
namespace {

using Parts = std::array<std::vector<std::uint32_t>, 2>;

DeviceInfo device_of(DeviceType type, std::int64_t units) {
  DeviceInfo device;
  device.type = type;
  device.compute_units = units;
  device.clock.kind = ClockKind::nvidia;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  return device;
}

std::map<std::string, std::size_t> points_by_series(const Plan& plan) {
  std::map<std::string, std::size_t> count;
  for (const Point& each : plan.points) ++count[each.series];
  return count;
}

/// Returns 0, 1, ..., 99 as two parts: multiples of 3, and the others.
Parts uneven_parts() {
  Parts parts;
  for (std::uint32_t block = 0; block < 100; ++block) {
    parts[block % 3 == 0 ? 0 : 1].push_back(block);
  }
  return parts;
}

}  // namespace

TEST_CASE("map visits all compute units of a GPU, both parts and several partners") {
  const Plan plan = probe.plan(device_of(DeviceType::gpu, 132), {});
  const std::map<std::string, std::size_t> expected{
      {"atomic", 264}, {"load", 64}, {"gather", 3}, {"hand-over", 8}};
  CHECK(points_by_series(plan) == expected);
  CHECK(plan.findings.empty());
  std::set<std::uint64_t> units;
  for (const Point& each : plan.points) {
    if (each.series == load_series) units.insert(shape_of<UnitShape>(each).unit);
    if (each.series != hand_over_series) continue;
    const auto shape = shape_of<HandOverShape>(each);
    CHECK(shape.first == 0);
    CHECK(shape.second > 0);
    CHECK(shape.second < 132);
  }
  CHECK(units.size() == 32);
  CHECK(*units.rbegin() < 132);
  CHECK(points_by_series(probe.plan(device_of(DeviceType::gpu, 3), {}))["hand-over"] == 2);
}

TEST_CASE("a map that cannot be measured gives the reason") {
  const auto reason = [](const DeviceInfo& device, std::string_view name,
                         const Request& request = {}) {
    const Plan plan = probe.plan(device, request);
    const Finding* const finding = find_finding(plan.findings, name);
    REQUIRE(finding != nullptr);
    return finding->reason;
  };
  const DeviceInfo cpu = device_of(DeviceType::cpu, 2);
  CHECK(reason(cpu, "gain") == "the work-groups of a CPU have no fixed cores");
  CHECK(points_by_series(probe.plan(cpu, {})) ==
        std::map<std::string, std::size_t>{{"hand-over", 1}});
  CHECK(probe.plan(cpu, {}).memory < mebibytes(1));
  CHECK(reason(device_of(DeviceType::gpu, 1), "hand_over_latency") ==
        "the device has one compute unit");
  CHECK(reason(device_of(DeviceType::simulated, 2), "latency") ==
        "the simulator does not model distances within a cache");
  DeviceInfo without_clock = device_of(DeviceType::gpu, 2);
  without_clock.clock.kind = ClockKind::none;
  CHECK(reason(without_clock, "latency") == "the device has no in-kernel clock");
  Request small;
  small.max_memory = kibibytes(1000);
  CHECK(reason(device_of(DeviceType::gpu, 2), "latency", small) ==
        "the probe's buffers need 1 MiB, more than --max-memory allows");
}

TEST_CASE("map keeps within the allowed memory") {
  for (const Bytes room : {mebibytes(1), mebibytes(5), mebibytes(64)}) {
    Request request;
    request.max_memory = room;
    const Plan plan = probe.plan(device_of(DeviceType::gpu, 132), request);
    CHECK(points_by_series(plan).size() == 4);
    CHECK(plan.memory <= room);
  }
}

TEST_CASE("a long ring visits a node of each block before the next node of a block") {
  const std::vector<std::uint32_t> blocks{2, 5, 7};
  CHECK(node_word(blocks, 0) == 2 * 1024 + 64);
  CHECK(node_word(blocks, 2) == 7 * 1024 + 64);
  CHECK(node_word(blocks, 3) == 2 * 1024 + 128 + 64);
  std::uint32_t sum = 0;
  for (std::uint64_t i = 0; i < 24; ++i) sum += static_cast<std::uint32_t>(node_word(blocks, i));
  CHECK(sum_of_ring(blocks) == sum);
}

TEST_CASE("no chain ends at its first node") {
  for (const bool is_load : {false, true}) {
    for (const std::uint64_t nodes : {8U, 64U, 4096U}) {
      for (std::uint64_t hops = 8; hops < 9000; hops += 8) {
        const std::uint64_t warm = warm_hops(is_load, nodes, hops);
        CHECK((warm + hops) % nodes != 0);
        CHECK(warm >= (is_load ? nodes : 64));
      }
    }
  }
}

TEST_CASE("the sums of blocks are those of map_fill") {
  const std::vector<std::uint32_t> sums = sums_of_blocks(2);
  REQUIRE(sums.size() == 2);
  std::uint32_t second = 0;
  for (std::uint32_t i = 1024; i < 2048; ++i) {
    std::uint32_t word = i % 64 == 0 ? 0 : mixed(i);
    if (i % 128 == 0) word = 1024 + (i - 1024 + 128) % 1024;
    second += word;
  }
  CHECK(sums[1] == second);
}

TEST_CASE("all orders of a gather read the same whole chunks") {
  const Parts parts = uneven_parts();
  const std::vector<std::uint32_t> halves{0, 1, 1, 0};
  const Lists near = order_blocks(Order::near, parts, halves);
  CHECK(near.first_chunks == 4);   // 34 blocks
  CHECK(near.second_chunks == 8);  // 66 blocks
  CHECK(near.list_of_unit == halves);
  CHECK(near.blocks.size() == 96);
  CHECK(std::all_of(near.blocks.begin(), near.blocks.begin() + 32,
                    [](std::uint32_t block) { return block % 3 == 0; }));
  CHECK_FALSE(std::is_sorted(near.blocks.begin(), near.blocks.begin() + 32));
  const Lists far = order_blocks(Order::far, parts, halves);
  CHECK(far.list_of_unit == std::vector<std::uint32_t>{1, 0, 0, 1});
  CHECK(far.blocks == near.blocks);
  Lists any = order_blocks(Order::any, parts, halves);
  CHECK(any.list_of_unit == std::vector<std::uint32_t>(4, 0));
  CHECK(any.first_chunks == 12);
  CHECK(any.second_chunks == 0);
  CHECK(std::any_of(any.blocks.begin(), any.blocks.begin() + 32,
                    [](std::uint32_t block) { return block % 3 != 0; }));
  std::vector<std::uint32_t> sorted = near.blocks;
  std::sort(sorted.begin(), sorted.end());
  std::sort(any.blocks.begin(), any.blocks.end());
  CHECK(any.blocks == sorted);
}

TEST_CASE("a part without a whole chunk has an empty list") {
  Parts parts;
  parts[0] = {1, 2, 3};
  parts[1].resize(16);
  std::iota(parts[1].begin(), parts[1].end(), 4U);
  const std::vector<std::uint32_t> halves{0, 1};
  CHECK(order_blocks(Order::near, parts, halves).first_chunks == 0);
  CHECK(order_blocks(Order::any, parts, halves).blocks.size() == 16);
}

}  // namespace clprobe::map
