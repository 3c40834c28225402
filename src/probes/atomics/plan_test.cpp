// SPDX-License-Identifier: Apache-2.0
// Checks the plans for several devices, how their points are built and launched, and the checksums.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/atomics/atomics.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::atomics {
namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.cache_line = Bytes{128};
  device.launch_timer = Timer::event;
  device.timer = Timer::clock;
  device.reported.set("extensions", std::string("cl_khr_fp64 cl_khr_int64_base_atomics"));
  return device;
}

DeviceInfo processor() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.compute_units = 4;
  device.cache_line = Bytes{64};
  device.max_work_group_size = 4096;
  return device;
}

std::map<std::string, std::vector<Shape>> planned(const DeviceInfo& device,
                                                  const Request& request = {}) {
  return shapes_by_series<Shape>(probe.plan(device, request));
}

std::set<std::uint64_t> addresses(const std::vector<Shape>& shapes) {
  std::set<std::uint64_t> all;
  for (const Shape& each : shapes) all.insert(each.addresses);
  return all;
}

}  // namespace

TEST_CASE("atomics: a GPU has 32 blocks, and rates by powers of two of addresses") {
  const auto all = planned(gpu());
  CHECK(all.size() == all_series.size());
  CHECK(all.at("latency").size() == 32);
  CHECK(all.at("local-latency").size() == 1);
  // 132 compute units with 2048 work-items each: 2^18 is the largest power of two.
  CHECK(addresses(all.at("add")).size() == 19);
  CHECK(*addresses(all.at("add")).rbegin() == 262144);
  CHECK(addresses(all.at("add-lines")) == addresses(all.at("add")));
  CHECK(addresses(all.at("add-unused")) ==
        std::set<std::uint64_t>{1, 4, 16, 32, 64, 256, 1024, 4096, 16384, 65536, 262144});
  CHECK(addresses(all.at("cmpxchg")) == std::set<std::uint64_t>{1, 32, 262144});
  CHECK(addresses(all.at("long-add")) == std::set<std::uint64_t>{1, 262144});
  CHECK(addresses(all.at("local-add")) == std::set<std::uint64_t>{1, 256});
  const auto quick = planned(gpu(), with_effort(Effort::quick));
  CHECK(addresses(quick.at("add")) == addresses(all.at("add-unused")));
}

TEST_CASE("atomics: a CPU has few work-items, and one in local memory") {
  const auto all = planned(processor());
  CHECK(all.at("latency").size() == 4);
  CHECK(addresses(all.at("add")) == std::set<std::uint64_t>{1, 2, 4, 8, 16, 32});
  CHECK(addresses(all.at("max")) == std::set<std::uint64_t>{1, 16, 32});
  REQUIRE(all.at("local-add").size() == 1);
  CHECK(all.at("local-add").front().work_items == 1);
}

TEST_CASE("atomics: a time limit drops points of curves first") {
  const Plan plan = probe.plan(gpu(), {});
  CHECK(plan.is_ordered);
  const auto last = std::find_if(plan.points.rbegin(), plan.points.rend(), [](const Point& each) {
    return each.series == "local-add-unused";
  });
  // 32 blocks, local memory (1 + 2 + 2), four curves, two operations, and words of 64 bits.
  CHECK(plan.points.rend() - last == 32 + 5 + 4 * 3 + 2 * 3 + 2);
}

TEST_CASE("atomics: unsupported series say why") {
  DeviceInfo device = gpu();
  device.reported.set("extensions", std::string("cl_khr_int64_base_atomics_not"));
  const Plan plan = probe.plan(device, {});
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].series == "long-add");
  CHECK(plan.findings[0].reason == "the device does not support cl_khr_int64_base_atomics");
  device.type = DeviceType::simulated;
  const Plan simulated = probe.plan(device, {});
  CHECK(simulated.points.empty());
  CHECK(simulated.memory.count == 0);
  CHECK(simulated.findings.size() == all_series.size());
  CHECK(find_finding(simulated.findings, "latency", "local-latency") != nullptr);
}

TEST_CASE("atomics: buffers keep to the allowed memory") {
  CHECK(probe.plan(gpu(), {}).memory == mebibytes(40) + Bytes{(1 + 1024) * 8});
  Request request;
  request.max_memory = kibibytes(512);
  CHECK(probe.plan(gpu(), request).memory <= request.max_memory);
  request.max_memory = kibibytes(511);
  CHECK(probe.plan(gpu(), request).points.empty());
  CHECK(probe.plan(gpu(), request).findings.size() == all_series.size());
  request.max_memory = mebibytes(16);
  const Plan plan = probe.plan(gpu(), request);
  CHECK(plan.memory <= request.max_memory);
  const auto all = shapes_by_series<Shape>(plan);
  CHECK(*addresses(all.at("add-lines")).rbegin() == 65536);
  for (const Shape& each : all.at("latency")) CHECK(each.buffer_bytes == 2U << 20U);
}

TEST_CASE("atomics: blocks are aligned, lie in the buffer and do not overlap") {
  for (const std::uint64_t span : {std::uint64_t{1} << 17U, std::uint64_t{8} << 20U}) {
    std::uint64_t end = 0;
    std::set<std::uint64_t> positions;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const std::uint64_t offset = block_offset(block, span);
      CHECK(offset % block_bytes == 0);
      CHECK(offset >= end);
      end = offset + block_bytes;
      positions.insert(offset % (span / blocks));
    }
    CHECK(end <= span);
    // The positions must not have a pattern that matches the bits that select a cache's half.
    if (span > blocks * block_bytes) CHECK(positions.size() > 16);
  }
}

TEST_CASE("atomics: build options and launches") {
  const Shape device{.scope = Scope::device, .work_items = 262144};
  CHECK(build_options(series_named("add"), device) ==
        build_options(series_named("latency"), Shape{}));
  CHECK(build_options(series_named("long-add"), device) ==
        "-DOPERATION=OP_ADD -DRESULT=1 -DWIDE=1 -DLOCAL=0");
  const Shape unit{.scope = Scope::unit, .work_items = 256};
  CHECK(build_options(series_named("local-add-unused"), unit) ==
        "-DOPERATION=OP_ADD -DRESULT=0 -DWIDE=0 -DLOCAL=1 -DCELLS=256");
  CHECK(launch_size(gpu(), {}).items == 1);
  CHECK(launch_size(gpu(), device).group == 256);
  CHECK(launch_size(gpu(), unit).group == 256);
  CHECK(launch_size(processor(), {.scope = Scope::device, .work_items = 32}).group == 1);
  CHECK(words_of_line(gpu()) == 32);
  CHECK(words_of_line(processor()) == 16);
  DeviceInfo strange = gpu();
  for (const std::uint64_t bytes : {0U, 4U, 100U, 256U}) {
    strange.cache_line = Bytes{bytes};
    CHECK(words_of_line(strange) == 32);
  }
  CHECK_THROWS_AS(static_cast<void>(series_named("nothing")), std::out_of_range);
}

TEST_CASE("atomics: a chain never ends where it starts, so a kernel must run to pass") {
  for (std::uint64_t iterations = 1; iterations < 100; ++iterations) {
    CHECK(end_of_chain(iterations) != 0);
    CHECK(warm_hops(iterations) >= chain_nodes);
  }
}

TEST_CASE("atomics: checksums are those of operations in any order") {
  const Shape shape{.scope = Scope::device, .addresses = 4, .work_items = 12};
  // 3 work-items add 8 times per iteration to each of 4 words.
  std::uint64_t sum = 0;
  for (std::uint64_t old = 0; old < 48; ++old) sum += 4 * old;
  const std::uint64_t words = std::uint64_t{4} << 32U;
  CHECK(last_value(series_named("add"), shape, 2) == 48);
  CHECK(expected_witness(series_named("add"), shape, 2) == words + sum);
  CHECK(expected_witness(series_named("add-unused"), shape, 2) == words);
  CHECK(last_value(series_named("max"), shape, 2) == 16);
  CHECK(expected_witness(series_named("max"), shape, 2) == words + 4 * 16);
  CHECK(expected_witness(series_named("cmpxchg"), shape, 2) == words + 4 * 16);
  // Words of 32 bits overflow, those of 64 bits do not. The sums of results are modulo 2^32.
  const Shape one{.scope = Scope::device, .work_items = 1U << 20U};
  CHECK(last_value(series_named("add"), one, 1024) == 0);
  CHECK(last_value(series_named("long-add"), one, 1024) == std::uint64_t{1} << 33U);
  CHECK(expected_witness(series_named("add"), one, 1024) == std::uint64_t{1} << 32U);
  // 24 additions: 0 + 1 + ... + 23.
  const Shape odd{.scope = Scope::device, .work_items = 3};
  CHECK(expected_witness(series_named("add"), odd, 1) == (std::uint64_t{1} << 32U) + 276);
}

}  // namespace clprobe::atomics
