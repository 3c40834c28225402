// SPDX-License-Identifier: Apache-2.0
// A simulated device says the same at every visit, whoever keeps the host busy: one visit of each
// point is enough, and all of them are made.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "fake_device.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

DeviceInfo simulated_info() {
  DeviceInfo info = fake_info();
  info.type = DeviceType::simulated;
  return info;
}

/// Every second and third launch takes half as long again: an interval that never gets narrow.
Answer noisy() {
  return [launch = 0](const Point&, std::uint64_t iterations) mutable {
    return launch_of(iterations, launch++ % 3 == 0 ? 1.0 : 1.5);
  };
}

std::vector<Point> one_more(const DeviceInfo&, const Request&, std::span<const Point>) {
  return {fake_point("near", 100)};
}

/// Seven points and one that follows them, on a host that takes a minute for each.
ProbeResult measured_slowly(DeviceInfo info, const Budget& budget) {
  FakeBackend backend(noisy(), std::move(info));
  backend.on_prepare([&](const Point&) { backend.wait(std::chrono::minutes(1)); });
  Probe probe = fake_probe();
  probe.refine = one_more;
  return measure(probe, backend, request_of_points(7), budget, {});
}

bool was_cut(const ProbeResult& result) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [](const Warning& each) { return each.code == "time_budget_short"; });
}

TEST_CASE("what a slow host has time for does not decide what is found of a simulated device") {
  const Budget budget{.probe_time = std::chrono::seconds(3)};
  const ProbeResult result = measured_slowly(simulated_info(), budget);
  CHECK(result.points.size() == 8);
  CHECK_FALSE(was_cut(result));
  CHECK(measured_slowly(fake_info(), budget).points.size() == 2);
}

TEST_CASE("a time that was asked for cuts the run of a simulated device as well") {
  const Budget budget{.probe_time = std::chrono::seconds(3), .is_asked_for = true};
  const ProbeResult result = measured_slowly(simulated_info(), budget);
  CHECK(result.points.size() == 2);
  CHECK(was_cut(result));
}

TEST_CASE("a simulated device is visited once, however short that was and whatever it said") {
  FakeBackend backend(noisy(), simulated_info());
  const Budget budget{.min_time = std::chrono::seconds(1), .min_visits = 3};
  const ProbeResult result =
      measure(fake_probe(), backend, request_of_points(7), budget, Observer{});
  CHECK(backend.visited().size() == 7);
  for (const Point& each : result.points) CHECK(each.samples.back().visit == 0);
}

TEST_CASE("urgent points of a simulated device are visited once, and first") {
  FakeBackend backend(noisy(), simulated_info());
  measure(urgent_probe(), backend, request_of_points(4), Budget{}, Observer{});
  CHECK(backend.visited() == std::vector<std::int64_t>{1, 2, 3, 4});
}

}  // namespace
}  // namespace clprobe
