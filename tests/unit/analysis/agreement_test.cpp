// SPDX-License-Identifier: Apache-2.0
// What probes find of the same memory, and when they are said to differ.
#include "clprobe/agreement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/api/disturbance.hpp"

namespace clprobe {
namespace {

constexpr std::array of_chase{SharedQuantity{Quantity::latency, "global", "time", "chase"},
                              SharedQuantity{Quantity::capacity, "global", "capacity", "chase"}};
constexpr std::array of_streams{
    SharedQuantity{Quantity::bandwidth, "global", "rate", "all"},
    SharedQuantity{Quantity::capacity, "global", "capacity", "all"},
    SharedQuantity{Quantity::implied_bytes_in_flight, "global", "on_the_way", "all"},
    SharedQuantity{Quantity::latency_end, "global", "chase_end", "all"}};
constexpr std::array all{ProbeQuantities{"chases", of_chase},
                         ProbeQuantities{"streams", of_streams}};

/// A step of a curve: its time or rate, and the size at which it ends, in KiB; 0: behind the
/// largest set.
struct Step {
  double value{0.0};
  double end_kibibytes{0.0};
};

Finding finding(std::string_view name, std::string_view series, int level, double value) {
  Finding made;
  made.name = name;
  made.series = series;
  made.level = level;
  made.value = value;
  made.low = 0.98 * value;
  made.high = 1.02 * value;
  return made;
}

ProbeResult result_of(std::string_view probe, std::string_view name, std::string_view series,
                      const std::vector<Step>& levels, double measured_to = 1e9) {
  ProbeResult result;
  result.probe = probe;
  int number = 0;
  for (const Step& each : levels) {
    result.findings.push_back(finding(name, series, ++number, each.value));
    Finding end = finding("capacity", series, number, 1024.0 * each.end_kibibytes);
    if (each.end_kibibytes == 0.0) {
      end.value.reset();
      end.low = measured_to;
      end.high.reset();
    }
    result.findings.push_back(std::move(end));
  }
  return result;
}

// 100 KiB at 10 ns, 10 MiB at 100 ns, memory at 500 ns; 1000, 400 and 50 GB/s.
ProbeResult chases(double near_end = 100.0, double measured_to = 1e9) {
  return result_of("chases", "time", "chase", {{10e-9, near_end}, {100e-9, 10240.0}, {500e-9, 0.0}},
                   measured_to);
}
ProbeResult streams(double near_end = 100.0, double far_end = 10240.0) {
  return result_of("streams", "rate", "all", {{1000e9, near_end}, {400e9, far_end}, {50e9, 0.0}});
}

Run run_of(std::vector<ProbeResult> results) {
  Run run;
  run.results = std::move(results);
  tell_agreement(run, all);
  return run;
}

std::optional<Finding> made(const Run& run, std::string_view name, int level) {
  for (const ProbeResult& result : run.results) {
    for (const Finding& each : result.findings) {
      if (each.name == name && each.level == level) return each;
    }
  }
  return std::nullopt;
}

std::optional<Finding> implied(const Run& run, int level) { return made(run, "on_the_way", level); }

/// Bandwidth with one end at 10 MiB, of sizes from this one on.
ProbeResult far_streams(std::int64_t smallest_kibibytes, double measured_to = 1e9) {
  ProbeResult result =
      result_of("streams", "rate", "all", {{400e9, 10240.0}, {50e9, 0.0}}, measured_to);
  for (const std::int64_t times : {4, 1, 2}) {
    Point point;
    point.series = "all";
    point.parameters.set("working_set_bytes", times * smallest_kibibytes * 1024);
    result.points.push_back(std::move(point));
  }
  return result;
}

ProbeResult chases_to(const std::vector<double>& ends_kibibytes) {
  std::vector<Step> levels;
  double time = 10e-9;
  for (const double end : ends_kibibytes) levels.push_back({time *= 2.0, end});
  levels.push_back({time * 2.0, 0.0});
  return result_of("chases", "time", "chase", levels);
}

}  // namespace

TEST_CASE("bandwidth times latency, level by level, is beside the bandwidth") {
  const Run run = run_of({chases(), streams()});
  CHECK(run.warnings.empty());
  // 10 KB, 40 KB and 25 KB.
  for (const auto& [level, bytes] : {std::pair{1, 1e4}, {2, 4e4}, {3, 2.5e4}}) {
    const int number = level;
    CAPTURE(number);
    const std::optional<Finding> found = implied(run, number);
    REQUIRE(found);
    CHECK(*found->value == doctest::Approx(bytes));
    CHECK(*found->low == doctest::Approx(0.98 * 0.98 * bytes));
    CHECK(*found->high == doctest::Approx(1.02 * 1.02 * bytes));
    CHECK(found->unit == "bytes");
    CHECK(found->role == Role::remark);
  }
  CHECK_FALSE(implied(run_of({streams()}), 1).has_value());
}

TEST_CASE("a level that latency has twice and bandwidth once takes the one in its middle") {
  ProbeResult chase =
      result_of("chases", "time", "chase",
                {{10e-9, 100.0}, {100e-9, 5000.0}, {200e-9, 10240.0}, {500e-9, 0.0}});
  const Run run = run_of({std::move(chase), streams()});
  CHECK(*implied(run, 2)->value == doctest::Approx(4e4));
  CHECK(*implied(run, 3)->value == doctest::Approx(2.5e4));
}

TEST_CASE("the last level of bandwidth takes the latency in the middle of its measured sizes") {
  // Bandwidth ends at 100 KiB; a TLB's reach ends just beyond it, and the sets go on to 1 GB.
  ProbeResult chase =
      result_of("chases", "time", "chase", {{10e-9, 100.0}, {100e-9, 300.0}, {500e-9, 0.0}});
  ProbeResult stream = result_of("streams", "rate", "all", {{1000e9, 100.0}, {50e9, 0.0}});
  CHECK(implied(run_of({chase, stream}), 2)->value == doctest::Approx(2.5e4));
}

TEST_CASE("a bandwidth of which no size is known takes the only latency, and none of several") {
  ProbeResult one = result_of("streams", "rate", "all", {{400e9, 0.0}});
  CHECK_FALSE(implied(run_of({chases(), one}), 1).has_value());
  const ProbeResult flat = result_of("chases", "time", "chase", {{10e-9, 0.0}});
  CHECK(*implied(run_of({flat, one}), 1)->value == doctest::Approx(4e3));
}

TEST_CASE("another tool's levels without ends belong together by their numbers") {
  ProbeResult rates =
      result_of("streams", "rate", "all", {{900e9, 0.0}, {400e9, 0.0}, {50e9, 0.0}});
  rates.findings.erase(rates.findings.begin(), rates.findings.begin() + 2);  // no level 1
  Run run;
  run.imported = ImportInfo{"mt4g", "mt4g-json", "file"};
  run.results = {chases(), rates};
  tell_agreement(run, all);
  CHECK(*implied(run, 2)->value == doctest::Approx(4e4));
  CHECK(*implied(run, 3)->value == doctest::Approx(2.5e4));
  // Own probes number the levels that each of them finds.
  CHECK_FALSE(implied(run_of({chases(), rates}), 3).has_value());
}

TEST_CASE("said again it is said once") {
  Run run = run_of({chases(), streams(300.0)});
  const Run before = run;
  tell_agreement(run, all);
  CHECK(run == before);
  Run ends = run_of({chases_to({100.0, 10240.0}), far_streams(16)});
  const Run ends_before = ends;
  tell_agreement(ends, all);
  CHECK(ends == ends_before);
  // What is no longer so is taken back.
  run.results.erase(run.results.begin());
  tell_agreement(run, all);
  CHECK(run.warnings.empty());
  CHECK_FALSE(implied(run, 1).has_value());
}

TEST_CASE("an end of bandwidth that is none of latency is warned of, with the nearest") {
  const Run run = run_of({chases(), streams(300.0)});
  REQUIRE(run.warnings.size() == 1);
  const Warning& warning = run.warnings[0];
  CHECK(warning.code == end_warning);
  CHECK(warning.source == WarningSource::analysis);
  CHECK(warning.facts.text("probe") == "streams");
  CHECK(warning.facts.text("other_probe") == "chases");
  CHECK(warning.facts.integer("nearest_bytes") == doctest::Approx(102400).epsilon(0.001));
  CHECK(warning.facts.integer("ends_at_bytes") == doctest::Approx(307200).epsilon(0.001));
  // A quarter apart is near, with what both brackets hold.
  CHECK(run_of({chases(), streams(127.0)}).warnings.empty());
  CHECK(run_of({chases(), streams(133.0)}).warnings.size() == 1);
  CHECK(run_of({chases(), streams(79.0)}).warnings.empty());
  CHECK(run_of({chases(), streams(75.0)}).warnings.size() == 1);
}

TEST_CASE("what latency has beyond the ends of bandwidth is hidden by many loads, and no warning") {
  ProbeResult stream = result_of("streams", "rate", "all", {{400e9, 10240.0}, {50e9, 0.0}});
  CHECK(run_of({chases(), std::move(stream)}).warnings.empty());
}

TEST_CASE("an end that latency alone has stands beside the bandwidth that goes on there") {
  const Run run = run_of({chases_to({100.0, 10240.0}), far_streams(16)});
  const std::optional<Finding> end = made(run, "chase_end", 1);
  REQUIRE(end);
  CHECK(*end->value == 102400.0);
  CHECK(*end->low == doctest::Approx(0.98 * 102400.0));
  CHECK(*end->high == doctest::Approx(1.02 * 102400.0));
  CHECK(end->unit == "bytes");
  CHECK(end->role == Role::remark);
  CHECK_FALSE(made(run, "chase_end", 2));
  // Of two within a level the last one; one behind its end belongs to the next level.
  const Run more = run_of({chases_to({100.0, 1000.0, 10240.0, 40000.0}), far_streams(16)});
  CHECK(*made(more, "chase_end", 1)->value == 1024000.0);
  CHECK(*made(more, "chase_end", 2)->value == 40960000.0);
  // Both brackets and a quarter aside.
  CHECK_FALSE(made(run_of({chases_to({8000.0}), far_streams(16)}), "chase_end", 1));
  CHECK(made(run_of({chases_to({7700.0}), far_streams(16)}), "chase_end", 1));
  // Where no bandwidth was measured nothing goes on.
  CHECK_FALSE(made(run_of({chases_to({100.0}), far_streams(100)}), "chase_end", 1));
  CHECK(made(run_of({chases_to({100.0}), far_streams(97)}), "chase_end", 1));
  CHECK_FALSE(made(run_of({chases_to({40000.0}), far_streams(16, 41e6)}), "chase_end", 2));
  CHECK(made(run_of({chases_to({40000.0}), far_streams(16, 42e6)}), "chase_end", 2));
  CHECK_FALSE(made(run_of({chases_to({100.0}), streams(100.0)}), "chase_end", 1));
}

TEST_CASE("of sizes that latency was not measured at nothing is said") {
  const double measured_to = 20.0 * 1024.0 * 1024.0;
  CHECK(run_of({chases(100.0, measured_to), streams(100.0, 40000.0)}).warnings.empty());
  CHECK(run_of({chases(), streams(100.0, 40000.0)}).warnings.size() == 1);
}

TEST_CASE("latency with no end at all is a warning of its own") {
  ProbeResult flat = result_of("chases", "time", "chase", {{10e-9, 0.0}});
  const Run run = run_of({std::move(flat), streams()});
  REQUIRE(run.warnings.size() == 2);
  for (const Warning& each : run.warnings) CHECK(each.code == lone_end_warning);
}

TEST_CASE("a disturbed run has no such warnings, and what is implied") {
  for (const std::string_view code : {reference_warning, others_warning}) {
    Run run;
    run.results = {chases(), streams(300.0)};
    run.results[1].points = far_streams(16).points;
    run.warnings.push_back({std::string(code), {}, WarningSource::analysis});
    tell_agreement(run, all);
    CHECK(run.warnings.size() == 1);
    CHECK(implied(run, 1).has_value());
    CHECK_FALSE(made(run, "chase_end", 1).has_value());
  }
}

}  // namespace clprobe
