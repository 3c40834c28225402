// SPDX-License-Identifier: Apache-2.0
// What is planned for which device, and by which options.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/launch/launch.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::launch {

namespace {

DeviceInfo device_with_all() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.max_work_group_size = 1024;
  device.launch_timer = Timer::event;
  device.reported.set("queue_properties", std::int64_t{3});
  device.reported.set("extensions", std::string("cl_khr_fp64 cl_khr_command_buffer cl_khr_icd"));
  return device;
}

std::vector<std::uint64_t> launches_in(const std::vector<Shape>& shapes) {
  std::vector<std::uint64_t> counts;
  counts.reserve(shapes.size());
  for (const Shape& each : shapes) counts.push_back(each.launches);
  return counts;
}

Request with_launches(std::vector<int> counts, std::vector<std::string> series = {}) {
  Request request;
  request.series = std::move(series);
  request.own.set("launches", std::move(counts));
  return request;
}

/// Returns the reason why the series is not measured.
std::string reason_of(const Plan& plan, std::string_view name, std::string_view series) {
  const Finding* const found = find_finding(plan.findings, name, series);
  return found == nullptr ? "it is" : found->reason;
}

}  // namespace

TEST_CASE("launch: a device that has everything gets all series, the most important first") {
  const Plan plan = probe.plan(device_with_all(), {});
  CHECK(plan.findings.empty());
  CHECK(plan.is_ordered);
  const auto all = shapes_by_series<Shape>(plan);
  CHECK(all.size() == all_series.size());
  CHECK(launches_in(all.at("queued")) == std::vector<std::uint64_t>{1, 16, 256, 4096});
  CHECK(plan.points.front().series == "queued");
  CHECK(plan.points.back().series == "build");
  for (const auto& entry : all) {
    const auto& series = entry.first;
    const auto& shapes = entry.second;
    if (series == "queued") continue;
    CAPTURE(series);
    REQUIRE(shapes.size() == 1);
    CHECK(shapes[0].launches == (is_of_many(shapes[0].manner) ? 256 : 1));
    CHECK(shapes[0].timer == (is_on_device(shapes[0].manner) ? Timer::event : Timer::wait));
    CHECK(shapes[0].idle_ms == (series == "after-idling" ? 100 : 0));
  }
  CHECK(all.at("arguments-64")[0].arguments == 64);
  CHECK(all.at("idle-queues-16")[0].idle_queues == 16);
}

TEST_CASE("launch: the plain launches alone are a curve over their number") {
  for (const Point& each : probe.plan(device_with_all(), {}).points) {
    CAPTURE(each.series);
    const bool is_curve = each.series == "queued";
    CHECK((each.parameters.find("launches") != nullptr) == is_curve);
    const bool is_beside = !is_curve && is_of_many(shape_of<Shape>(each).manner);
    CHECK((each.parameters.find("launches_together") != nullptr) == is_beside);
  }
}

TEST_CASE("launch: what the device does not have is not measured, with the reason") {
  DeviceInfo device = device_with_all();
  device.launch_timer = Timer::host;
  device.max_work_group_size = 1;
  device.reported.set("queue_properties", std::int64_t{2});
  // The device reports only another extension, whose name begins with cl_khr_command_buffer.
  device.reported.set("extensions", std::string("cl_khr_command_buffer_mutable_dispatch"));
  const Plan plan = probe.plan(device, {});
  const auto all = shapes_by_series<Shape>(plan);
  for (const char* const series :
       {"out-of-order", "back-to-back", "start-to-start", "command-buffer", "new-local-size"}) {
    CAPTURE(series);
    CHECK_FALSE(all.contains(series));
  }
  CHECK(plan.findings.size() == 5);
  CHECK(reason_of(plan, "extra_cost", "out-of-order") == "the device has no out-of-order queues");
  CHECK(reason_of(plan, "extra_cost", "command-buffer") ==
        "the device does not support cl_khr_command_buffer");
  CHECK(reason_of(plan, "gap", "back-to-back") == "the driver's event times are unreliable");
  CHECK(reason_of(plan, "period", "start-to-start") == "the driver's event times are unreliable");
  CHECK(reason_of(plan, "first_launch", "new-local-size") ==
        "the device allows only one work-item per work-group");
  CHECK(probe.plan(DeviceInfo{}, {}).findings.size() == 5);  // nothing is reported of this device
}

TEST_CASE("launch: less and more effort") {
  Request quick;
  quick.effort = Effort::quick;
  CHECK(launches_in(shapes_by_series<Shape>(probe.plan(device_with_all(), quick)).at("queued")) ==
        std::vector<std::uint64_t>{1, 4, 16, 64, 256, 1024});
  Request thorough;
  thorough.effort = Effort::thorough;
  CHECK(
      launches_in(shapes_by_series<Shape>(probe.plan(device_with_all(), thorough)).at("queued")) ==
      std::vector<std::uint64_t>{1, 4, 16, 64, 256, 1024, 4096});
  CHECK(shapes_by_series<Shape>(probe.plan(device_with_all(), thorough))
            .at("after-idling")[0]
            .idle_ms == 2000);
  thorough.own.set("idle", std::uint64_t{7});
  CHECK(shapes_by_series<Shape>(probe.plan(device_with_all(), thorough))
            .at("after-idling")[0]
            .idle_ms == 7);
}

TEST_CASE("launch: the numbers that are asked for, and those beside them") {
  const auto all =
      shapes_by_series<Shape>(probe.plan(device_with_all(), with_launches({1, 100, 5000})));
  CHECK(launches_in(all.at("queued")) == std::vector<std::uint64_t>{1, 100, 5000});
  CHECK(all.at("event")[0].launches == 100);  // the largest requested number up to 256
  CHECK(all.at("after-idling")[0].launches == 1);
  const auto exact =
      shapes_by_series<Shape>(probe.plan(device_with_all(), with_launches({256, 257})));
  CHECK(exact.at("event")[0].launches == 256);
  const auto many =
      shapes_by_series<Shape>(probe.plan(device_with_all(), with_launches({1000, 2000})));
  CHECK(many.at("event")[0].launches == 1000);
}

TEST_CASE("launch: what is set beside plain launches is measured with as many of them") {
  Request event;
  event.series = {"event"};
  const auto all = shapes_by_series<Shape>(probe.plan(device_with_all(), event));
  CHECK(all.size() == 2);
  CHECK(launches_in(all.at("queued")) == std::vector<std::uint64_t>{256});
  Request gap;
  gap.series = {"back-to-back", "build"};
  CHECK(shapes_by_series<Shape>(probe.plan(device_with_all(), gap)).size() ==
        2);  // no extra cost, so no plain launches
}

TEST_CASE("launch: every series has a finding that the probe declares") {
  for (const SeriesSpec& series : all_series) {
    CAPTURE(std::string_view(series.name));
    DeviceInfo device;
    const Plan plan = probe.plan(device, {});
    for (const Finding& each : plan.findings) {
      CHECK(std::any_of(probe.findings.begin(), probe.findings.end(),
                        [&](const FindingSpec& spec) { return spec.name == each.name; }));
    }
  }
}

}  // namespace clprobe::launch
