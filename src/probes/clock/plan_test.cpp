// SPDX-License-Identifier: Apache-2.0
// What is planned for which device and how long it takes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/clock/clock.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::clock {

namespace {

DeviceInfo processor() {
  DeviceInfo device;
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.global_memory = gibibytes(8);
  device.max_allocation = gibibytes(2);
  device.clock.kind = ClockKind::cpu;
  device.clock.rate = ClockRate::constant_rate;
  return device;
}

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.clock.kind = ClockKind::nvidia;
  device.clock.rate = ClockRate::core_cycles;
  return device;
}

std::uint64_t whole_ms(const std::vector<Shape>& moments) {
  std::uint64_t sum = 0;
  for (const Shape& each : moments) sum += each.slot_ms;
  return sum;
}

Request burning(std::uint64_t ms) {
  Request request;
  request.own.set("burn", ms);
  return request;
}

std::uint64_t under_load_ms(const Request& request) {
  std::uint64_t sum = 0;
  for (const auto& [series, moments] : shapes_by_series<Shape>(probe.plan(gpu(), request))) {
    if (series != "idle") sum += whole_ms(moments);
  }
  return sum;
}

}  // namespace

TEST_CASE("clock: idle first, then each load from its begin to its end, in order") {
  const Plan plan = probe.plan(gpu(), {});
  CHECK(plan.is_ordered);
  CHECK(plan.findings.empty());
  CHECK(plan.points.front().series == "idle");
  const auto all = shapes_by_series<Shape>(plan);
  CHECK(all.size() == 4);
  CHECK(all.at("idle").size() == 1);
  CHECK(all.at("idle").front().slot_ms == 500);
  for (const char* const load : {"arithmetic", "stream", "both"}) {
    CAPTURE(load);
    const std::vector<Shape>& moments = all.at(load);
    CHECK(moments.size() == 20);
    std::uint64_t end = 0;
    for (const Shape& each : moments) {
      end += each.slot_ms;
      CHECK(each.time_ms == end);
      CHECK(each.timer == Timer::event);
    }
  }
  CHECK(shapes_by_series<Shape>(probe.plan(processor(), {})).at("stream").front().timer ==
        Timer::clock);
}

TEST_CASE("clock: all loads together take three seconds, one when in a hurry, else a minute each") {
  CHECK(under_load_ms({}) == 3000);
  Request request;
  request.effort = Effort::quick;
  CHECK(under_load_ms(request) == doctest::Approx(1000).epsilon(0.02));
  CHECK(shapes_by_series<Shape>(probe.plan(gpu(), request)).at("idle").front().slot_ms == 200);
  request.effort = Effort::thorough;
  CHECK(under_load_ms(request) == 180'000);
  CHECK(shapes_by_series<Shape>(probe.plan(gpu(), request)).at("idle").front().slot_ms == 5000);
  request.series = {"stream"};
  CHECK(under_load_ms(request) == 60'000);
}

TEST_CASE("clock: --burn is shared out among the loads that were asked for") {
  CHECK(under_load_ms(burning(9000)) == 9000);
  Request request = burning(2000);
  request.series = {"idle", "both"};
  const auto all = shapes_by_series<Shape>(probe.plan(gpu(), request));
  CHECK(all.size() == 2);
  CHECK(whole_ms(all.at("both")) == 2000);
  CHECK(all.at("both").front().slot_ms == 50);
  // A short load has shorter moments, so that their number is at least 10.
  const auto few = shapes_by_series<Shape>(probe.plan(gpu(), burning(300)));
  CHECK(few.at("both").size() == 10);
  CHECK(few.at("both").front().slot_ms == 10);
  // The shortest load that the option allows still has all series.
  CHECK(shapes_by_series<Shape>(probe.plan(gpu(), burning(30))).at("arithmetic").size() == 10);
  // A load of hours has at most 2,000 moments.
  const auto many = shapes_by_series<Shape>(probe.plan(gpu(), burning(36'000'000)));
  CHECK(many.at("both").size() == 2000);
  CHECK(many.at("both").back().time_ms == 12'000'000);
  request.series = {"idle"};
  CHECK(shapes_by_series<Shape>(probe.plan(gpu(), request)).size() == 1);
}

TEST_CASE("clock: a device whose clock cannot be told gets no points, and the reason each series") {
  DeviceInfo device = gpu();
  device.clock = {};
  const Plan plan = probe.plan(device, {});
  CHECK(plan.points.empty());
  CHECK(plan.memory.count == 0);
  REQUIRE(plan.findings.size() == 4);
  CHECK(plan.findings.front().name == "clock");
  CHECK(plan.findings.front().series == "idle");
  CHECK(plan.findings.front().reason == "kernels cannot read a clock on this device");
  CHECK(plan.findings.front().source == Source::reported);
}

TEST_CASE("clock: what is read is as large as the device and the request allow") {
  const auto bytes = [](const DeviceInfo& device, const Request& request) {
    return shapes_by_series<Shape>(probe.plan(device, request)).at("stream").front().buffer_bytes;
  };
  CHECK(bytes(gpu(), {}) == mebibytes(512).count);
  CHECK(bytes(processor(), {}) == mebibytes(256).count);
  DeviceInfo large = processor();
  large.reported.set("cache_bytes", std::int64_t{300} << 20U);
  CHECK(bytes(large, {}) == mebibytes(600).count);
  Request request;
  request.max_memory = mebibytes(16);
  CHECK(bytes(gpu(), request) == mebibytes(8).count);
  CHECK(probe.plan(processor(), request).memory <= mebibytes(16));
  DeviceInfo small = gpu();
  small.max_allocation = mebibytes(100);
  CHECK(bytes(small, {}) == mebibytes(100).count);
}

}  // namespace clprobe::clock
