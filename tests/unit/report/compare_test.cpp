// SPDX-License-Identifier: Apache-2.0
// Verdicts, matching, and what the renderers make of them.
#include "compare/api/compare.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/api/estimate.hpp"
#include "example_runs.hpp"
#include "golden.hpp"
#include "hidden_text.hpp"
#include "present/api/report.hpp"
#include "present/comparison.hpp"
#include "run/api/json.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;

ComparedFinding time_of(double value, double low, double high, double margin = 0.0) {
  Finding finding{.name = "latency", .series = "global", .level = 1, .unit = "seconds"};
  finding.value = value;
  finding.low = low;
  finding.high = high;
  finding.better = Better::less;
  return {finding, margin};
}

ComparedFinding capacity_of(double value, double low, double high) {
  ComparedFinding compared = time_of(value, low, high);
  compared.finding.name = "capacity";
  compared.finding.unit = "bytes";
  compared.finding.better = Better::more;
  compared.step = std::log(1.05);
  return compared;
}

ComparedFinding without_value(std::string_view reason, std::string_view label = "") {
  Finding finding{.name = "step", .series = "global", .level = 1, .label = std::string(label)};
  finding.reason = reason;
  return {finding, 0.0};
}

Verdict verdict(const ComparedFinding& a, const ComparedFinding& b) {
  return judge(a, b, threshold).verdict;
}

}  // namespace

TEST_CASE("times differ where the interval of their ratio is beyond the threshold") {
  const ComparedFinding baseline = time_of(100, 99, 101);
  CHECK(verdict(baseline, time_of(102.9, 102.8, 103)) == Verdict::same);  // below the threshold
  CHECK(verdict(baseline, time_of(110, 109, 111)) == Verdict::worse);
  CHECK(verdict(baseline, time_of(90, 89, 91)) == Verdict::better);
  CHECK(verdict(baseline, time_of(105, 103, 106)) == Verdict::same);
  CHECK(verdict(baseline, time_of(150, 90, 200)) == Verdict::unclear);  // may be twice as much
  CHECK(verdict(baseline, time_of(900, 300, 2700)) == Verdict::worse);  // however wide it is
  CHECK(judge(baseline, time_of(110, 109, 111), threshold).ratio == doctest::Approx(1.1));
}

TEST_CASE("the threshold counts from the end of the interval") {
  CHECK(judge(time_of(100, 99, 101), time_of(110, 109, 111), 0.08).verdict == Verdict::worse);
  CHECK(judge(time_of(100, 99, 101), time_of(110, 109, 111), 0.09).verdict == Verdict::same);
  CHECK(judge(time_of(100, 99, 101), time_of(110, 109, 111), 0.12).verdict == Verdict::same);
  CHECK(judge(time_of(100, 100, 100), time_of(100.1, 100.1, 100.1), 0.0).verdict == Verdict::worse);
  // A threshold above 25 % is what may be missed, too.
  CHECK(judge(time_of(100, 70, 130), time_of(100, 80, 120), 0.5).verdict == Verdict::same);
}

TEST_CASE("a margin widens the interval") {
  CHECK(verdict(time_of(100, 99, 101, 0.1), time_of(110, 109, 111)) == Verdict::same);
  CHECK(verdict(time_of(100, 99, 101, 0.07), time_of(110, 109, 111)) == Verdict::same);
  CHECK(verdict(time_of(100, 99, 101, 0.05), time_of(110, 109, 111)) == Verdict::worse);
  CHECK(verdict(time_of(100, 99, 101, 0.2), time_of(110, 109, 111)) == Verdict::unclear);
}

TEST_CASE("swapping two runs swaps better and worse, and nothing else") {
  const std::array findings{time_of(100, 99, 101), time_of(104, 101, 107), time_of(110, 108, 111),
                            time_of(90, 50, 130)};
  for (const ComparedFinding& a : findings) {
    for (const ComparedFinding& b : findings) {
      const Verdict there = verdict(a, b);
      const Verdict back = verdict(b, a);
      if (there == Verdict::better) {
        CHECK(back == Verdict::worse);
      } else if (there == Verdict::worse) {
        CHECK(back == Verdict::better);
      } else {
        CHECK(back == there);
      }
    }
  }
}

TEST_CASE(
    "capacities are brackets: only those apart by more than a step differ, larger is better") {
  const ComparedFinding baseline = capacity_of(100, 90, 150);
  CHECK(verdict(baseline, capacity_of(104, 95, 120)) == Verdict::same);
  CHECK(verdict(baseline, capacity_of(109, 95, 120)) == Verdict::same);
  CHECK(verdict(baseline, capacity_of(111, 95, 120)) == Verdict::unclear);
  CHECK(verdict(baseline, capacity_of(158, 157, 200)) == Verdict::unclear);
  CHECK(verdict(baseline, capacity_of(159, 158, 200)) == Verdict::better);
  CHECK(verdict(baseline, capacity_of(200, 180, 260)) == Verdict::better);
  CHECK(verdict(baseline, capacity_of(50, 40, 60)) == Verdict::worse);
  CHECK(verdict(baseline, capacity_of(155, 152, 200)) == Verdict::unclear);
}

TEST_CASE("lower bounds that are far apart may both be true") {
  const auto bound_of = [](double value) {
    ComparedFinding compared = time_of(value, value, 1.01 * value);
    compared.finding.name = "requests_at_least";
    compared.finding.unit = "count";
    compared.finding.better = Better::unknown;
    compared.finding.role = Role::lower_bound;
    return compared;
  };
  CHECK(verdict(bound_of(300), bound_of(301)) == Verdict::same);
  CHECK(verdict(bound_of(300), bound_of(400)) == Verdict::unclear);
  CHECK(verdict(bound_of(400), bound_of(300)) == Verdict::unclear);
}

TEST_CASE("shares are parts of one whole: what counts is how much of it they differ by") {
  const auto share_of = [](double value, double aside) {
    ComparedFinding compared = time_of(value, value - aside, value + aside);
    compared.finding.unit = "share";
    compared.finding.better = Better::unknown;
    return compared;
  };
  CHECK(verdict(share_of(0.01, 0.001), share_of(0.02, 0.001)) == Verdict::same);
  CHECK(verdict(share_of(0.01, 0.001), share_of(-0.01, 0.001)) == Verdict::same);
  CHECK(verdict(share_of(0.0, 0.001), share_of(0.1, 0.001)) == Verdict::different);
  CHECK(verdict(share_of(-0.05, 0.001), share_of(0.05, 0.001)) == Verdict::different);
  CHECK(verdict(share_of(0.5, 0.01), share_of(0.54, 0.01)) == Verdict::same);  // 2.6 % to 5.4 %
  CHECK(verdict(share_of(0.5, 0.01), share_of(0.55, 0.01)) == Verdict::different);
  CHECK(verdict(share_of(0.5, 0.06), share_of(0.55, 0.01)) == Verdict::same);
  CHECK(verdict(share_of(0.5, 0.24), share_of(0.5001, 0.01)) == Verdict::same);
  CHECK(verdict(share_of(0.5, 0.26), share_of(0.5001, 0.01)) == Verdict::unclear);  // too wide
  ComparedFinding noisy = share_of(0.5, 0.01);
  noisy.margin = 0.05;
  CHECK(verdict(noisy, share_of(0.6, 0.01)) == Verdict::different);
  CHECK(verdict(noisy, share_of(0.55, 0.01)) == Verdict::same);
  CHECK_FALSE(judge(share_of(0.0, 0.001), share_of(0.1, 0.001), threshold).ratio.has_value());
  ComparedFinding bare = share_of(0.5, 0.0);
  bare.finding.low.reset();
  CHECK(verdict(bare, share_of(0.6, 0.01)) == Verdict::same);
  CHECK(verdict(bare, share_of(0.8, 0.01)) == Verdict::different);
}

TEST_CASE("of shares, JSON and CSV say which of them they are") {
  Run run = example_gpu_run();
  Finding share{.name = "stall", .series = "uts", .value = 0.25, .low = 0.24, .high = 0.26};
  share.unit = "share";
  share.label = "memory data: L2";
  share.method = "gsi";
  run.results[0].findings = {share};
  const std::array runs{digest(run, "a.json"), digest(run, "b.json")};
  const Comparison made = compare(runs, 0, threshold);
  const auto finding = json::parse(comparison_to_json(made, runs)).at("findings").at(1);
  CHECK(finding.at("part") == "memory data: L2");
  CHECK(finding.at("view") == "gsi");
  const std::string csv = render_comparison_csv(made, runs);
  CHECK(csv.find(",reason,part,view,interval_low,") != std::string::npos);
  CHECK(csv.find(",equal,memory data: L2,gsi,,,,1,,share\n") != std::string::npos);
  CHECK(csv.find(",equal,,,,,,1,,hertz\n") != std::string::npos);
}

TEST_CASE("what is better is known for some units only, else the finding says it") {
  CHECK(usual_direction("seconds") == Better::less);
  CHECK(usual_direction("cycles") == Better::less);
  CHECK(usual_direction("bytes_per_second") == Better::more);
  CHECK(usual_direction("bytes") == Better::unknown);
  CHECK(usual_direction("") == Better::unknown);
  ComparedFinding banks = time_of(32, 32, 32);
  banks.finding.unit = "";
  banks.finding.better = Better::unknown;
  ComparedFinding fewer = time_of(16, 16, 16);
  fewer.finding.unit = "";
  fewer.finding.better = Better::unknown;
  CHECK(verdict(banks, fewer) == Verdict::different);
}

TEST_CASE("without an interval 25 % are the threshold, and the verdict is marked") {
  ComparedFinding one = time_of(100, 0, 0);
  one.finding.low.reset();
  one.finding.high.reset();
  ComparedFinding other = one;
  other.finding.value = 126.0;
  CHECK(verdict(one, other) == Verdict::worse);
  CHECK(verdict(other, one) == Verdict::better);
  CHECK(judge(one, other, threshold).is_coarse);
  CHECK(judge(one, other, 0.3).verdict == Verdict::same);
  other.finding.value = 124.0;
  CHECK(verdict(one, other) == Verdict::same);
  const Judgement judged = judge(one, other, threshold);
  CHECK(judged.resolution == doctest::Approx(0.25));
  const ComparedCell cell{.finding = &other, .judgement = judged};
  CHECK(report::verdict_text(cell, "seconds") == "same within 25 % (no interval)");
  // The interval of the one that has one counts.
  CHECK(verdict(one, time_of(140, 130, 150)) == Verdict::worse);
  CHECK(verdict(one, time_of(140, 120, 150)) == Verdict::unclear);
  CHECK(verdict(time_of(140, 120, 150), one) == Verdict::unclear);
}

TEST_CASE("a verdict shows what could have been missed, and what nobody knows") {
  const auto shown = [](const ComparedFinding& a, const ComparedFinding& b) {
    return report::verdict_text({.finding = &b, .judgement = judge(a, b, threshold)},
                                a.finding.unit);
  };
  CHECK(shown(time_of(100, 99, 101), time_of(105, 103, 106)) == "same within 6.5 %");
  CHECK(shown(time_of(100, 99, 101), time_of(150, 90, 200)) == "unclear (0.9 to 2)");
  CHECK(shown(time_of(100, 99, 101), time_of(110, 109, 111)) == "worse");
  CHECK(shown(time_of(100, 99, 101), time_of(100, 99, 101)) == "same");
}

TEST_CASE("words, and findings without a value") {
  CHECK(verdict(without_value("", "cache"), without_value("", "cache")) == Verdict::same);
  CHECK(verdict(without_value("", "cache"), without_value("", "tlb")) == Verdict::different);
  CHECK(verdict(without_value("", "cache"), without_value("", "unknown")) == Verdict::unclear);
  CHECK(verdict(without_value("", "neither"), without_value("", "unobservable")) ==
        Verdict::unclear);
  CHECK(verdict(without_value("not reached: 1 GiB"), without_value("not reached: 2 GiB")) ==
        Verdict::same);
  CHECK(verdict(without_value("no images"), without_value("no plateau")) == Verdict::unclear);
  CHECK(verdict(without_value("no jump of 48 cycles"), without_value("no jump of 7.5 cycles")) ==
        Verdict::same);
  CHECK(verdict(time_of(1, 1, 1), without_value("no plateau")) == Verdict::unclear);
  CHECK(verdict(without_value("no plateau"), time_of(1, 1, 1)) == Verdict::unclear);
}

TEST_CASE("values that have no ratio, and other units") {
  CHECK(verdict(time_of(0, 0, 0), time_of(0, 0, 0)) == Verdict::same);
  CHECK(verdict(time_of(0, 0, 0), time_of(1, 1, 1)) == Verdict::unclear);
  CHECK(verdict(time_of(-1, -2, 0), time_of(1, 1, 1)) == Verdict::unclear);
  CHECK(verdict(time_of(2, -1, 3), time_of(2.5, 2.4, 2.6)) == Verdict::unclear);
  ComparedFinding cycles = time_of(100, 99, 101);
  cycles.finding.unit = "cycles";
  CHECK(verdict(time_of(100, 99, 101), cycles) == Verdict::unclear);
}

namespace {

RunDigest with_latencies(const std::vector<double>& latencies, std::string_view device = "GPU") {
  RunDigest run{.file = "a.json", .device = std::string(device)};
  ComparedResult result{.probe = "latency"};
  int level = 0;
  for (const double latency : latencies) {
    ComparedFinding each = time_of(latency, latency * 0.999, latency * 1.001);
    each.finding.level = ++level;
    result.findings.push_back(each);
  }
  run.results.push_back(result);
  return run;
}

}  // namespace

TEST_CASE("one level more does not shift those that come after it") {
  const std::array runs{with_latencies({10, 100, 500}), with_latencies({10, 60, 100, 500})};
  const Comparison more = compare(runs, 0, threshold);
  CHECK(more.counts[1].same == 3);
  REQUIRE(more.unmatched.size() == 1);
  CHECK(report::unmatched_lines(more)[0].text == "in B, not in A: latency global level 2 latency");
  const Comparison fewer = compare(runs, 1, threshold);
  CHECK(fewer.counts[0].same == 3);
  REQUIRE(fewer.unmatched.size() == 1);
  CHECK(fewer.unmatched[0].reason == "only in the baseline");
}

TEST_CASE("what has no counterpart is a line for each level, which says whose level it is") {
  Comparison made{.baseline = 0};
  made.unmatched = {{1, "latency", "global", "capacity", 3, "only in the baseline"},
                    {1, "latency", "global", "latency", 3, "only in the baseline"},
                    {1, "latency", "global", "latency", 4, "only in the baseline"},
                    {1, "latency", "global", "latency", 4, "not in the baseline"},
                    {2, "latency", "", "host_memory", std::nullopt, "not in the baseline"},
                    {2, "stride", "", "", std::nullopt, "not measured in this run"},
                    {2, "banks", "", "", std::nullopt, "not measured in this run"},
                    {2, "clock", "", "", std::nullopt, "not in the baseline"}};
  std::vector<std::string> texts;
  for (const report::UnmatchedLine& line : report::unmatched_lines(made)) {
    texts.push_back(line.text);
  }
  CHECK(texts ==
        std::vector<std::string>{"in A, not in B: latency global level 3 capacity, latency",
                                 "in A, not in B: latency global level 4 latency",
                                 "in B, not in A: latency global level 4 latency",
                                 "in C, not in A: latency host buffer location",
                                 "C: stride: not measured in this run",
                                 "C: banks: not measured in this run", "in C, not in A: clock"});
}

TEST_CASE("of two devices with as many levels the n-th is set beside the n-th") {
  const std::array runs{with_latencies({10, 100, 500}), with_latencies({9, 11, 100}, "CPU")};
  const Comparison made = compare(runs, 0, threshold);
  CHECK(made.counts[1].better == 3);
  CHECK(made.unmatched.empty());
}

TEST_CASE("of two devices with more levels the ends correspond, the others by their times") {
  RunDigest slow = with_latencies({10, 12, 40, 100, 500}, "slow");
  RunDigest fast = with_latencies({1, 41, 110}, "fast");
  const auto ratios = [&] {
    std::map<int, double> found;
    const std::array runs{slow, fast};  // what is made points into them
    const Comparison made = compare(runs, 0, threshold);
    for (const ComparedRow& row : made.rows) {
      const ComparedCell& cell = row.cells[1];
      if (row.baseline->finding.name != "latency" || cell.finding == nullptr) continue;
      found[*row.baseline->finding.level] = *cell.finding->finding.value;
    }
    return found;
  };
  CHECK(ratios() == std::map<int, double>{{1, 1}, {3, 41}, {4, 110}});
  // Where both end in memory, that is one level, though another time is nearer.
  for (RunDigest* const run : {&slow, &fast}) {
    auto& findings = run->results[0].findings;
    ComparedFinding open = without_value("its end was not reached");
    open.finding.name = "capacity";
    open.finding.level = static_cast<int>(findings.size());
    findings.push_back(open);
  }
  CHECK(ratios() == std::map<int, double>{{1, 1}, {3, 41}, {5, 110}});
}

TEST_CASE("a probe that fails now is a change; one that was not asked for is none") {
  std::array runs{with_latencies({10}), with_latencies({10})};
  runs[1].results[0].findings.clear();
  CHECK(compare(runs, 0, threshold).counts[1].total() == 0);
  runs[1].results[0].status = Status::failed;
  runs[1].results[0].reason = "the driver crashed";
  const Comparison made = compare(runs, 0, threshold);
  CHECK(made.counts[1].different == 1);
  CHECK(made.unmatched.size() == 1);
  runs[1].results.clear();
  CHECK(compare(runs, 0, threshold).counts[1].total() == 0);
  CHECK(compare(runs, 0, threshold).unmatched.size() == 1);
  CHECK_THROWS_AS(compare(runs, 2, threshold), std::out_of_range);
}

TEST_CASE("remarks about a run are not compared") {
  Run run = example_gpu_run();
  const std::size_t findings = digest(run, "a.json").results[1].findings.size();
  for (const char* const name : {"advice", "second_best", "bic_margin", "line_r2"}) {
    run.results[0].findings.push_back(
        {.name = name, .series = "global", .label = "words", .role = Role::remark});
  }
  CHECK(digest(run, "a.json").results[1].findings.size() == findings);
}

TEST_CASE("a series that the device has no more is a change") {
  std::array runs{with_latencies({10, 20}), with_latencies({10})};
  runs[1].results[0].findings[0] = without_value("the device has no images");
  runs[1].results[0].findings[0].finding.source = Source::reported;
  CHECK(compare(runs, 0, threshold).counts[1].different == 2);
  runs[1].results[0].findings[0].finding.source = Source::derived;
  CHECK(compare(runs, 0, threshold).counts[1].unclear == 2);
}

TEST_CASE("a run beside itself is the same in everything") {
  for (const Run& run : {example_gpu_run(), example_cpu_run(), example_broken_run()}) {
    const std::array runs{digest(run, "a.json"), digest(run, "b.json")};
    const Comparison made = compare(runs, 0, threshold);
    CHECK(made.counts[1].same == made.counts[1].total());
    CHECK(made.unmatched.empty());
    for (const CurveSummary& curve : made.curves) {
      CHECK(curve.median_ratio == 1.0);
      CHECK(curve.only_baseline + curve.only_here == 0);
    }
  }
}

TEST_CASE("curves are matched by the parameters that vary, whatever the order of the points") {
  const Run run = example_gpu_run();
  Run other = run;
  std::vector<Point>& points = other.results[0].points;
  std::reverse(points.begin(), points.end());
  for (Point& point : points) {
    point.parameters.set("step_bytes", std::int64_t{64});
    for (Sample& sample : point.samples) sample.ticks = *sample.ticks * 2;
  }
  points.pop_back();  // the smallest working set of `global`
  const std::array runs{digest(run, "a.json"), digest(other, "b.json")};
  const Comparison made = compare(runs, 0, threshold);
  const auto global =
      std::find_if(made.curves.begin(), made.curves.end(),
                   [](const CurveSummary& each) { return each.series == "global"; });
  REQUIRE(global != made.curves.end());
  CHECK(global->median_ratio == doctest::Approx(2.0).epsilon(0.001));
  CHECK(global->only_baseline == 1);
  CHECK(global->only_here == 0);
  CHECK(global->note == "step_bytes 64 (baseline: 128)");
}

TEST_CASE("a CPU is one device under all versions of PoCL") {
  const auto run = [](std::string_view device, DeviceType type) {
    return RunDigest{.device = std::string(device), .type = type};
  };
  const RunDigest old = run("pthread-skylake-avx512-Intel(R) Xeon", DeviceType::cpu);
  CHECK(are_of_one_device(old, run("cpu-skylake-avx512-Intel(R) Xeon", DeviceType::cpu)));
  CHECK(are_of_one_device(old, run("Intel(R) Xeon", DeviceType::cpu)));
  CHECK_FALSE(are_of_one_device(old, run("cpu-skylake-avx512-Intel(R) Core", DeviceType::cpu)));
  CHECK_FALSE(are_of_one_device(run("cpu-X", DeviceType::gpu), run("X", DeviceType::gpu)));
  // A name without a model is compared whole.
  CHECK_FALSE(
      are_of_one_device(run("cpu-unknown", DeviceType::cpu), run("unknown", DeviceType::cpu)));
}

TEST_CASE("a CPU is known to be a virtual machine's, and a GPU is nobody else's") {
  const auto is_virtual = [](Run run) {
    run.host.is_virtual = true;
    return digest(run, "a.json").results.back().findings.at(0).is_of_virtual_cpu;
  };
  CHECK(is_virtual(example_cpu_run()));
  CHECK_FALSE(is_virtual(example_gpu_run()));
  CHECK_FALSE(digest(example_cpu_run(), "a.json").results.back().findings.at(0).is_of_virtual_cpu);
}

TEST_CASE("the spread of the samples and the calibration widen what is compared") {
  Run run = example_gpu_run();
  const auto finding = [&](std::size_t number) {
    return digest(run, "a.json").results[1].findings[number];
  };
  const ComparedFinding calm = finding(0);
  CHECK(calm.margin > 0.0);
  CHECK(calm.margin < 0.01);
  CHECK(calm.calibration < 0.01);
  run.device.clock.ticks_per_ns_low *= 0.95;
  run.device.clock.ticks_per_ns_high *= 1.05;
  CHECK(finding(0).margin == calm.margin);
  CHECK(finding(0).calibration > 0.05);
  for (Point& point : run.results[0].points) {
    for (std::size_t i = 1; i < point.samples.size(); ++i) {
      point.samples[i].ticks = *point.samples[i].ticks * 3 / 2;
    }
  }
  // Half as much again in two of three visits: 0.5, of three visits.
  CHECK(finding(0).margin == doctest::Approx(0.5 * 0.668).epsilon(0.02));
  // Cycles do not depend on the calibration.
  CHECK(finding(1).margin == doctest::Approx(0.5 * 0.668).epsilon(0.02));
  CHECK(finding(1).calibration == 0.0);
}

TEST_CASE("runs that differ by noise alone are the same, and a slower one is not") {
  const Run run = example_gpu_run();
  std::uint64_t state = 11;
  const auto noise = [&](double most) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    return 1.0 + most * (static_cast<double>(state >> 40U) / 8388608.0 - 1.0);
  };
  std::vector<RunDigest> runs{digest(run, "0.json")};
  for (int i = 1; i <= 100; ++i) {
    Run other = run;
    for (Finding& finding : other.results[0].findings) {
      if (!finding.value) continue;
      const double factor = (i == 100 ? 1.1 : 1.0) * noise(0.02);
      finding.value = *finding.value * factor;
      finding.low = *finding.low * factor;
      finding.high = *finding.high * factor;
    }
    runs.push_back(digest(other, fmt::format("{}.json", i)));
  }
  const Comparison made = compare(runs, 0, threshold);
  std::size_t same = 0;
  std::size_t total = 0;
  for (std::size_t i = 1; i < 100; ++i) {
    same += made.counts[i].same;
    total += made.counts[i].total();
  }
  CHECK(static_cast<double>(same) >= 0.95 * static_cast<double>(total));
  CHECK(made.counts[100].worse > 10);
  const std::string table = render_comparison_table(made, runs, {});
  CHECK(table.find("and 100 other runs") != std::string::npos);
  CHECK(table.find("CW:   NVIDIA H200, driver 580.159.03") != std::string::npos);
}

namespace {

/// A GPU, the same with another driver, and a CPU.
struct Example {
  std::vector<RunDigest> runs{};
  Comparison comparison{};
};

Example example() {
  Example made;
  Run other = example_gpu_run();
  other.device.driver = "590.10";
  other.started = "2026-02-01T00:00:00Z";
  slow_level(other.results[0], 2, 1.2);
  made.runs = {digest(example_gpu_run(), "old.json"), digest(other, "new.json"),
               digest(example_cpu_run(), "cpu.json")};
  made.comparison = compare(made.runs, 0, threshold);
  return made;
}

}  // namespace

TEST_CASE("comparisons look as they did when they were read last") {
  const Example made = example();
  check_golden("compare.txt", render_comparison_table(made.comparison, made.runs, {}));
  check_golden("compare-verbose.txt",
               render_comparison_table(made.comparison, made.runs, {.all_points = true}));
  check_golden("compare.json", comparison_to_json(made.comparison, made.runs));
  check_golden("compare.csv", render_comparison_csv(made.comparison, made.runs));
  check_golden("compare.md", render_comparison_markdown(made.comparison, made.runs));
}

TEST_CASE("no line is wider than the terminal, and no text of a file reaches it raw") {
  const std::vector<RunDigest> runs{digest(example_gpu_run(), "a\x1b[31m" + all_hidden() + ".json"),
                                    digest(with_hidden_text(example_gpu_run()), "a.json"),
                                    digest(example_hostile_run(), "=b.json"),
                                    digest(example_cpu_run(), "c|d.json")};
  for (std::size_t baseline = 0; baseline < runs.size(); ++baseline) {
    const Comparison made = compare(runs, baseline, threshold);
    for (const int width : {32, 60, 80, 200}) {
      for (const bool is_unicode : {true, false}) {
        const std::string table = render_comparison_table(
            made, runs, {.width = width, .unicode = is_unicode, .all_points = true});
        CHECK(first_hidden(table) == "");
        std::string_view rest = table;
        while (!rest.empty()) {
          const std::string_view line = next_line(rest);
          CHECK(display_width(line) <= width);
          CHECK(printable(line) == line);
        }
      }
    }
    CHECK(first_hidden(render_comparison_csv(made, runs)) == "");
    CHECK(first_hidden(render_comparison_markdown(made, runs)) == "");
    CHECK(first_hidden(comparison_to_json(made, runs)) == "");
    CHECK(json::parse(comparison_to_json(made, runs)).at("runs").size() == 4);
  }
}

TEST_CASE("columns have letters like a spreadsheet's") {
  CHECK(report::run_letter(0) == "A");
  CHECK(report::run_letter(25) == "Z");
  CHECK(report::run_letter(26) == "AA");
  CHECK(report::run_letter(701) == "ZZ");
  CHECK(report::run_letter(702) == "AAA");
}

}  // namespace clprobe
