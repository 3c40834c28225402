// SPDX-License-Identifier: Apache-2.0
// What a check must not pass over: each way in which a run can lack what the baseline has.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/api/compare.hpp"

namespace clprobe {
namespace {

ComparedCurve curve_of_one_point(std::string_view series) {
  ComparedCurve curve{.series = std::string(series), .unit = "seconds"};
  curve.points.push_back({"working_set_bytes 1024", 1e-9});
  return curve;
}

/// Two series with a level each, and a second probe that is all findings.
RunDigest digest_of_two_probes() {
  RunDigest run{.file = "a.json", .device = "some device"};
  ComparedResult latency{.probe = "latency"};
  for (const std::string_view series : {"global", "local"}) {
    Finding finding{.name = "latency", .series = std::string(series), .level = 1};
    finding.value = 1e-9;
    finding.low = 0.999e-9;
    finding.high = 1.001e-9;
    finding.unit = "seconds";
    finding.better = Better::less;
    latency.findings.push_back({.finding = finding});
    latency.curves.push_back(curve_of_one_point(series));
  }
  ComparedResult clpeak{.probe = "clpeak"};
  clpeak.findings.push_back({.finding = latency.findings.front().finding});
  run.results = {latency, clpeak};
  return run;
}

std::vector<MissingPart> gaps_between(const RunDigest& baseline, const RunDigest& other) {
  const std::vector<RunDigest> runs{baseline, other};
  return find_missing_parts(runs, compare(runs, 0, 0.03));
}

struct Loss {
  std::string_view name;
  std::function<void(RunDigest&)> apply;
  std::string_view probe;
  std::string_view series;
  std::string_view reason;
};

void end_latency(RunDigest& run, Status status, std::string_view reason) {
  run.results[0].status = status;
  run.results[0].reason = reason;
}

const std::array losses{
    Loss{"the device failed", [](RunDigest& run) { run.failure = "signal 11"; }, "", "",
         "the device failed: signal 11"},
    Loss{"interrupted", [](RunDigest& run) { run.interrupted = true; }, "", "", "interrupted"},
    Loss{"a probe is missing", [](RunDigest& run) { run.results.erase(run.results.begin()); },
         "latency", "", "not measured"},
    Loss{"a probe failed",
         [](RunDigest& run) { end_latency(run, Status::failed, "3 of 9 points failed"); },
         "latency", "", "failed: 3 of 9 points failed"},
    Loss{"a probe was interrupted",
         [](RunDigest& run) { end_latency(run, Status::interrupted, ""); }, "latency", "",
         "interrupted"},
    Loss{"a probe is unsupported now",
         [](RunDigest& run) { end_latency(run, Status::unsupported, "no memory"); }, "latency", "",
         "unsupported: no memory"},
    Loss{"a probe sees nothing now",
         [](RunDigest& run) { end_latency(run, Status::unobservable, ""); }, "latency", "",
         "unobservable"},
    Loss{"no points, though findings were left",
         [](RunDigest& run) { run.results[0].curves.clear(); }, "latency", "",
         "no point was measured"},
    Loss{"a series is missing", [](RunDigest& run) { run.results[0].curves.pop_back(); }, "latency",
         "local", "no point was measured"},
    Loss{"a series is refused",
         [](RunDigest& run) {
           run.results[0].curves.pop_back();
           run.results[0].findings[1].finding.value.reset();
           run.results[0].findings[1].finding.reason = "no local memory";
         },
         "latency", "local", "no local memory"},
    Loss{"findings without a value where there never were points",
         [](RunDigest& run) { run.results[1].findings[0].finding.value.reset(); }, "clpeak", "",
         "no point was measured"},
};

}  // namespace

TEST_CASE("a run that has all of the baseline's has no gap, whatever it has besides") {
  const RunDigest baseline = digest_of_two_probes();
  CHECK(gaps_between(baseline, baseline).empty());
  RunDigest more = baseline;
  more.results.push_back({.probe = "stride", .status = Status::failed});
  more.results[0].curves.push_back(curve_of_one_point("image"));
  CHECK(gaps_between(baseline, more).empty());
}

TEST_CASE("a series that another one called for is no gap where it did not") {
  RunDigest baseline = digest_of_two_probes();
  const RunDigest other = baseline;
  baseline.results[0].curves.push_back(curve_of_one_point("across"));
  CHECK(gaps_between(baseline, other).size() == 1);
  baseline.results[0].curves.back().is_follow_up = true;
  CHECK(gaps_between(baseline, other).empty());
}

TEST_CASE("each loss is a gap, with the probe and the reason") {
  const RunDigest baseline = digest_of_two_probes();
  for (const Loss& loss : losses) {
    CAPTURE(loss.name);
    RunDigest other = baseline;
    loss.apply(other);
    const std::vector<MissingPart> gaps = gaps_between(baseline, other);
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].run == 1);
    CHECK(gaps[0].probe == loss.probe);
    CHECK(gaps[0].series == loss.series);
    CHECK(gaps[0].reason.find(loss.reason) != std::string::npos);
  }
}

TEST_CASE("what the baseline did not measure either is no gap, unless it fails now") {
  RunDigest baseline = digest_of_two_probes();
  baseline.results[0] = {.probe = "latency", .status = Status::unsupported, .reason = "no memory"};
  RunDigest other = baseline;
  CHECK(gaps_between(baseline, other).empty());
  other.results.erase(other.results.begin());
  CHECK(gaps_between(baseline, other).empty());
  other = baseline;
  end_latency(other, Status::failed, "");
  CHECK(gaps_between(baseline, other).size() == 1);
}

TEST_CASE("runs with nothing in common have a gap, also where the baseline is empty") {
  RunDigest empty{.file = "a.json", .device = "some device"};
  const std::vector<MissingPart> gaps = gaps_between(empty, digest_of_two_probes());
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].reason.find("in common") != std::string::npos);
  // The rate of the clock is no probe's.
  ComparedResult clock{.probe = std::string(clock_section)};
  clock.findings.push_back(digest_of_two_probes().results[0].findings[0]);
  empty.results.push_back(clock);
  CHECK(gaps_between(empty, empty).size() == 1);
}

TEST_CASE(
    "verdicts about findings that one side alone has do not count as a change that was seen") {
  const RunDigest baseline = digest_of_two_probes();
  RunDigest failed = baseline;
  failed.results[0] = {.probe = "latency", .status = Status::failed, .reason = "all points failed"};
  const std::vector<RunDigest> runs{baseline, failed};
  const Comparison comparison = compare(runs, 0, 0.03);
  CHECK(total_counts(comparison).different == 2);
  CHECK(find_sure_changes(comparison).empty());
}

namespace {

Finding headline_of(std::string_view name, std::optional<int> level, std::string_view unit) {
  Finding finding{.name = std::string(name), .series = "global", .level = level};
  finding.value = 64.0;
  finding.low = 63.9;
  finding.high = 64.1;
  finding.unit = unit;
  finding.role = Role::headline;
  finding.better = usual_direction(unit);
  return finding;
}

/// One probe with headlines of each kind.
RunDigest digest_of_headlines() {
  RunDigest run{.file = "a.json", .device = "some device", .tool = "clprobe 1"};
  ComparedResult result{.probe = "latency", .kernels = {"abc"}};
  for (const int level : {1, 2}) {
    result.findings.push_back({.finding = headline_of("latency", level, "seconds")});
    result.findings.back().finding.value = 64.0 * level;
    result.findings.back().finding.low = 63.9 * level;
    result.findings.back().finding.high = 64.1 * level;
    result.findings.push_back({.finding = headline_of("capacity", level, "bytes")});
  }
  result.findings.push_back({.finding = headline_of("bandwidth", {}, "bytes_per_second")});
  result.findings.push_back({.finding = headline_of("banks", {}, "count")});
  Finding limit{.name = "limit", .series = "global", .label = "port"};
  limit.role = Role::headline;
  result.findings.push_back({.finding = limit});
  ComparedCurve curve{.series = "global", .unit = "seconds"};
  for (int i = 0; i < 10; ++i) {
    const double size = 1024.0 * (i + 1);
    curve.points.push_back({"working_set_bytes " + std::to_string(1024 * (i + 1)), 1e-9, size});
  }
  result.curves.push_back(curve);
  run.results = {result};
  return run;
}

/// The gaps' reasons, in a line each.
std::string reasons_between(const RunDigest& baseline, const RunDigest& other) {
  std::string reasons;
  for (const MissingPart& gap : gaps_between(baseline, other)) reasons += gap.reason + '\n';
  return reasons;
}

}  // namespace

TEST_CASE("a headline of the baseline that has nothing to be compared with is a gap") {
  const RunDigest baseline = digest_of_headlines();
  CHECK(reasons_between(baseline, baseline).empty());
  const std::size_t count = baseline.results[0].findings.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Finding& lost = baseline.results[0].findings[i].finding;
    CAPTURE(lost.name);
    RunDigest other = baseline;
    other.results[0].findings.erase(other.results[0].findings.begin() +
                                    static_cast<std::ptrdiff_t>(i));
    CHECK(reasons_between(baseline, other).find("no counterpart for") == 0);
    other = baseline;
    other.results[0].findings[i].finding.value.reset();
    other.results[0].findings[i].finding.label = "unobservable";
    CHECK(reasons_between(baseline, other).find("no counterpart for") == 0);
    // What the baseline does not have, nobody misses.
    if (lost.name != "latency") CHECK(reasons_between(other, baseline).empty());
  }
}

TEST_CASE("a curve that ends at smaller sizes, or has few of the points, is a gap") {
  const RunDigest baseline = digest_of_headlines();
  RunDigest other = baseline;
  std::vector<ComparedPoint>& points = other.results[0].curves[0].points;
  points.resize(7);  // to 0.7 times the size
  CHECK(reasons_between(baseline, other).empty());
  points.resize(6);
  CHECK(reasons_between(baseline, other) == "the largest size is 0.6 times the baseline's\n");
  // The sizes of two devices differ by design.
  other.device = "another device";
  CHECK(reasons_between(baseline, other).empty());
  points.assign(baseline.results[0].curves[0].points.end() - 4,
                baseline.results[0].curves[0].points.end());
  CHECK(reasons_between(baseline, other) == "only 4 points (baseline: 10)\n");
}

TEST_CASE("a comparison of which most is unclear is no pass") {
  const RunDigest baseline = digest_of_headlines();
  RunDigest other = baseline;
  for (const std::size_t i : {0U, 2U, 4U}) other.results[0].findings[i].margin = 0.5;
  CHECK(reasons_between(baseline, other).empty());
  other.results[0].findings[5].margin = 0.5;
  CHECK(reasons_between(baseline, other) == "4 of 7 headlines are unclear\n");
}

TEST_CASE("times of a clock whose rate nobody knows are a gap, also where all ticks are equal") {
  const RunDigest baseline = digest_of_headlines();
  RunDigest other = baseline;
  other.results[0].findings[0].calibration = 0.2;
  CHECK(reasons_between(baseline, other).empty());
  other.results[0].findings[0].calibration = 0.3;
  CHECK(reasons_between(baseline, other) == "the clock rate is uncertain by more than 25 %\n");
}

TEST_CASE("findings of another method get no verdict, and are a gap that names both tools") {
  const RunDigest baseline = digest_of_headlines();
  RunDigest other = baseline;
  other.tool = "clprobe 2";
  other.results[0].kernels = {"def"};
  for (ComparedFinding& each : other.results[0].findings) {
    if (each.finding.value) each.finding.value = 8.0 * *each.finding.value;
  }
  const std::vector<RunDigest> runs{baseline, other};
  CHECK(total_counts(compare(runs, 0, 0.03)).total() == 0);
  CHECK(reasons_between(baseline, other) ==
        "measured by another version of the method (clprobe 2; baseline: clprobe 1); measure both "
        "runs with the same version of clprobe\n");
  // One of several kernels in common, or none known, is no other method.
  other.results[0].kernels = {"def", "abc"};
  CHECK(is_same_method(baseline.results[0], other.results[0]));
  other.results[0].kernels.clear();
  CHECK(is_same_method(baseline.results[0], other.results[0]));
  // Where both state a version of their method, it decides, and no text of a kernel.
  ComparedResult first{.method = 2, .kernels = {"abc"}};
  ComparedResult second{.method = 2, .kernels = {"def"}};
  CHECK(is_same_method(first, second));
  second = {.method = 3, .kernels = {"abc"}};
  CHECK_FALSE(is_same_method(first, second));
  first.method = 0;
  CHECK(is_same_method(first, second));
}

TEST_CASE("one bad run of a side is a gap of the side") {
  const RunDigest good = digest_of_headlines();
  RunDigest bad = good;
  bad.file = "bad.json";
  bad.results[0].curves[0].points.resize(3);
  const RunDigest baseline = pool(std::vector<RunDigest>{good, good, good});
  CHECK(reasons_between(baseline, baseline).empty());
  CHECK(reasons_between(baseline, pool(std::vector<RunDigest>{good, good, bad})) ==
        "failed: global: the largest size is 0.3 times the baseline's in bad.json\n");
  // Of a baseline as well.
  CHECK(reasons_between(pool(std::vector<RunDigest>{good, bad, good}), good)
            .find("baseline failed: ") == 0);
}

TEST_CASE("what two runs of one model differ in besides is said") {
  RunDigest baseline = digest_of_headlines();
  RunDigest other = baseline;
  CHECK(differing_origins(baseline, other).empty());
  other.driver = "2";
  CHECK(differing_origins(baseline, other).empty());  // nobody knows the other one
  baseline.driver = "1";
  baseline.uuid = "aa";
  other.uuid = "bb";
  baseline.platform = other.platform = "P";
  CHECK(differing_origins(baseline, other) ==
        std::vector<std::string>{"another card of the same model: UUID bb instead of aa",
                                 "driver 2 instead of 1"});
  other.device = "another device";
  CHECK(differing_origins(baseline, other).empty());
}

}  // namespace clprobe
