// SPDX-License-Identifier: Apache-2.0
// What made courses of the clock say.
#include "probes/clock/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::clock {

namespace {

DeviceInfo gpu_of_10() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 10;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.98, 1.98, 1.98, 1.0};
  return device;
}

constexpr double mega = 1e6;
constexpr std::uint64_t slot_ms = 50;

/// Returns a point of a moment at which the clock is `mhz` MHz.
Point moment_of(Load load, std::size_t number, double mhz) {
  Point point;
  point.series = word_in(load_words, load);
  write_shape(Shape{.time_ms = (number + 1) * slot_ms, .slot_ms = slot_ms, .load = load}, point);
  Sample sample;
  sample.event_ns = 10'000'000;
  sample.accesses = static_cast<std::uint64_t>(std::llround(mhz * 1e4));
  sample.host_ns = slot_ms * 1'000'000;
  point.samples.push_back(sample);
  return point;
}

using Course = std::function<double(std::size_t)>;

std::vector<Point> course_of(Load load, std::size_t moments, const Course& mhz) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < moments; ++i) points.push_back(moment_of(load, i, mhz(i)));
  return points;
}

Findings found_in(const std::vector<Point>& points) { return analyse(gpu_of_10(), points); }

double value_of(const Findings& found, std::string_view name, std::string_view series) {
  const Finding* const finding = find_value(found.findings, name, series);
  REQUIRE_MESSAGE(finding != nullptr, name << " of " << series);
  return *finding->value;
}

Findings of_course(std::size_t moments, const Course& mhz) {
  return found_in(course_of(Load::arithmetic, moments, mhz));
}

double throttled(const Course& mhz) {
  return value_of(of_course(30, mhz), "throttled", "arithmetic");
}

double settling(const Course& mhz) {
  return value_of(of_course(30, mhz), "settling_time", "arithmetic");
}

}  // namespace

TEST_CASE("clock: the sustained one is the median of the last third") {
  const Findings found = of_course(
      30, [](std::size_t i) { return i < 20 ? 1980.0 : 1700.0 + static_cast<double>(i); });
  // The last third rises from 1720 to 1729 MHz.
  CHECK(value_of(found, "clock", "arithmetic") == doctest::Approx(1724.5 * mega));
  const Finding& clock = *find_finding(found.findings, "clock");
  CHECK(clock.unit == "hertz");
  CHECK(*clock.low == doctest::Approx(1722.25 * mega));
  CHECK(*clock.high == doctest::Approx(1726.75 * mega));
  // A single wrong moment does not change the median.
  const Findings with_outlier =
      of_course(30, [](std::size_t i) { return i == 25 ? 400.0 : 1980.0; });
  CHECK(value_of(with_outlier, "clock", "arithmetic") == doctest::Approx(1980.0 * mega));
}

TEST_CASE("clock: it has settled once it stays within 1 % of the sustained one") {
  const auto rising = [](std::size_t i) {
    return i < 4 ? 1000.0 + 200.0 * static_cast<double>(i) : 1980.0;
  };
  CHECK(settling(rising) == doctest::Approx(0.2));
  CHECK(settling([](std::size_t) { return 1980.0; }) == 0.0);
  // A clock that is 0.9 % too high counts as settled; a clock that is 1.1 % too high does not.
  CHECK(settling([](std::size_t i) { return i < 8 ? 1980.0 * 1.009 : 1980.0; }) == 0.0);
  CHECK(settling([](std::size_t i) { return i < 8 ? 1980.0 * 1.011 : 1980.0; }) ==
        doctest::Approx(0.4));
  // A single moment with another clock counts as disturbed.
  CHECK(settling([](std::size_t i) { return i == 15 ? 1500.0 : 1980.0; }) == 0.0);
  CHECK(settling([](std::size_t i) { return i == 15 || i == 16 ? 1500.0 : 1980.0; }) ==
        doctest::Approx(0.85));
}

TEST_CASE("clock: when it settled lies between half and twice the share") {
  const auto at = [](double per_cent) {
    const Findings found =
        of_course(30, [&](std::size_t i) { return i < 8 ? 1980.0 + 19.8 * per_cent : 1980.0; });
    const Finding& settling = *find_value(found.findings, "settling_time", "arithmetic");
    return std::vector<double>{*settling.low, *settling.value, *settling.high};
  };
  using Seconds = std::vector<double>;
  CHECK(at(0.4) == Seconds{0.0, 0.0, 0.0});
  CHECK(at(0.6) == Seconds{0.0, 0.0, 0.4});
  CHECK(at(1.9) == Seconds{0.0, 0.4, 0.4});
  CHECK(at(2.1) == Seconds{0.4, 0.4, 0.4});
}

TEST_CASE("clock: what fewer than four moments say has no interval") {
  const auto has_interval = [](std::size_t moments) {
    const Findings found = of_course(moments, [](std::size_t) { return 1980.0; });
    const Finding& clock = *find_value(found.findings, "clock", "arithmetic");
    return clock.low.has_value() && clock.high.has_value();
  };
  // The interval needs four moments in the last third, that is 12 moments.
  CHECK_FALSE(has_interval(1));
  CHECK_FALSE(has_interval(11));
  CHECK(has_interval(12));
}

TEST_CASE("clock: throttled are the moments below 97 % of the best that are not alone") {
  CHECK(throttled([](std::size_t) { return 1980.0; }) == 0.0);
  const auto falls_to = [](double part) {
    return [part](std::size_t i) { return i < 15 ? 1980.0 : 1980.0 * part; };
  };
  CHECK(throttled(falls_to(0.965)) == doctest::Approx(0.5));
  CHECK(throttled(falls_to(0.975)) == 0.0);
  CHECK(throttled([](std::size_t i) { return i % 5 == 2 ? 1500.0 : 1980.0; }) == 0.0);
  CHECK(throttled([](std::size_t i) { return i >= 10 && i < 13 ? 1500.0 : 1980.0; }) ==
        doctest::Approx(0.1));
  // A single moment that is too fast does not count as the best clock.
  CHECK(throttled([](std::size_t i) { return i == 3 ? 2600.0 : 1980.0; }) == 0.0);
  // Fast moments that are not consecutive do not count either, even if they are a fifth of the
  // time.
  CHECK(throttled([](std::size_t i) { return i % 5 == 3 ? 1980.0 * 1.06 : 1980.0; }) == 0.0);
  CHECK(throttled([](std::size_t i) { return i < 9 ? 1980.0 * 1.06 : 1980.0; }) > 0.6);
  // An initial rise of the clock is not throttling.
  CHECK(throttled([](std::size_t i) { return i < 10 ? 500.0 : 1980.0; }) == 0.0);
  // The interval spans the shares of moments below 96 % and below 98 % of the best clock.
  const Findings found = of_course(30, [](std::size_t i) {
    return i < 10 ? 1980.0 : i < 20 ? 1980.0 * 0.965 : 1980.0 * 0.975;
  });
  const Finding& share = *find_finding(found.findings, "throttled");
  CHECK(*share.value == doctest::Approx(1.0 / 3));
  CHECK(*share.low == 0.0);
  CHECK(*share.high == doctest::Approx(2.0 / 3));
}

TEST_CASE("clock: the spread leaves out a twentieth at each end") {
  const Findings found = of_course(41, [](std::size_t i) {
    return i == 0 ? 100.0 : i == 40 ? 5000.0 : 1000.0 + static_cast<double>(i);
  });
  // Without 5 % of the moments at each end, clocks are from 1002 to 1038 MHz, around 1020 MHz.
  CHECK(value_of(found, "spread", "arithmetic") == doctest::Approx(36.0 / 1020.0));
}

TEST_CASE("clock: few moments say the clock alone, as one after idling does") {
  const Findings five = of_course(5, [](std::size_t) { return 1980.0; });
  CHECK(five.findings.size() == 1);
  CHECK(of_course(6, [](std::size_t) { return 1980.0; }).findings.size() == 4);
  const Findings idle = found_in(course_of(Load::idle, 1, [](std::size_t) { return 345.0; }));
  CHECK(idle.findings.size() == 1);
  CHECK(value_of(idle, "clock", "idle") == doctest::Approx(345.0 * mega));
  CHECK(found_in({}).findings.empty());
}

TEST_CASE("clock: what failed or has no time says nothing, and stored points are checked") {
  std::vector<Point> points = course_of(Load::stream, 8, [](std::size_t) { return 1000.0; });
  points[7].failure = "wrong result";
  points[6].samples.clear();
  points[5].samples.front().event_ns = 20'000'000;
  points[5].failure = "clFinish";
  CHECK(value_of(found_in(points), "clock", "stream") == doctest::Approx(1000.0 * mega));
  CHECK(find_finding(found_in(points).findings, "spread") == nullptr);
  CHECK_FALSE(probe.find_problem(points[0]).has_value());
  points[0].facts.set("moved_bytes", std::int64_t{-1});
  REQUIRE(probe.find_problem(points[0]).has_value());
  CHECK(probe.find_problem(points[0])->name == "moved_bytes");
}

TEST_CASE("clock: what the loads reached, and whether memory slows down at an equal clock") {
  std::vector<Point> points = course_of(Load::arithmetic, 9, [](std::size_t) { return 2000.0; });
  for (Point& each : points) {
    each.facts.set("operations", std::int64_t{12'800'000'000});
    each.facts.set("launched_ns", std::int64_t{5'000'000});
  }
  const Findings found = found_in(points);
  CHECK(value_of(found, "operations", "arithmetic") == doctest::Approx(2.56e12));
  // The device has 10 units and 2 cycles per ns.
  CHECK(value_of(found, "unit_operations", "arithmetic") == doctest::Approx(128.0));
  CHECK(find_finding(found.findings, "bandwidth") == nullptr);
  points = course_of(Load::arithmetic, 9,
                     [](std::size_t i) { return 2000.0 + 100.0 * static_cast<double>(i % 3); });
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].facts.set("operations", static_cast<std::int64_t>(1 + (i + 2) % 3) * 6'000'000'000);
    points[i].facts.set("launched_ns", std::int64_t{5'000'000});
  }
  const Findings varying = found_in(points);
  CHECK(value_of(varying, "unit_operations", "arithmetic") ==
        doctest::Approx(value_of(varying, "operations", "arithmetic") /
                        value_of(varying, "clock", "arithmetic") / 10.0));

  points = course_of(Load::stream, 9, [](std::size_t) { return 2000.0; });
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].facts.set("moved_bytes", std::int64_t{i < 3 ? 20'000'000'000 : 18'000'000'000});
    points[i].facts.set("launched_ns", std::int64_t{5'000'000});
  }
  const Findings streamed = found_in(points);
  CHECK(value_of(streamed, "bandwidth", "stream") == doctest::Approx(3.6e12));
  CHECK(value_of(streamed, "bandwidth_drift", "stream") == doctest::Approx(-0.1));
  CHECK(find_finding(streamed.findings, "operations") == nullptr);
  std::vector<Point> both = course_of(Load::both, 30, [](std::size_t) { return 1980.0; });
  for (Point& each : both) {
    each.facts.set("operations", std::int64_t{6'000'000'000});
    each.facts.set("moved_bytes", std::int64_t{9'000'000'000});
    each.facts.set("launched_ns", std::int64_t{5'000'000});
  }
  const Findings halves = found_in(both);
  CHECK(value_of(halves, "operations", "both") == doctest::Approx(1.2e12));
  CHECK(value_of(halves, "bandwidth", "both") == doctest::Approx(1.8e12));
  // With both loads each bandwidth depends on the other load, so `compare` does not judge the
  // bandwidth.
  CHECK(find_finding(halves.findings, "bandwidth")->role == Role::passing);
  CHECK(find_finding(streamed.findings, "bandwidth")->role == Role::fact);
  CHECK(find_finding(halves.findings, "unit_operations") == nullptr);
  CHECK(value_of(streamed, "throttled", "stream") == 0.0);
}

TEST_CASE("clock: power is what a meter reported, or the reason why there is none") {
  std::vector<Point> points = course_of(Load::both, 6, [](std::size_t) { return 1000.0; });
  // The meter updates less often than moments end, so that only two of the moments have a reading.
  points[0].facts.set("power_mw", std::int64_t{90'000});
  points[5].facts.set("power_mw", std::int64_t{600'000});
  const Findings found = found_in(points);
  CHECK(value_of(found, "power", "both") == doctest::Approx(600.0));
  const Finding& power = *find_finding(found.findings, "power");
  CHECK(power.source == Source::reported);
  CHECK(power.unit == "watts");

  points = course_of(Load::both, 6, [](std::size_t) { return 1000.0; });
  points[0].facts.set(no_power_fact, std::string("the system has no RAPL"));
  const Findings without = found_in(points);
  const Finding* const missing = find_finding(without.findings, "power");
  REQUIRE(missing != nullptr);
  CHECK_FALSE(missing->value.has_value());
  CHECK(missing->reason == "the system has no RAPL");
}

TEST_CASE("clock: a meter that stands still says nothing, be it seldom or often") {
  const auto power_of = [](std::size_t standing) {
    std::vector<Point> points = course_of(Load::stream, 30, [](std::size_t) { return 1000.0; });
    // The H200's meter updates every 100 ms but is read every 50 ms.
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool stands = i >= points.size() - standing;
      points[i].facts.set("power_mw", std::int64_t{stands ? 0 : 500'000});
    }
    const Findings found = found_in(points);
    const Finding* const power = find_finding(found.findings, "power");
    REQUIRE(power != nullptr);
    CHECK(power->source == Source::reported);
    CHECK(power->unit == "watts");
    return *power;
  };
  CHECK(power_of(0).value == doctest::Approx(500.0));
  CHECK(power_of(3).value == doctest::Approx(500.0));
  CHECK_FALSE(power_of(4).value.has_value());
  CHECK(power_of(4).reason ==
        "clprobe read the power meter more often than the meter updates, so readings are missing");
}

TEST_CASE("clock: energy is the power above the idle device's divided by the rate") {
  const auto energy_with = [](std::int64_t stream_mw, std::size_t readings) {
    std::vector<Point> points = course_of(Load::idle, 1, [](std::size_t) { return 345.0; });
    points[0].facts.set("power_mw", std::int64_t{100'000});
    std::vector<Point> load = course_of(Load::stream, 30, [](std::size_t) { return 1000.0; });
    for (Point& each : load) {
      each.facts.set("moved_bytes", std::int64_t{20'000'000'000});
      each.facts.set("launched_ns", std::int64_t{5'000'000});
    }
    for (std::size_t i = 0; i < readings; ++i) {
      // The last third, with 1 W between the readings.
      load[20 + i].facts.set("power_mw", stream_mw + 1000 * static_cast<std::int64_t>(i));
    }
    points.insert(points.end(), load.begin(), load.end());
    const Findings found = found_in(points);
    const Finding* const energy = find_finding(found.findings, "energy_per_byte");
    REQUIRE(energy != nullptr);
    CHECK(energy->unit == "joules_per_byte");
    // Watts above idle.
    const double per_watt = 1.0 / value_of(found, "bandwidth", "stream");
    Finding in_watts = *energy;
    for (auto* const each : {&in_watts.value, &in_watts.low, &in_watts.high}) {
      if (*each) **each /= per_watt;
    }
    return in_watts;
  };
  const Finding three = energy_with(500'000, 3);
  CHECK(three.value == doctest::Approx(401.0));
  CHECK(three.low == doctest::Approx(400.0));
  CHECK(three.high == doctest::Approx(402.0));
  const Finding two = energy_with(500'000, 2);
  CHECK(two.value == doctest::Approx(400.5));
  CHECK_FALSE(two.low.has_value());
  CHECK(two.reason.ends_with("repeat with --burn 20s"));
  CHECK_FALSE(energy_with(100'000, 1).value.has_value());
  const auto text_of = [](const Finding& energy) {
    return energy_text({.probe = "clock", .findings = {energy}});
  };
  CHECK(text_of(three).find("about") == std::string::npos);
  CHECK(text_of(two).starts_with("about "));
  CHECK(text_of(two).ends_with(" pJ per byte read (short load; --burn 20s)"));
}

TEST_CASE("clock: the card has the clocks, what was throttled and the power") {
  std::vector<Point> points = course_of(Load::idle, 1, [](std::size_t) { return 345.0; });
  for (Point& each :
       course_of(Load::arithmetic, 30, [](std::size_t i) { return i < 15 ? 1980.0 : 1800.0; })) {
    each.facts.set("power_mw", std::int64_t{700'000});
    points.push_back(std::move(each));
  }
  ProbeResult result{.probe = "clock", .points = points};
  analyse_again(probe, gpu_of_10(), result);
  result.card = probe.card(result);
  REQUIRE(result.card.lines.size() == 1);
  CHECK(result.card.lines[0].topic == "clock");
  CHECK(result.card.lines[0].text == "1800 MHz arithmetic (throttled 50 %), 345 idle; 700 W");
  CHECK(result.card.unseen.empty());
  CHECK(result.view.scale == Scale::linear);
  for (Point& each : result.points) {
    if (each.series == "arithmetic") each.facts.set("power_mw", std::int64_t{0});
    if (each.series == "idle") each.facts.set("power_mw", std::int64_t{119'000});
  }
  analyse_again(probe, gpu_of_10(), result);
  result.card = probe.card(result);
  CHECK(result.card.lines.at(0).text ==
        "1800 MHz arithmetic (throttled 50 %), 345 idle; 119 W idle");
  ProbeResult none{.probe = "clock"};
  none.findings = probe.plan(DeviceInfo{}, {}).findings;
  none.card = probe.card(none);
  CHECK(none.card.lines.empty());
  CHECK(none.card.unseen == std::vector<std::string>{"the clock under load"});
}

}  // namespace clprobe::clock
