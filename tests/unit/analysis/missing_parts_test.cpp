// SPDX-License-Identifier: Apache-2.0
// What a check must not pass over: each way in which a run can lack what the baseline has.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"

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
         [](RunDigest& run) { run.results[0].curves.clear(); }, "latency", "", "no point of it"},
    Loss{"a series is missing", [](RunDigest& run) { run.results[0].curves.pop_back(); }, "latency",
         "local", "no point of it"},
    Loss{"a series is refused",
         [](RunDigest& run) {
           run.results[0].curves.pop_back();
           run.results[0].findings[1].finding.value.reset();
           run.results[0].findings[1].finding.reason = "no local memory";
         },
         "latency", "local", "no local memory"},
    Loss{"findings without a value where there never were points",
         [](RunDigest& run) { run.results[1].findings[0].finding.value.reset(); }, "clpeak", "",
         "no point of it"},
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

}  // namespace clprobe
