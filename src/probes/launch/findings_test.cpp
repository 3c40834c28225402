// SPDX-License-Identifier: Apache-2.0
// What made points say.
#include "probes/launch/launch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::launch {

namespace {

DeviceInfo device_with_events() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.timer = Timer::event;
  device.launch_timer = Timer::event;
  return device;
}

const SeriesSpec& spec_of(std::string_view series) {
  for (const SeriesSpec& each : all_series) {
    if (each.name == series) return each;
  }
  REQUIRE_MESSAGE(false, series);
  return all_series.front();
}

/// Returns a point of the series. `each_ns` has one time per launch, in ns, for each sample.
Point point_of(std::string_view series, std::uint64_t launches,
               const std::vector<std::uint64_t>& each_ns) {
  const SeriesSpec& spec = spec_of(series);
  Point point;
  point.series = series;
  write_shape(Shape{.manner = spec.manner,
                    .arguments = spec.arguments,
                    .idle_queues = spec.idle_queues,
                    .launches = launches,
                    .timer = is_on_device(spec.manner) ? Timer::event : Timer::wait},
              point);
  std::uint64_t visit = 0;
  for (const std::uint64_t ns : each_ns) {
    Sample sample;
    sample.accesses = 100;
    sample.host_ns = 100 * ns;
    if (is_on_device(spec.manner)) {
      sample.event_ns = 100 * ns;
      sample.host_ns = 9'999'999;
    }
    sample.visit = visit++;
    point.samples.push_back(sample);
  }
  return point;
}

/// Returns plain launches that take 2 µs each, plus 30 µs per wait.
std::vector<Point> plain_points() {
  std::vector<Point> points;
  for (const std::uint64_t launches : {1U, 4U, 16U, 64U, 256U, 1024U, 4096U}) {
    points.push_back(point_of("queued", launches, {2000 + 30'000 / launches}));
  }
  return points;
}

const Finding* find(const Findings& found, std::string_view name, std::string_view series) {
  return find_finding(found.findings, name, series);
}

const Finding& get(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find(found, name, series);
  REQUIRE_MESSAGE(finding != nullptr, name << " of " << series);
  return *finding;
}

}  // namespace

TEST_CASE("launch: a launch alone, and in a queue without the wait") {
  const Findings found = analyse(device_with_events(), plain_points());
  CHECK(*get(found, "round_trip", "queued").value == doctest::Approx(32e-6).scale(0));
  const Finding& time = get(found, "launch_time", "queued");
  CHECK(*time.value ==
        doctest::Approx(2e-6).scale(0).epsilon(0.005));  // samples are whole nanoseconds
  CHECK(time.method == "slope over the number of launches");
  // The interval allows for the variation between runs on the host.
  CHECK(*time.low == doctest::Approx(0.8 * *time.value));
  CHECK(*time.high == doctest::Approx(1.2 * *time.value));
  CHECK(found.findings.size() == 2);
}

TEST_CASE("launch: launches that cost nothing when there are more have no time, and it is said") {
  const std::vector<Point> points{point_of("queued", 1, {30'000}), point_of("queued", 4, {5000}),
                                  point_of("queued", 16, {500})};
  const Findings found = analyse(device_with_events(), points);
  const Finding& time = get(found, "launch_time", "queued");
  CHECK_FALSE(time.value.has_value());
  CHECK(time.reason == "more launches do not take more time");
}

TEST_CASE("launch: of two numbers of launches there is no slope, and the wait counts") {
  const std::vector<Point> points{point_of("queued", 1, {30'000}), point_of("queued", 100, {2300})};
  const Findings found = analyse(device_with_events(), points);
  const Finding& time = get(found, "launch_time", "queued");
  CHECK(*time.value == doctest::Approx(2.3e-6).scale(0));
  CHECK(time.method == "median, including the wait");
  // A single launch gives only the round trip. Several launches without a single one give no round
  // trip.
  CHECK(analyse(device_with_events(), std::vector{points[0]}).findings.size() == 1);
  const Findings many = analyse(device_with_events(), std::vector{points[1]});
  CHECK(find(many, "round_trip", "queued") == nullptr);
  CHECK(find(many, "launch_time", "queued") != nullptr);
}

TEST_CASE("launch: the slow round trip is that of one in a hundred, with its interval") {
  std::vector<Point> points = plain_points();
  points[0].facts.set(slow_ns, std::int64_t{90'000});
  CHECK_FALSE(get(analyse(device_with_events(), points), "slow_round_trip", "queued").low);
  points[0].facts.set(slow_low_ns, std::int64_t{80'000});
  points[0].facts.set(slow_high_ns, std::int64_t{120'000});
  // A failed point is not used for the round trip.
  points.insert(points.begin(), points[0]);
  points[0].failure = "wrong result";
  points[0].facts.set(slow_ns, std::int64_t{40'000});
  const Findings found = analyse(device_with_events(), points);
  const Finding& slow = get(found, "slow_round_trip", "queued");
  CHECK(*slow.value == doctest::Approx(90e-6).scale(0));
  CHECK(*slow.low == doctest::Approx(80e-6).scale(0));
  CHECK(*slow.high == doctest::Approx(120e-6).scale(0));
}

TEST_CASE(
    "launch: what the host's thread does is known to a tenth in any run, on CPUs to a fifth") {
  std::vector<Point> points = plain_points();
  points[0].facts.set(slow_ns, std::int64_t{90'000});
  points[0].facts.set(slow_low_ns, std::int64_t{89'000});
  points[0].facts.set(slow_high_ns, std::int64_t{120'000});
  const auto low_on = [&](DeviceType type) {
    DeviceInfo device = device_with_events();
    device.type = type;
    return *get(analyse(device, points), "slow_round_trip", "queued").low;
  };
  CHECK(low_on(DeviceType::gpu) == doctest::Approx(81e-6).scale(0));
  CHECK(low_on(DeviceType::cpu) == doctest::Approx(72e-6).scale(0));
}

TEST_CASE("launch: what something more costs is the difference to as many plain ones") {
  std::vector<Point> points = plain_points();
  points[4] = point_of("queued", 256, {2000, 2100, 2200});
  points.push_back(point_of("event", 256, {2400, 2500, 2700}));
  points.push_back(point_of("command-buffer", 256, {1000, 1100, 1200}));
  points.push_back(point_of("wait-list", 64, {9000}));
  const Findings found = analyse(device_with_events(), points);
  const Finding& event = get(found, "extra_cost", "event");
  CHECK(*event.value == doctest::Approx(0.4e-6).scale(0));
  // The error combines the scatter of both samples with 12 % of both times. Below the cost the
  // parts are 100, 100, 252 and 300 ns; above the cost the parts are 200, 100, 252 and 300 ns.
  CHECK(*event.low == doctest::Approx((400.0 - 416.5) * 1e-9).epsilon(0.01));
  CHECK(*event.high == doctest::Approx((400.0 + 451.1) * 1e-9).epsilon(0.01));
  CHECK(*get(found, "extra_cost", "command-buffer").value == doctest::Approx(-1e-6).scale(0));
  // Plain launches were also measured with 64 launches per wait.
  CHECK(*get(found, "extra_cost", "wait-list").value ==
        doctest::Approx(6.532e-6).scale(0).epsilon(0.001));
}

TEST_CASE("launch: where plain launches are off their line, no cost is surer than they are") {
  std::vector<Point> points = plain_points();
  points.push_back(point_of("event", 256, {2600}));
  const Findings straight = analyse(device_with_events(), points);
  CHECK(*get(straight, "extra_cost", "event").low > 0.0);
  // Two plain points are slow, as if the driver was slow during these visits.
  points[3] = point_of("queued", 64, {8000});
  points[5] = point_of("queued", 1024, {7000});
  const Findings bent = analyse(device_with_events(), points);
  const Finding& cost = get(bent, "extra_cost", "event");
  CHECK(*cost.value == doctest::Approx(0.483e-6).scale(0).epsilon(0.01));
  CHECK(*cost.low < 0.0);
  CHECK(*cost.high > 2e-6);
}

TEST_CASE("launch: without as many plain launches a cost cannot be told") {
  const std::vector<Point> points{point_of("queued", 1, {30'000}), point_of("event", 256, {2400})};
  const Findings found = analyse(device_with_events(), points);
  const Finding& cost = get(found, "extra_cost", "event");
  CHECK_FALSE(cost.value.has_value());
  CHECK(cost.reason == "256 launches per wait were not measured in the series queued");
}

TEST_CASE("launch: of builds the least counts") {
  const std::vector<Point> points{
      point_of("build", 1, {80'000'000, 60'000'000, 90'000'000, 85'000'000}),
      point_of("build-again", 1, {8'000'000, 6'000'000, 9'000'000})};
  const Findings found = analyse(device_with_events(), points);
  const Finding& build = get(found, "minimum_build_time", "build");
  CHECK(*build.value == doctest::Approx(0.06));
  CHECK(*build.low == doctest::Approx(0.054));
  CHECK(*build.high == doctest::Approx(0.066));
  CHECK(*get(found, "minimum_build_time", "build-again").value == doctest::Approx(0.006));
  CHECK(*get(found, "minimum_build_time", "build-again").low == doctest::Approx(0.0048));
}

TEST_CASE("launch: the device's own times, idling, group sizes and builds") {
  const std::vector<Point> points{
      point_of("back-to-back", 1, {700}),    point_of("start-to-start", 1, {5700}),
      point_of("after-idling", 1, {90'000}), point_of("new-local-size", 1, {50'000'000}),
      point_of("build", 1, {80'000'000}),    point_of("build-again", 1, {9'000'000})};
  const Findings found = analyse(device_with_events(), points);
  REQUIRE(found.findings.size() == 6);
  CHECK(*get(found, "gap", "back-to-back").value == doctest::Approx(700e-9).scale(0));
  CHECK(*get(found, "period", "start-to-start").value == doctest::Approx(5.7e-6).scale(0));
  const Finding& idle = get(found, "cold_round_trip", "after-idling");
  CHECK(*idle.value == doctest::Approx(90e-6).scale(0));
  // The intervals allow for the variation between runs. The gap between kernels varies less on a
  // GPU, where it depends only on the device.
  CHECK(*get(found, "gap", "back-to-back").low == doctest::Approx(630e-9).scale(0));
  DeviceInfo cpu = device_with_events();
  cpu.type = DeviceType::cpu;
  CHECK(*get(analyse(cpu, points), "gap", "back-to-back").low == doctest::Approx(455e-9).scale(0));
  CHECK(*idle.low == doctest::Approx(45e-6).scale(0));
  CHECK(*idle.high == doctest::Approx(180e-6).scale(0));
  CHECK(*get(found, "first_launch", "new-local-size").value == doctest::Approx(0.05));
  CHECK(*get(found, "minimum_build_time", "build").value == doctest::Approx(0.08));
  CHECK(*get(found, "minimum_build_time", "build-again").value == doctest::Approx(0.009));
}

TEST_CASE("launch: points that failed, lack something or are empty say nothing") {
  std::vector<Point> points = plain_points();
  points[0].failure = "wrong result";
  points[0].facts.set(slow_ns, std::int64_t{90'000});
  points.push_back(point_of("event", 256, {}));
  points.push_back(point_of("build", 1, {80'000'000}));
  points.back().parameters = {};
  const Findings found = analyse(device_with_events(), points);
  CHECK(find(found, "round_trip", "queued") == nullptr);
  CHECK(find(found, "slow_round_trip", "queued") == nullptr);
  CHECK(find(found, "extra_cost", "event") == nullptr);
  CHECK(find(found, "minimum_build_time", "build") == nullptr);
  CHECK(find(found, "launch_time", "queued") != nullptr);
  CHECK(analyse(device_with_events(), {}).findings.empty());
}

TEST_CASE("launch: one number of another tool is a launch time") {
  Point point;
  point.series = "queued";
  write_shape(Shape{.timer = Timer::imported}, point);
  point.facts.set(imported_ns, 8500.0);
  DeviceInfo device;
  device.timer = Timer::imported;
  const Findings found = analyse(device, std::vector{point});
  REQUIRE(found.findings.size() == 1);
  CHECK(*found.findings[0].value == doctest::Approx(8.5e-6).scale(0));
}

TEST_CASE("launch: stored points that cannot be are refused") {
  Point point = point_of("queued", 4, {2000});
  CHECK_FALSE(probe.find_problem(point).has_value());
  point.parameters.set("launches", std::int64_t{0});
  CHECK(probe.find_problem(point)->name == "launches");
  Point extra = point_of("event", 4, {2000});
  extra.parameters.set("launches_together", std::int64_t{-1});
  CHECK(probe.find_problem(extra)->name == "launches_together");
  Point idle = point_of("after-idling", 1, {2000});
  idle.parameters.set("idle_ms", std::int64_t{60'001});
  CHECK(probe.find_problem(idle)->name == "idle_ms");
}

TEST_CASE("launch: the card has the answer on a line, and costs only where they are sure") {
  std::vector<Point> points = plain_points();
  points[0].facts.set(slow_ns, std::int64_t{90'000});
  points[4] = point_of("queued", 256, {2000, 2100, 2200});
  points.push_back(point_of("back-to-back", 1, {700}));
  points.push_back(point_of("event", 256, {2900}));
  points.push_back(point_of("changed-argument", 256, {2150}));
  points.push_back(point_of("command-buffer", 256, {1100}));
  points.push_back(point_of("build", 1, {80'000'000}));
  ProbeResult result{.probe = "launch", .points = points};
  result.findings.push_back({.name = "extra_cost", .series = "out-of-order", .reason = "none"});
  result.findings.back().method = "plan";
  analyse_again(probe, device_with_events(), result);
  result.card = probe.card(result);
  REQUIRE(result.card.lines.size() == 1);
  CHECK(result.card.lines[0].topic == "launch");
  CHECK(result.card.lines[0].text == "32.0 µs to launch and wait, 2.00 µs each when queued");
  REQUIRE(result.card.rows.size() == 4);
  CHECK(result.card.rows[0].text == "32.0 µs, 99th percentile 90.0 µs");
  CHECK(result.card.rows[2].topic == "more");
  CHECK(result.card.rows[2].text == "event +800 ns, command-buffer -1.00 µs");
  CHECK(result.card.rows[3].text == "build 80.0 ms");
  CHECK(result.card.unseen.empty());
}

}  // namespace clprobe::launch
