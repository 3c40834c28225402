// SPDX-License-Identifier: Apache-2.0
// The rules of docs/compare.md that no report shows at once: two clocks, the margins of a digest,
// and why two runs may differ though the device does not. Expected numbers are worked out by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "compare/api/compare.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;

/// A finding with an interval of 0.1 % to each side.
ComparedFinding finding_of(double value, std::string_view unit,
                           std::optional<CoreClock> clock = std::nullopt) {
  Finding finding{.name = "latency", .series = "global", .level = 1};
  finding.unit = unit;
  finding.value = value;
  finding.low = 0.999 * value;
  finding.high = 1.001 * value;
  finding.better = usual_direction(unit);
  return {.finding = finding, .clock = clock};
}

CoreClock clock_of(double hertz, double aside = 0.001) {
  return {hertz, hertz * (1.0 - aside), hertz * (1.0 + aside)};
}

Judgement of_one_device(const ComparedFinding& baseline, const ComparedFinding& other) {
  return judge_same_device(baseline, other, threshold);
}

}  // namespace

TEST_CASE("of clocks at two rates a change counts that is one in cycles and in seconds") {
  const ComparedFinding baseline = finding_of(100.0, "cycles", clock_of(1.0e9));
  // 110 cycles at 0.9 GHz are 122 ns after 100.
  CHECK(of_one_device(baseline, finding_of(110.0, "cycles", clock_of(0.9e9))).verdict ==
        Verdict::worse);
  // At 1.5 GHz they are 73 ns: worse by the one, better by the other.
  const Judgement both = of_one_device(baseline, finding_of(110.0, "cycles", clock_of(1.5e9)));
  CHECK(both.verdict == Verdict::unclear);
  CHECK(both.reason.find("; but in seconds: ") != std::string::npos);
  // At 1.1 GHz they are 100 ns: memory does not follow the core's clock.
  const Judgement same = of_one_device(baseline, finding_of(110.0, "cycles", clock_of(1.1e9)));
  CHECK(same.verdict == Verdict::same);
  CHECK(same.reason.starts_with(
      "judged in seconds, because the time does not follow the core clock"));
  // Rates that the calibrations cannot tell apart are one rate: cycles alone count.
  CHECK(of_one_device(finding_of(100.0, "cycles", clock_of(1.0e9, 0.06)),
                      finding_of(110.0, "cycles", clock_of(1.1e9, 0.06)))
            .verdict == Verdict::worse);
}

TEST_CASE("in seconds the calibrations' errors count, in cycles they do not") {
  // 100 cycles at 1 GHz and 126 at 1.2 are 100 and 105 ns, each 5 % uncertain.
  const ComparedFinding baseline = finding_of(100.0, "cycles", clock_of(1.0e9, 0.05));
  const ComparedFinding other = finding_of(126.0, "cycles", clock_of(1.2e9, 0.05));
  CHECK(of_one_device(baseline, other).verdict == Verdict::same);
  CHECK(of_one_device(finding_of(100.0, "cycles", clock_of(1.0e9)),
                      finding_of(126.0, "cycles", clock_of(1.2e9)))
            .verdict == Verdict::worse);
  // 10 % apart in ticks of one clock, whatever it is worth in seconds.
  ComparedFinding early = finding_of(100e-9, "seconds", clock_of(1.0e9, 0.2));
  ComparedFinding late = finding_of(110e-9, "seconds", clock_of(1.0e9, 0.2));
  early.calibration = late.calibration = 0.2;
  const Judgement judged = of_one_device(early, late);
  CHECK(judged.verdict == Verdict::worse);
  CHECK(judged.reason.starts_with("judged in cycles: "));
  CHECK(judged.ratio == doctest::Approx(1.1));
  CHECK(judge(early, late, threshold).verdict == Verdict::unclear);
  // Without the rates nothing can be converted.
  early.clock.reset();
  CHECK(of_one_device(early, late).verdict == Verdict::unclear);
}

TEST_CASE("bandwidths of one device are compared in bytes per cycle") {
  const Judgement judged = of_one_device(finding_of(1e12, "bytes_per_second", clock_of(1.0e9)),
                                         finding_of(1.1e12, "bytes_per_second", clock_of(1.1e9)));
  CHECK(judged.verdict == Verdict::same);  // 1000 bytes per cycle each
  CHECK(judged.is_in_cycles);
}

TEST_CASE("ratio, interval and resolution of a judgement have the unit that is judged") {
  const auto check = [](const Judgement& judged, double ratio) {
    CHECK(judged.ratio == doctest::Approx(ratio));
    REQUIRE(judged.interval);
    CHECK(judged.interval->low < *judged.ratio);
    CHECK(judged.interval->high > *judged.ratio);
    REQUIRE(judged.resolution);
    const double far = std::max(judged.interval->high, 1.0 / judged.interval->low);
    CHECK(*judged.resolution == doctest::Approx(far - 1.0));
  };
  // 100 ns at 1 GHz and 91 ns at 1.1 GHz are 100 cycles.
  const ComparedFinding baseline = finding_of(100e-9, "seconds", clock_of(1.0e9));
  check(of_one_device(baseline, finding_of(100e-9 / 1.1, "seconds", clock_of(1.1e9))), 1.0);
  // Memory: 100 ns at both rates, without an interval of its own.
  ComparedFinding exact = baseline;
  exact.finding.low = exact.finding.high = exact.finding.value;
  ComparedFinding other = exact;
  other.clock = clock_of(1.1e9);
  check(of_one_device(exact, other), 1.0);
}

TEST_CASE("brackets differ where more than a step of the grid is between them") {
  const auto size_of = [](double value, double low, double high) {
    ComparedFinding compared = finding_of(value, "bytes");
    compared.finding.low = low;
    compared.finding.high = high;
    compared.step = std::log(1.05);
    return compared;
  };
  const ComparedFinding baseline = size_of(100.0, 90.0, 150.0);
  const auto judged = [&](double value, double low, double high) {
    return judge(baseline, size_of(value, low, high), threshold);
  };
  CHECK(judged(104.0, 90.0, 150.0).verdict == Verdict::same);
  CHECK(judged(104.0, 90.0, 150.0).resolution == doctest::Approx(0.05));
  CHECK(judged(109.9, 90.0, 160.0).verdict == Verdict::same);
  CHECK(judged(109.9, 90.0, 160.0).resolution == doctest::Approx(0.099));
  CHECK(judged(110.1, 90.0, 160.0).verdict == Verdict::unclear);
  CHECK(judged(160.0, 140.0, 200.0).verdict == Verdict::unclear);
  CHECK(judged(160.0, 157.4, 200.0).verdict == Verdict::unclear);
  CHECK(judged(160.0, 157.6, 200.0).verdict == Verdict::different);
  // One step is as unlikely as the end of a 95 % interval; two steps are twice as far in sigmas:
  // 2 * (1 - Phi(3.92)) = 8.86e-5 (scipy 1.9: 2 * norm.sf(2 * 1.959963985)).
  CHECK(judged(160.0, 157.5, 200.0).p_value == doctest::Approx(0.05));
  CHECK(judged(170.0, 165.375, 200.0).p_value == doctest::Approx(8.857e-5).scale(0).epsilon(0.001));
  // Exact sizes are numbers: a line has 64 or 128 bytes.
  const auto exact = [&](double value) { return size_of(value, value, value); };
  CHECK(judge(exact(128.0), exact(64.0), threshold).verdict == Verdict::different);
  CHECK(judge(size_of(128.0, 64.0, 128.0), size_of(64.0, 32.0, 64.0), threshold).verdict ==
        Verdict::unclear);
  // Of sizes whose grid nobody knows a step is 25 %.
  ComparedFinding bare = baseline;
  bare.step = 0.0;
  ComparedFinding other = size_of(170.0, 165.0, 200.0);
  other.step = 0.0;
  CHECK(judge(bare, other, threshold).verdict == Verdict::unclear);
}

TEST_CASE("what is a part of another finding is judged as a share of it, also where it is 0") {
  const auto part = [](double value, double error, double whole) {
    ComparedFinding compared = finding_of(value, "seconds");
    compared.finding.low = value - error;
    compared.finding.high = value + error;
    compared.whole = whole;
    return compared;
  };
  const auto judged = [&](double value, double error) {
    return judge(part(0.0, 3e-8, 1e-6), part(value, error, 1e-6), threshold);
  };
  // Of 1 us 3 % and 4 % make 5 %: 24 % away is the end of what can be missed, beyond 8 % is a
  // change.
  CHECK(judged(1.9e-7, 4e-8).verdict == Verdict::worse);
  CHECK(judged(0.79e-7, 4e-8).verdict == Verdict::same);
  CHECK(judged(0.81e-7, 4e-8).verdict == Verdict::worse);
  CHECK(judged(-0.81e-7, 4e-8).verdict == Verdict::better);
  CHECK(judged(0.5e-7, 4e-8).resolution == doctest::Approx(0.10));
  CHECK(judged(0.1e-7, 2.3e-7).verdict == Verdict::same);
  CHECK(judged(0.1e-7, 2.5e-7).verdict == Verdict::unclear);
  // The whole is the mean of both: swapped, the same.
  const ComparedFinding small = part(1e-7, 1e-9, 1e-6);
  const ComparedFinding large = part(2e-7, 1e-9, 4e-6);
  CHECK(judge(small, large, threshold).verdict == Verdict::worse);  // 5 % of 2 us
  CHECK(judge(large, small, threshold).verdict == Verdict::better);
  CHECK(judge(small, large, 0.06).verdict == Verdict::same);
  // What disturbed all of it counts as far as this part of it goes.
  ComparedFinding disturbed = part(2e-7, 0.0, 1e-6);
  disturbed.disturbance = 0.5;
  CHECK(judge(part(2e-7, 0.0, 1e-6), disturbed, threshold).verdict == Verdict::same);
  disturbed.finding.value = 2.1e-7;
  CHECK(judge(part(2e-7, 0.0, 1e-6), disturbed, threshold).resolution ==
        doctest::Approx(0.01 + 0.5 * 0.21).epsilon(0.01));
  // Without a whole there is a ratio or nothing.
  CHECK(judge(part(0.0, 3e-8, 0.0), part(0.0, 4e-8, 1e-6), threshold).verdict == Verdict::unclear);
}

TEST_CASE("two zeros are the same, and a zero beside a value has no ratio") {
  ComparedFinding none;
  none.finding.value = 0.0;
  none.finding.unit = "seconds";
  ComparedFinding also_none = none;
  also_none.finding.high = 0.1;
  CHECK(judge(none, also_none, threshold).verdict == Verdict::same);
  also_none.finding.value = 0.05;
  CHECK(judge(none, also_none, threshold).verdict == Verdict::unclear);
}

TEST_CASE("of what passes with a run only several runs a side tell a change") {
  constexpr std::size_t many = 1000;
  const auto passing = [](double value, std::size_t degrees) {
    ComparedFinding compared = finding_of(value, "seconds");
    compared.finding.role = Role::passing;
    compared.degrees = degrees;
    return compared;
  };
  const auto judged = [&](double value, std::size_t before, std::size_t after) {
    return of_one_device(passing(1e-6, before), passing(value, after));
  };
  CHECK(judged(2e-6, many, many).verdict == Verdict::worse);
  CHECK(judged(2e-6, normal_degrees, many).verdict == Verdict::unclear);
  CHECK(judged(2e-6, many, normal_degrees).verdict == Verdict::unclear);
  const Judgement of_one = judged(2e-6, normal_degrees, normal_degrees);
  CHECK(of_one.verdict == Verdict::unclear);
  CHECK(of_one.reason.ends_with("compare several baseline runs with several new runs"));
  CHECK(judged(1.01e-6, normal_degrees, normal_degrees).verdict == Verdict::same);
  // Two devices may well differ.
  CHECK(judge(passing(1e-6, normal_degrees), passing(2e-6, normal_degrees), threshold).verdict ==
        Verdict::worse);
}

TEST_CASE("on the CPU of a virtual machine one run a side tells no change that others can make") {
  const auto judged = [](double value, bool is_virtual, bool is_other_virtual,
                         std::size_t degrees = normal_degrees) {
    ComparedFinding before = finding_of(1e-6, "seconds");
    ComparedFinding after = finding_of(value, "seconds");
    before.is_of_virtual_cpu = is_virtual;
    after.is_of_virtual_cpu = is_other_virtual;
    before.degrees = after.degrees = degrees;
    return of_one_device(before, after);
  };
  CHECK(judged(9.9e-6, true, true).verdict == Verdict::unclear);
  CHECK(judged(9.9e-6, true, true)
            .reason.ends_with("compare several baseline runs with several new runs"));
  CHECK(judged(9.9e-6, true, true).left_open == Verdict::worse);
  CHECK(judged(0.101e-6, true, true).verdict == Verdict::unclear);
  CHECK(judged(0.101e-6, true, true).left_open == Verdict::better);
  CHECK_FALSE(judged(10.1e-6, true, true).left_open.has_value());
  CHECK(judged(10.1e-6, true, true).verdict == Verdict::worse);
  CHECK(judged(0.099e-6, true, true).verdict == Verdict::better);
  CHECK(judged(2.9e-6, true, true, 1000).verdict == Verdict::worse);
  CHECK(judged(2.9e-6, false, true).verdict == Verdict::unclear);
  CHECK(judged(2.9e-6, true, false).verdict == Verdict::unclear);
  CHECK(judged(2.9e-6, true, false, 1000).verdict == Verdict::worse);
  CHECK(judged(2.9e-6, false, false).verdict == Verdict::worse);
  CHECK(judged(1.01e-6, true, true).verdict == Verdict::same);
}

TEST_CASE("of lower bounds no change is told, and not how far what they bound may be") {
  const auto bound = [](double value) {
    ComparedFinding compared = finding_of(value, "count");
    compared.finding.role = Role::lower_bound;
    compared.finding.low = value;
    compared.finding.high = 2.0 * value;
    return compared;
  };
  const auto judged = [&](double value) { return judge(bound(100.0), bound(value), threshold); };
  CHECK(judged(104.0).verdict == Verdict::same);
  CHECK(judged(104.0).resolution == doctest::Approx(0.25));
  CHECK(judged(104.0).is_coarse);
  CHECK(judged(124.0).verdict == Verdict::same);
  CHECK(judged(126.0).verdict == Verdict::unclear);
  CHECK(judged(300.0).verdict == Verdict::unclear);
  CHECK(judged(300.0).reason.ends_with("; both values are lower bounds"));
}

TEST_CASE("what may be one of two things is not different from either") {
  const auto judged = [](std::string_view baseline, std::string_view other) {
    const auto step = [](std::string_view label) {
      ComparedFinding compared{.finding = {.name = "step", .series = "global", .level = 2}};
      compared.finding.label = label;
      return compared;
    };
    return judge(step(baseline), step(other), threshold).verdict;
  };
  CHECK(judged("cache", "cache") == Verdict::same);
  CHECK(judged("cache", "translation") == Verdict::different);
  CHECK(judged("cache", "cache-or-far") == Verdict::unclear);
  CHECK(judged("cache-or-far", "cache") == Verdict::unclear);
  CHECK(judged("cache-or-far", "far") == Verdict::unclear);
  CHECK(judged("cache-or-far", "translation") == Verdict::different);
  CHECK(judged("cache-or-far", "cache-or-far") == Verdict::same);
}

TEST_CASE("one interval is enough for a large difference") {
  ComparedFinding bare = finding_of(110.0, "cycles");
  bare.finding.low.reset();
  bare.finding.high.reset();
  const ComparedFinding known = finding_of(100.0, "cycles");
  CHECK(judge(known, bare, threshold).reason.find("(no interval in this run)") !=
        std::string::npos);
  CHECK(judge(known, bare, threshold).verdict == Verdict::same);
  CHECK(judge(bare, known, threshold).reason.find("(no interval in the baseline)") !=
        std::string::npos);
  CHECK(judge(bare, known, threshold).verdict == Verdict::same);
  bare.finding.value = 126.0;
  CHECK(judge(known, bare, threshold).verdict == Verdict::worse);
}

namespace {

/// A device whose core's clock ticks once a nanosecond, known to 10 % to each side.
Run run_with(std::vector<Point> points, std::vector<Finding> findings, Unit unit = Unit::seconds) {
  Run run;
  run.device.name = "Made";
  run.device.timer = Timer::clock;
  run.device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 0.9, 1.1, 1.0};
  ProbeResult result;
  result.probe = "made";
  result.unit = unit;
  result.points = std::move(points);
  result.findings = std::move(findings);
  run.results.push_back(std::move(result));
  return run;
}

/// Launches of 1000 accesses that took `ns` each, timed whole by events, or by the clock alone.
Point point_of(std::int64_t size, const std::vector<std::uint64_t>& ns, bool is_whole) {
  Point point{.series = "all", .parameters = {{"size", size}}};
  if (is_whole) point.parameters.set("timer", std::string("event"));
  for (const std::uint64_t each : ns) {
    Sample sample{.accesses = 1000};
    (is_whole ? sample.event_ns : sample.ticks) = each;
    point.samples.push_back(sample);
  }
  return point;
}

Finding found(double value, std::string_view unit) {
  Finding finding{.name = "found", .series = "all"};
  finding.unit = unit;
  finding.value = value;
  finding.low = 0.999 * value;
  finding.high = 1.001 * value;
  finding.better = usual_direction(unit);
  return finding;
}

/// The digest of the run's one probe; that of its clock stands before it.
ComparedResult digest_of(const Run& run) { return digest(run, "a.json").results.at(1); }

}  // namespace

TEST_CASE("a bandwidth's margin is the spread of the launches that were as fast") {
  // The median is 1000 ns and the upper quartile 1200: 20 %. A byte takes 1 ns, 1 GB/s.
  const Point fast = point_of(1, {1000, 1000, 1000, 1200, 1200}, true);
  // Three times as slow, and spread by 50 %.
  const Point slow = point_of(2, {3000, 3000, 3000, 4500, 4500}, true);
  const Run run = run_with({fast, slow}, {found(1e9, "bytes_per_second"), found(1e-9, "seconds")},
                           Unit::bytes_per_second);
  const ComparedResult compared = digest_of(run);
  REQUIRE(compared.findings.size() == 2);
  CHECK(compared.findings[0].margin == doctest::Approx(0.2));
  CHECK(compared.findings[1].margin == doctest::Approx(0.2));
  REQUIRE(compared.curves.size() == 1);
  CHECK(compared.curves[0].unit == "bytes_per_second");
  CHECK(compared.curves[0].points.at(0).value == doctest::Approx(1e9));
  CHECK(compared.curves[0].points.at(1).value == doctest::Approx(1e9 / 3.0));
}

TEST_CASE("a share's margin is the spread of all points of its series") {
  // Quartiles of {20 %, 50 %}: three quarters of the way from the one to the other.
  const Run run = run_with({point_of(1, {1000, 1000, 1000, 1200, 1200}, true),
                            point_of(2, {3000, 3000, 3000, 4500, 4500}, true)},
                           {found(0.3, "share")});
  CHECK(digest_of(run).findings.at(0).margin == doctest::Approx(0.425));
}

TEST_CASE("what an interval holds already is no margin of it") {
  std::vector<Finding> findings{found(1e-9, "seconds"), found(0.3, "share")};
  for (Finding& each : findings) each.holds_scatter = true;
  const Point point = point_of(1, {1000, 1000, 1000, 1200, 1200}, true);
  for (const ComparedFinding& each : digest_of(run_with({point}, findings)).findings) {
    CHECK(each.margin == 0.0);
  }
}

TEST_CASE("half of the calibration's width counts, where the clock timed it") {
  const std::vector<Finding> findings{found(1e-9, "seconds"), found(1.0, "cycles"),
                                      found(1024.0, "bytes")};
  const ComparedResult clocked = digest_of(run_with({point_of(1, {1000, 1000}, false)}, findings));
  CHECK(clocked.findings[0].calibration == doctest::Approx(0.1));
  CHECK(clocked.findings[1].calibration == 0.0);
  CHECK(clocked.findings[2].calibration == 0.0);
  REQUIRE(clocked.findings[0].clock.has_value());
  CHECK(clocked.findings[0].clock->hertz == doctest::Approx(1e9));
  CHECK(clocked.findings[1].clock.has_value());
  CHECK_FALSE(clocked.findings[2].clock.has_value());
  // Whole launches that events timed are no matter of the core's clock; cycles always are.
  const ComparedResult whole = digest_of(run_with({point_of(1, {1000, 1000}, true)}, findings));
  CHECK(whole.findings[0].calibration == 0.0);
  CHECK_FALSE(whole.findings[0].clock.has_value());
  CHECK(whole.findings[1].clock.has_value());
}

TEST_CASE("the step of a grid is the largest around a size, or the middle one in another unit") {
  const auto step_along = [](const char* name) {
    std::vector<Point> points;
    for (const std::int64_t size : {1000, 2000, 2100, 2200, 8000}) {
      points.push_back(point_of(size, {1000, 1000}, false));
      points.back().parameters = {{name, size}};
    }
    Finding capacity = found(2100.0, "bytes");
    capacity.low = 2050.0;
    capacity.high = 2150.0;
    return digest_of(run_with(points, {capacity})).findings.at(0).step;
  };
  CHECK(step_along("working_set_bytes") == doctest::Approx(std::log(1.05)));
  // Of log(2), log(1.05), log(1.0476) and log(3.64).
  CHECK(step_along("stride_elements") == doctest::Approx((std::log(2.0) + std::log(1.05)) / 2.0));
}

TEST_CASE("what a launch turned out to take does not say which point it is") {
  std::vector<Point> points{point_of(1, {1000, 1000}, false), point_of(2, {2000, 2000}, false)};
  std::int64_t cycles = 100;
  for (Point& point : points) {
    point.facts.set("gsi_no_stall_cycles", cycles);
    point.facts.set("cycles", cycles + 1);
    point.facts.set("buffer_bytes", cycles + 2);
    point.parameters.set("step", std::int64_t{64});
    cycles += 100;
  }
  const ComparedResult compared = digest_of(run_with(points, {}));
  REQUIRE(compared.curves.size() == 1);
  CHECK(compared.curves[0].varying == std::vector<std::string>{"size"});
  CHECK(compared.curves[0].settings.integer_or("step", 0) == 64);
  CHECK(compared.curves[0].settings.find("cycles") == nullptr);
  CHECK(compared.curves[0].points.at(1).key == "size 2");
}

TEST_CASE("samples from before a failure are no point of a curve") {
  Point failed = point_of(2, {2000, 2000}, false);
  failed.failure = "lost";
  const ComparedResult compared =
      digest_of(run_with({point_of(1, {1000, 1000}, false), failed}, {}));
  REQUIRE(compared.curves.size() == 1);
  CHECK(compared.curves[0].points.size() == 1);
}

namespace {

ComparedCurve curve_of(std::string_view series, std::string_view timer, int first, int last) {
  ComparedCurve curve;
  curve.series = series;
  if (!timer.empty()) curve.settings.set("timer", std::string(timer));
  for (int i = first; i <= last; ++i) curve.points.push_back({fmt::format("size {}", i), 1.0});
  return curve;
}

ComparedResult result_of(std::vector<ComparedCurve> curves) {
  ComparedResult result;
  result.curves = std::move(curves);
  return result;
}

}  // namespace

TEST_CASE("launches that events time and launches that the host times are not compared") {
  const ComparedResult by_events = result_of({curve_of("read", "event", 10, 19)});
  const ComparedResult by_host = result_of({curve_of("read", "host", 10, 19)});
  CHECK(doubt_of_timers(by_events, by_host, "read") == "; but timed by host (baseline: event)");
  CHECK(doubt_of_timers(by_events, by_host, "read int") == "; but timed by host (baseline: event)");
  CHECK(doubt_of_timers(by_events, by_host, "reads").empty());
  CHECK(doubt_of_timers(by_events, by_events, "read").empty());
  // Points that do not say what timed them are believed.
  const ComparedResult silent = result_of({curve_of("read", "", 10, 19)});
  CHECK(doubt_of_timers(by_events, silent, "read").empty());
}

TEST_CASE("clocks that were calibrated against different things are not compared") {
  Finding by_events{.name = "rate", .series = "core"};
  by_events.method = "calibration against event";
  Finding by_host = by_events;
  by_host.method = "calibration against host";
  CHECK(doubt_of_clock(by_events, by_events).empty());
  CHECK(doubt_of_clock(by_events, by_host) ==
        "; but measured by calibration against host (baseline: calibration against event)");
  Run run = run_with({}, {});
  run.device.launch_timer = Timer::event;
  Run other = run;
  other.device.launch_timer = Timer::host;
  other.device.clock.ticks_per_ns = 0.7;
  other.device.clock.ticks_per_ns_low = 0.69;
  other.device.clock.ticks_per_ns_high = 0.71;
  run.device.clock.ticks_per_ns_low = 0.99;
  run.device.clock.ticks_per_ns_high = 1.01;
  const auto verdicts = [&] {
    return compare(std::array{digest(run, "a.json"), digest(other, "b.json")}, 0, threshold)
        .counts.at(1);
  };
  CHECK(verdicts().unclear == 1);
  other.device.launch_timer = Timer::event;
  CHECK(verdicts().worse == 1);
}

namespace {

RunDigest run_of(std::vector<ComparedFinding> findings, Status status = Status::ok) {
  ComparedResult result;
  result.probe = "made";
  result.status = status;
  result.findings = std::move(findings);
  return {.file = "a.json", .device = "Made", .results = {std::move(result)}};
}

ComparedFinding level_of(int level, double value) {
  ComparedFinding compared = finding_of(value, "seconds");
  compared.finding.level = level;
  return compared;
}

}  // namespace

TEST_CASE("a probe that had failed before and fails now is no change") {
  RunDigest failed = run_of({}, Status::failed);
  failed.results[0].reason = "lost";
  const auto different = [&](const RunDigest& baseline) {
    return compare(std::array{baseline, failed}, 0, threshold).counts.at(1).different;
  };
  CHECK(different(run_of({level_of(1, 10.0)})) == 1);
  CHECK(different(run_of({level_of(1, 10.0)}, Status::failed)) == 0);
}

TEST_CASE("of two levels that are as near the first one is the baseline's") {
  const Comparison made = compare(
      std::array{run_of({level_of(1, 100.0)}), run_of({level_of(1, 100.0), level_of(2, 100.0)})}, 0,
      threshold);
  CHECK(made.counts[1].same == 1);
  REQUIRE(made.unmatched.size() == 1);
  CHECK(made.unmatched[0].level == 2);
}

TEST_CASE("a curve is told by its median ratio, its 5 and 95 % quantiles, and its furthest point") {
  ComparedCurve before = curve_of("load", "", 10, 30);
  ComparedCurve after = before;
  // Ratios from 1.00 to 1.20 in steps of 0.01, but for one that is half.
  for (std::size_t i = 0; i < after.points.size(); ++i) {
    after.points[i].value = 1.0 + 0.01 * static_cast<double>(i);
  }
  after.points[20].value = 0.5;
  RunDigest baseline = run_of({});
  RunDigest other = baseline;
  baseline.results[0].curves = {before};
  other.results[0].curves = {after};
  const Comparison made = compare(std::array{baseline, other}, 0, threshold);
  REQUIRE(made.curves.size() == 1);
  // 0.5, 1.00, 1.01 ... 1.19: the 11th is 1.09, the second 1.00, the second last 1.18.
  CHECK(made.curves[0].matched == 21);
  CHECK(made.curves[0].median_ratio == doctest::Approx(1.09));
  CHECK(made.curves[0].low_ratio == doctest::Approx(1.00));
  CHECK(made.curves[0].high_ratio == doctest::Approx(1.18));
  CHECK(made.curves[0].furthest == "size 30");
  CHECK(made.curves[0].furthest_ratio == doctest::Approx(0.5));
}

TEST_CASE("the summary of a curve of swapped runs is the inverse") {
  for (const int last : {33, 34}) {  // 4 and 5 points
    CAPTURE(last);
    ComparedCurve before = curve_of("load", "", 30, last);
    ComparedCurve after = before;
    for (std::size_t i = 0; i < after.points.size(); ++i) {
      after.points[i].value = std::pow(2.3, static_cast<double>(i) + 1.0);
    }
    RunDigest baseline = run_of({});
    RunDigest other = baseline;
    baseline.results[0].curves = {before};
    other.results[0].curves = {after};
    const Comparison made = compare(std::array{baseline, other}, 0, threshold);
    const Comparison swapped = compare(std::array{other, baseline}, 0, threshold);
    REQUIRE(made.curves.size() == 1);
    REQUIRE(swapped.curves.size() == 1);
    const CurveSummary& one = made.curves[0];
    const CurveSummary& inverse = swapped.curves[0];
    CHECK(one.median_ratio * inverse.median_ratio == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(one.low_ratio * inverse.high_ratio == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(one.high_ratio * inverse.low_ratio == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(one.furthest_ratio * inverse.furthest_ratio == doctest::Approx(1.0).epsilon(1e-9));
  }
}

}  // namespace clprobe
