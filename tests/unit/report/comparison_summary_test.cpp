// SPDX-License-Identifier: Apache-2.0
#include "present/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "example_runs.hpp"
#include "present/api/report.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

/// A run with one finding of each of these units, all 1, times `factor`; cycles are those of a
/// second.
Run run_of(double factor) {
  Run run = example_gpu_run();
  ProbeResult& result = run.results[0];
  result.points.clear();
  result.findings.clear();
  for (const auto& [name, unit] : {std::pair("latency", "seconds"), std::pair("cycles", "cycles"),
                                   std::pair("bandwidth", "bytes_per_second"),
                                   std::pair("capacity", "bytes"), std::pair("banks", "count")}) {
    const double one =
        std::string_view(unit) == "cycles" ? run.device.clock.ticks_per_ns * 1e9 : 1.0;
    Finding finding{.name = name, .series = "one", .value = factor * one, .unit = unit};
    finding.low = *finding.value * 0.999;
    finding.high = *finding.value * 1.001;
    finding.better = usual_direction(unit);
    result.findings.push_back(finding);
  }
  return run;
}

std::vector<std::string> words_of(double factor) {
  const std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(factor), "b")};
  const Comparison comparison = compare(runs, 0, 0.03);
  std::vector<std::string> all;
  for (const report::Change& change : report::changes_of(comparison)) {
    all.push_back(change.row->baseline->finding.name + " " + report::change_words(change));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("changes are said as people say them") {
  using Words = std::vector<std::string>;
  CHECK(words_of(1.5) == Words{"bandwidth 1.50x faster", "banks 1.50x more",
                               "capacity 1.50x larger", "latency 1.50x slower"});
  CHECK(words_of(0.5) == Words{"bandwidth 2.00x slower", "banks 2.00x fewer",
                               "capacity 2.00x smaller", "latency 2.00x faster"});
  CHECK(words_of(1.19).front() == "bandwidth 19 % faster");
  CHECK(words_of(1.2).front() == "bandwidth 1.20x faster");
  // As people read 146 to 134: by which share of the first value.
  CHECK(words_of(0.92).front() == "bandwidth 8.0 % slower");
  CHECK(words_of(1.0).empty());
}

TEST_CASE("who is better at what comes first, in at most 12 lines, for any number of runs") {
  for (const std::size_t count : {2U, 3U, 10U, 40U}) {
    std::vector<RunDigest> runs{digest(run_of(1.0), "a")};
    while (runs.size() < count) runs.push_back(digest(run_of(2.0), "b"));
    const Comparison comparison = compare(runs, 0, 0.03);
    const std::string text = render_comparison_table(comparison, runs, {});
    const std::size_t first = text.find("\n\n") + 2;
    const std::string summary = text.substr(first, text.find("\n\n", first) - first);
    CAPTURE(summary);
    CHECK(std::count(summary.begin(), summary.end(), '\n') < 12);
    CHECK(summary.find("latency 2.00x slower") != std::string::npos);
    CHECK(summary.find(count > 3 ? "1 worse" : "worse: one latency") != std::string::npos);
    CHECK(summary.find("better") != std::string::npos);
    CHECK(summary.find(" B  H200") == 0);  // whose answer it is
  }
}

TEST_CASE("of many runs each is named by what tells it from the others") {
  std::vector<RunDigest> runs{digest(run_of(1.0), "a")};
  for (int i = 0; i < 11; ++i) {
    Run run = run_of(i < 6 ? 2.0 : 1.0);
    run.device.name = i % 2 == 0 ? "NVIDIA H100" : "cpu-skylake-avx512-Intel(R) Xeon(R) Processor";
    run.device.type = i % 2 == 0 ? DeviceType::gpu : DeviceType::cpu;
    run.started = "2026-01-0" + std::to_string(1 + i % 4) + "T03:04:05Z";
    runs.push_back(digest(run, "b"));
  }
  const std::string text = render_comparison_table(compare(runs, 0, 0.03), runs, {});
  CHECK(text.find("\n B  H100, 2026-01-01") != std::string::npos);
  CHECK(text.find("\n C  Intel Xeon, 2026-01-02") != std::string::npos);
  CHECK(text.find("no change") != std::string::npos);
}

TEST_CASE("a summary without room says how many and at what, and by how much where that fits") {
  const std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(2.0), "b")};
  const Comparison comparison = compare(runs, 0, 0.03);
  const auto brief = [&](std::size_t room) {
    return report::brief_summary_of(comparison, 1,
                                    [&](const std::string& text) { return text.size() <= room; });
  };
  CHECK(brief(1000) == report::summary_of(comparison, 1));
  CHECK(brief(75) == "1 worse, 1 better, 2 different: one latency 2.00x slower, ...");
  CHECK(brief(10) == "1 worse, 1 better, 2 different");
  // Nothing that is better stands where there is no room for what is worse.
  CHECK(brief(60) == "1 worse, 1 better, 2 different");
}

TEST_CASE("a summary names the probes that it says nothing of") {
  std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(1.0), "b")};
  runs[1].results.back().probe = "another";
  const std::string text = report::summary_of(compare(runs, 0, 0.03), 1);
  CHECK(text == "no change; 1 same; not compared: latency, another");
}

TEST_CASE("what is the same is in the whole form alone") {
  const std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(1.0), "b")};
  const Comparison comparison = compare(runs, 0, 0.03);
  CHECK(render_comparison_table(comparison, runs, {}).find("one capacity") == std::string::npos);
  CHECK(render_comparison_table(comparison, runs, {.all_points = true}).find("one capacity") !=
        std::string::npos);
  CHECK(render_comparison_table(comparison, runs, {}).find("no change") != std::string::npos);
}

TEST_CASE("verdicts have colours") {
  const std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(2.0), "b")};
  const std::string text = render_comparison_table(compare(runs, 0, 0.03), runs, {.colour = true});
  CHECK(text.find("\x1b[31m2.00x slower") != std::string::npos);
  CHECK(text.find("\x1b[32m2.00x faster") != std::string::npos);
}

TEST_CASE("all that is worse comes first, whole, with its name and both values") {
  std::vector<Run> made{run_of(1.0), run_of(1.0)};
  for (Run& run : made) {
    Finding rate = run.results[0].findings[2];
    run.results[0].findings.assign(40, rate);
    for (std::size_t i = 0; i < 40; ++i) run.results[0].findings[i].level = static_cast<int>(i) + 1;
  }
  for (std::size_t i = 0; i < 40; ++i) {
    Finding& finding = made[1].results[0].findings[i];
    const double factor = i < 35 ? 0.9 : 3.0;  // small, and many; and five large ones
    for (auto* const number : {&finding.value, &finding.low, &finding.high}) **number *= factor;
  }
  std::vector<RunDigest> runs{digest(made[0], "a"), digest(made[1], "b")};
  const Comparison comparison = compare(runs, 0, 0.03);
  const std::vector<report::Change> changes = report::changes_of(comparison);
  REQUIRE(changes.size() == 40);
  for (std::size_t i = 0; i < 35; ++i) CHECK(report::change_words(changes[i]) == "10 % slower");
  const auto parts = report::summary_parts(comparison, 1);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].texts.size() == 35);
  CHECK(parts[0].texts[1].find("latency one level 2 bandwidth 10 % slower (1.00 to 0.9") == 0);
  CHECK(parts[1].texts ==
        std::vector<std::string>{"latency one level 36 bandwidth 3.00x faster (and 4 more)"});
  const std::string text = render_comparison_table(comparison, runs, {});
  CHECK(text.find("latency one level 35 bandwidth") != std::string::npos);
  CHECK(text.find("and 5 more; -v shows all") != std::string::npos);
}

TEST_CASE("a change stands within the interval beside it, in one direction") {
  for (const double factor : {0.05, 0.9, 1.1, 20.0}) {
    const std::vector<RunDigest> runs{digest(run_of(1.0), "a"), digest(run_of(factor), "b")};
    for (const ComparedRow& row : compare(runs, 0, 0.03).rows) {
      const Judgement& judged = row.cells[1].judgement;
      if (!judged.interval || !judged.ratio) continue;
      CAPTURE(judged.reason);
      CHECK(judged.interval->low <= *judged.ratio);
      CHECK(judged.interval->high >= *judged.ratio);
    }
    const std::string reason = compare(runs, 0, 0.03).rows[2].cells[1].judgement.reason;
    CAPTURE(reason);
    if (factor == 0.05) CHECK(reason.find("0.050x (0.050x to 0.050x)") == 0);
    if (factor == 0.9) CHECK(reason.find("-10 % (-10.1 % to -9.87 %)") == 0);
    if (factor == 20.0) CHECK(reason.find("20.0x (20.0x to 20.0x)") == 0);
  }
}

}  // namespace clprobe
