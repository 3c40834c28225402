// SPDX-License-Identifier: Apache-2.0
// A recorded run, measured again, is the run that was recorded.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/estimate.hpp"
#include "fake_device.hpp"

namespace clprobe {
namespace {

Budget ample_budget() {
  Budget budget;
  budget.probe_time = std::chrono::hours(1);
  return budget;
}

/// The time of an access at each point: what a report would show.
Findings times(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const Point& point : points) {
    const auto time = estimate(point, device);
    if (!time) continue;
    Finding finding;
    finding.name = "time";
    finding.series = point.series;
    finding.value = time->ns;
    finding.low = time->ns_interval.low;
    finding.high = time->ns_interval.high;
    found.findings.push_back(finding);
  }
  return found;
}

std::vector<Point> one_more(const DeviceInfo&, const Request&, std::span<const Point>) {
  return {fake_point("near", 100)};
}

Probe probe_to_record() {
  Probe probe = fake_probe();
  probe.refine = one_more;
  probe.analyse = times;
  return probe;
}

DeviceInfo device_with(Timer timer) {
  DeviceInfo device = fake_info();
  device.timer = timer;
  if (timer != Timer::clock) device.clock = {};
  return device;
}

/// No two launches alike, and some points that never settle.
Answer uneven() {
  return [launch = 0](const Point& point, std::uint64_t iterations) mutable {
    const bool is_noisy = point.parameters.integer("working_set_bytes") % 3 == 0;
    ++launch;
    const double wobble = is_noisy ? 0.2 * (launch % 5) : 1e-4 * (launch % 7);
    return launch_of(iterations, 2000.0 * (1.0 + wobble));
  };
}

Run run_of(const DeviceInfo& device, ProbeResult result) {
  Run run;
  run.device = device;
  run.warnings = {{"clock_refused", {{"clock", std::string("khr-device")}}}};
  run.results.push_back(std::move(result));
  return run;
}

Run record(FakeBackend& backend, const Request& request) {
  return run_of(backend.device(), measure(probe_to_record(), backend, request, ample_budget(), {}));
}

ProbeResult replay(const Run& run, const Request& request) {
  const auto backend = recorded_backend(run);
  return measure(probe_to_record(), *backend, request, ample_budget(), {});
}

void check_same(const ProbeResult& replayed, const ProbeResult& recorded) {
  CHECK(replayed.probe == recorded.probe);
  CHECK(replayed.status == recorded.status);
  CHECK(replayed.reason == recorded.reason);
  CHECK(replayed.findings == recorded.findings);
  CHECK(replayed.warnings == recorded.warnings);
  REQUIRE(replayed.points.size() == recorded.points.size());
  for (std::size_t i = 0; i < recorded.points.size(); ++i) {
    CAPTURE(i);
    CHECK(replayed.points[i] == recorded.points[i]);
  }
}

TEST_CASE("measuring a recorded run gives its samples, findings and warnings again") {
  for (const Timer timer : {Timer::clock, Timer::event, Timer::host}) {
    FakeBackend backend(uneven(), device_with(timer));
    const Request request = request_of_points(20);
    const Run run = record(backend, request);
    REQUIRE(run.results[0].points.size() == 21);
    check_same(replay(run, request), run.results[0]);
  }
}

TEST_CASE("the recorded device and its warnings are the backend's") {
  FakeBackend fake(uneven());
  const Run run = record(fake, request_of_points(2));
  const auto backend = recorded_backend(run);
  CHECK(backend->device() == run.device);
  CHECK(backend->warnings() == run.warnings);
}

TEST_CASE("a kernel is told when it is clear which one it was, and no empty one is made up") {
  FakeBackend fake(uneven());
  Request request = request_of_points(3);
  const Run one = record(fake, request);
  CHECK(replay(one, request).kernels == one.results[0].kernels);
  request.series = {"near", "far"};
  const Run two = record(fake, request);
  REQUIRE(two.results[0].kernels.size() == 2);
  CHECK(replay(two, request).kernels.empty());
}

TEST_CASE("a recorded failure fails again with its reason") {
  FakeBackend backend(uneven());
  backend.on_prepare([visits = 0](const Point& point) mutable {
    const auto id = point.parameters.integer("working_set_bytes");
    if (id == 2) throw DeviceError("lost at once");
    if (id == 3 && ++visits == 3) throw DeviceError("lost at the third visit");
  });
  const Request request = request_of_points(5);
  const Run run = record(backend, request);
  REQUIRE(run.results[0].status == Status::failed);
  check_same(replay(run, request), run.results[0]);
}

TEST_CASE("what a device refused is refused again, and is no failure") {
  FakeBackend backend(uneven());
  backend.on_prepare([](const Point& point) {
    const bool is_last = point.parameters.integer("working_set_bytes") == 4;
    if (point.series == "image") throw Unsupported("no image of a buffer");
    if (is_last) throw Unsupported("the driver takes no 4 B of constants");
  });
  Request request = request_of_points(4);
  request.series = {"near", "image"};
  const Run run = record(backend, request);
  REQUIRE(run.results[0].status == Status::ok);
  check_same(replay(run, request), run.results[0]);
}

TEST_CASE("the run decides which points there are, and not today's plan") {
  FakeBackend backend(uneven());
  const Run run = record(backend, request_of_points(3));
  check_same(replay(run, request_of_points(9)), run.results[0]);
}

TEST_CASE("a run without the probe has nothing to measure") {
  FakeBackend backend(uneven());
  Run run = record(backend, request_of_points(3));
  run.results[0].probe = "stride";
  const ProbeResult result = replay(run, request_of_points(3));
  CHECK(result.status == Status::unsupported);
  CHECK(result.points.empty());
}

TEST_CASE("points are told apart by their series and by every planned parameter") {
  FakeBackend backend(uneven());
  Request request = request_of_points(3);
  request.series = {"near", "far"};
  const Run run = record(backend, request);
  const auto recorded = recorded_backend(run);
  Point point = fake_point("far", 2);
  CHECK_NOTHROW(static_cast<void>(recorded->prepare(probe_to_record(), point)));
  point.parameters.set("step_bytes", std::int64_t{64});
  CHECK_THROWS_AS(static_cast<void>(recorded->prepare(probe_to_record(), point)), DeviceError);
}

TEST_CASE("more visits than were recorded begin again with the first") {
  FakeBackend backend(uneven());
  const Request request = request_of_points(2);
  const Run run = record(backend, request);
  const auto recorded = recorded_backend(run);
  Budget longer = ample_budget();
  longer.min_visits = 4;
  const ProbeResult result = measure(probe_to_record(), *recorded, request, longer, {});
  CHECK(result.status == Status::ok);
  const std::vector<Sample>& samples = result.points[0].samples;
  REQUIRE(samples.size() == 8);
  CHECK(samples[4].ticks == samples[0].ticks);
  CHECK(samples[4].visit == 2);
}

}  // namespace
}  // namespace clprobe
