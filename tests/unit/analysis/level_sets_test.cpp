// SPDX-License-Identifier: Apache-2.0
// Levels that one of two runs has alone, and what holds of a whole family of findings.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/api/compare.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;

/// A run whose levels have these times, each with its capacity and ten sizes; `curve` gives the
/// times at these sizes where they are others.
RunDigest run_of(const std::vector<double>& times, std::vector<double> curve = {}) {
  if (curve.empty()) {
    for (const double time : times) curve.insert(curve.end(), 10, time);
  }
  ComparedResult result{.probe = "made"};
  int level = 0;
  for (const double time : times) {
    Finding latency{.name = "latency", .series = "all", .level = ++level, .unit = "seconds"};
    latency.value = time;
    latency.low = 0.999 * time;
    latency.high = 1.001 * time;
    latency.better = Better::less;
    result.findings.push_back({latency});
    Finding capacity{.name = "capacity", .series = "all", .level = level, .unit = "bytes"};
    capacity.value = std::exp2(3.0 * level);
    capacity.low = capacity.high = capacity.value;
    capacity.better = Better::more;
    result.findings.push_back({capacity});
  }
  ComparedCurve points{.series = "all", .unit = "seconds"};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    points.points.push_back({std::to_string(100 + i), curve[i], static_cast<double>(i + 1)});
  }
  result.curves.push_back(std::move(points));
  return {.file = "a.json", .device = "Made", .results = {std::move(result)}};
}

const ComparedCell& cell_of(const Comparison& made, std::string_view name,
                            std::optional<int> level) {
  for (const ComparedRow& row : made.rows) {
    if (row.baseline->finding.name == name && row.baseline->finding.level == level) {
      return row.cells[1];
    }
  }
  throw std::out_of_range("no such row");
}

std::vector<double> sizes_of(const std::vector<double>& times) {
  std::vector<double> curve;
  for (const double time : times) curve.insert(curve.end(), 10, time);
  return curve;
}

}  // namespace

TEST_CASE(
    "a level that one run alone has is one row, and its neighbours' capacities get no verdict") {
  const std::array runs{run_of({1, 5, 40, 100, 300}), run_of({1, 5, 100, 300})};
  const Comparison made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "levels", std::nullopt).finding->finding.label == "4 levels");
  // Level 3 was lost: 2 and 4 are its neighbours, and 1 and 5 (4 in the new run) are not.
  for (const int level : {2, 4}) {
    CAPTURE(level);
    CHECK(cell_of(made, "capacity", level).judgement.reason.empty());
    CHECK(cell_of(made, "capacity", level).finding != nullptr);
    CHECK(cell_of(made, "latency", level).judgement.verdict == Verdict::same);
  }
  CHECK(cell_of(made, "capacity", 1).judgement.verdict == Verdict::same);
  CHECK_FALSE(cell_of(made, "capacity", 5).judgement.reason.empty());
  // Four latencies, the capacity of level 1 and that of level 5, and the row of the levels.
  CHECK(made.counts[1].total() == 7);
  // The other way round a level was gained.
  const Comparison back = compare(runs, 1, threshold);
  CHECK(back.counts[0].total() == 7);
}

TEST_CASE("levels are different only where the curve of the other run is another one there") {
  const std::vector<double> times{1, 5, 40, 100, 300};
  const auto verdict = [&](std::vector<double> curve) {
    const std::array runs{run_of(times), run_of({1, 5, 100, 300}, std::move(curve))};
    return cell_of(compare(runs, 0, threshold), "levels", std::nullopt).judgement;
  };
  const Judgement gone = verdict(sizes_of({1, 5, 100, 100, 300}));
  CHECK(gone.verdict == Verdict::different);
  CHECK(gone.p_value == doctest::Approx(std::exp2(-9.0)));  // ten points on one side
  // Up to 25 % apart is another way to cut; not all points, or fewer than six of them, prove
  // nothing.
  CHECK(verdict(sizes_of({1, 5, 48, 100, 300})).verdict == Verdict::unclear);
  CHECK(verdict(sizes_of({1, 5, 52, 100, 300})).verdict == Verdict::different);
  std::vector<double> mixed = sizes_of({1, 5, 100, 100, 300});
  mixed[25] = 40;
  CHECK(verdict(mixed).verdict == Verdict::unclear);
  std::vector<double> few = sizes_of({1, 5, 100, 100, 300});
  few.resize(25);
  CHECK(verdict(few).verdict == Verdict::unclear);
}

TEST_CASE("a level is in both runs if the curves agree at its sizes") {
  const std::vector<double> times{1, 5, 40, 100, 300};
  // Points of level 3, of which this run has `near` at `time` and none beyond `sizes`.
  const auto verdict = [&](double time, std::size_t near, std::size_t sizes) {
    std::vector<double> curve = sizes_of({1, 5, 48, 100, 300});
    for (std::size_t i = 0; i < near; ++i) curve[29 - i] = time;
    curve.erase(curve.begin() + 20, curve.begin() + 30 - static_cast<std::ptrdiff_t>(sizes));
    RunDigest run = run_of({1, 5, 100, 300}, curve);
    std::vector<ComparedPoint>& points = run.results[0].curves[0].points;
    for (std::size_t i = 20; i < points.size(); ++i) {
      const std::size_t size = i + 10 - sizes;
      points[i].key = std::to_string(100 + size);
      points[i].size = static_cast<double>(size + 1);
    }
    const std::array runs{run_of(times), run};
    return cell_of(compare(runs, 0, threshold), "levels", std::nullopt).judgement.verdict;
  };
  CHECK(verdict(40, 10, 10) == Verdict::same);
  CHECK(verdict(42, 10, 10) == Verdict::same);  // 5 %
  CHECK(verdict(42.2, 10, 10) == Verdict::unclear);
  CHECK(verdict(40, 7, 10) == Verdict::same);
  CHECK(verdict(40, 6, 10) == Verdict::unclear);
  CHECK(verdict(40, 7, 7) == Verdict::same);  // sizes that this run lacks do not agree
  CHECK(verdict(40, 6, 6) == Verdict::unclear);
  std::array runs{run_of(times), run_of({1, 5, 100, 300}, sizes_of(times))};
  const Comparison made = compare(runs, 0, threshold);
  for (const char* const name : {"latency", "capacity"}) {
    const ComparedCell& lost = cell_of(made, name, 3);
    CHECK(lost.finding == nullptr);
    CHECK(lost.judgement.verdict == Verdict::same);
    CHECK(lost.judgement.reason == "level 3 found only in the baseline; the curves agree there");
  }
  // The neighbours' capacities have verdicts.
  CHECK_FALSE(cell_of(made, "capacity", 2).judgement.reason.empty());
  CHECK(made.unmatched.empty());
  // Curves of two devices do not show one level.
  runs[1].device = "another";
  CHECK(cell_of(compare(runs, 0, threshold), "levels", std::nullopt).judgement.verdict ==
        Verdict::unclear);
}

TEST_CASE("levels of bandwidths are matched as those of times are") {
  const auto rates_of = [](const std::vector<double>& times) {
    RunDigest run = run_of(times);
    for (ComparedFinding& each : run.results[0].findings) {
      Finding& finding = each.finding;
      if (finding.unit != "seconds") continue;
      finding.name = "bandwidth";
      finding.unit = "bytes_per_second";
      finding.better = Better::more;
      const double low = 1.0 / *finding.high;
      finding.high = 1.0 / *finding.low;
      finding.low = low;
      finding.value = 1.0 / *finding.value;
    }
    run.results[0].curves.clear();
    return run;
  };
  const std::array runs{rates_of({1, 5, 40, 100, 300}), rates_of({1, 5, 100, 300})};
  const Comparison made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "levels", std::nullopt).finding->finding.label == "4 levels");
  for (const int level : {1, 2, 4, 5}) {
    CHECK(cell_of(made, "bandwidth", level).judgement.verdict == Verdict::same);
  }
  CHECK(cell_of(made, "capacity", 4).judgement.reason.empty());
}

TEST_CASE("where one run lost its first level the others are matched in their order") {
  RunDigest lost = run_of({1, 5, 100});
  for (ComparedFinding& each : lost.results.front().findings) ++*each.finding.level;
  const std::array runs{run_of({1, 5, 100}), lost};
  const Comparison made = compare(runs, 0, threshold);
  for (const auto& [level, time] : {std::pair{1, 1.0}, {2, 5.0}, {3, 100.0}}) {
    const ComparedCell& cell = cell_of(made, "latency", level);
    REQUIRE(cell.finding != nullptr);
    CHECK(cell.finding->finding.value == time);
    CHECK(cell.judgement.verdict == Verdict::same);
  }
}

TEST_CASE("levels whose times are further apart than a factor of 1.5 are not one level") {
  const std::array near{run_of({1, 5, 40, 100}), run_of({1, 5, 59})};
  CHECK(cell_of(compare(near, 0, threshold), "latency", 3).finding != nullptr);
  const std::array far{run_of({1, 5, 40, 100}), run_of({1, 5, 62})};
  CHECK(cell_of(compare(far, 0, threshold), "latency", 3).finding == nullptr);
  CHECK(compare(far, 0, threshold).unmatched.size() >= 2);
}

TEST_CASE("as many levels, of which each run lost another one, are no change of that level") {
  const std::vector<double> memory = sizes_of({1, 4, 8, 100});
  const auto second = [&](const std::vector<double>& times, const std::vector<double>& curve) {
    const std::array runs{run_of({1, 4, 100}, memory), run_of(times, curve)};
    return cell_of(compare(runs, 0, threshold), "latency", 2);
  };
  CHECK(second({1, 8, 100}, memory).finding == nullptr);
  // A level that truly takes twice as long does so on the curve, too.
  const std::vector<double> slower = sizes_of({1, 8, 8, 100});
  CHECK(second({1, 8, 100}, slower).judgement.verdict == Verdict::worse);
  // Up to 1.15 times it is that level, whatever the curve.
  CHECK(second({1, 4.5, 100}, memory).judgement.verdict == Verdict::worse);
  CHECK(second({1, 4.7, 100}, memory).finding == nullptr);
  // Half of the way, as a logarithm, is the border: 4 to 9 goes through 6.
  CHECK(second({1, 9, 100}, sizes_of({1, 5.9, 9, 100})).finding == nullptr);
  CHECK(second({1, 9, 100}, sizes_of({1, 6.1, 6.1, 100})).judgement.verdict == Verdict::worse);
  // Nor is it that level where the curve went the other way.
  CHECK(second({1, 5, 100}, sizes_of({1, 3.2, 5, 100})).finding == nullptr);
  // A sparse curve's level has two points, which say it as well.
  const std::vector<double> few{1, 1, 4, 4, 8, 8, 100, 100};
  const std::vector<double> few_slower{1, 1, 8, 8, 8, 8, 100, 100};
  const auto second_of_few = [&](const std::vector<double>& curve) {
    const std::array runs{run_of({1, 4, 100}, few), run_of({1, 8, 100}, curve)};
    return cell_of(compare(runs, 0, threshold), "latency", 2);
  };
  CHECK(second_of_few(few).finding == nullptr);
  CHECK(second_of_few(few_slower).judgement.verdict == Verdict::worse);
}

TEST_CASE("of two runs, each with another one of two levels, neither is worse") {
  const auto with_first_lost = [](double time) {
    RunDigest run = run_of({time});
    for (ComparedFinding& each : run.results.front().findings) ++*each.finding.level;
    return run;
  };
  std::array runs{run_of({1}), with_first_lost(15.0)};
  for (RunDigest& each : runs) each.results.front().curves.clear();  // too sparse to tell
  const Comparison two_levels = compare(runs, 0, threshold);
  CHECK(cell_of(two_levels, "latency", 1).finding == nullptr);
  CHECK(cell_of(two_levels, "levels", std::nullopt).judgement.verdict == Verdict::unclear);
  // As far apart as one level's times may be: the other run lost its first level.
  const std::array near{run_of({1}), with_first_lost(1.4)};
  CHECK(cell_of(compare(near, 0, threshold), "latency", 1).finding != nullptr);
  const std::array far{run_of({1}), with_first_lost(1.6)};
  CHECK(cell_of(compare(far, 0, threshold), "latency", 1).finding == nullptr);
}

TEST_CASE("of unlike numbers of levels, too, those are not one at whose sizes the curves agree") {
  const std::vector<double> memory = sizes_of({1, 4, 8, 100});
  const auto second = [&](double time, const std::vector<double>& curve) {
    const std::array runs{run_of({1, 4, 8, 100}, memory), run_of({1, time, 100}, curve)};
    return cell_of(compare(runs, 0, threshold), "latency", 2);
  };
  CHECK(second(4.5, memory).judgement.verdict == Verdict::worse);
  CHECK(second(5.0, memory).finding == nullptr);
  CHECK(second(5.0, sizes_of({1, 5, 8, 100})).judgement.verdict == Verdict::worse);
}

TEST_CASE("as many levels have no row of their own; of two devices, too, another number has") {
  std::array runs{run_of({1, 5, 40}), run_of({1, 5, 41})};
  CHECK_THROWS_AS(cell_of(compare(runs, 0, threshold), "levels", std::nullopt), std::out_of_range);
  runs[1] = run_of({1, 9, 400});
  runs[1].device = "another";
  CHECK_THROWS_AS(cell_of(compare(runs, 0, threshold), "levels", std::nullopt), std::out_of_range);
  runs[1] = run_of({1, 40});
  runs[1].device = "another";
  CHECK(cell_of(compare(runs, 0, threshold), "levels", std::nullopt)
            .judgement.reason.starts_with("level 2 found only in the baseline; "));
}

TEST_CASE("of two devices levels of one name are one, and those of two names are not") {
  const auto named = [](const std::vector<double>& times, const std::vector<std::string>& names) {
    RunDigest run = run_of(times);
    for (ComparedFinding& each : run.results[0].findings) {
      each.level_name = names[static_cast<std::size_t>(*each.finding.level) - 1];
    }
    return run;
  };
  std::array runs{named({1, 5, 100}, {"L1", "L2", "memory"}), named({4, 90}, {"L2", "memory"})};
  runs[1].device = "another";
  Comparison made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "latency", 1).finding == nullptr);
  CHECK(cell_of(made, "latency", 2).finding->finding.value == 4);
  CHECK(cell_of(made, "latency", 3).finding->finding.value == 90);
  // Without a name the first is the first, but what is an L1 is not beside what is memory.
  runs[1] = named({4, 90}, {"", "L1"});
  runs[1].device = "another";
  made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "latency", 1).finding->finding.value == 90);
  CHECK(cell_of(made, "latency", 2).finding == nullptr);
  runs[1] = named({4, 90}, {"", "L3"});
  runs[1].device = "another";
  made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "latency", 1).finding->finding.value == 4);
  CHECK(cell_of(made, "latency", 2).finding == nullptr);
  // Of an L1 the number is known: a level 2 without a name is none.
  runs[1] = run_of({4, 90});
  for (ComparedFinding& each : runs[1].results[0].findings) ++*each.finding.level;
  runs[1].device = "another";
  made = compare(runs, 0, threshold);
  CHECK(cell_of(made, "latency", 1).finding == nullptr);
  CHECK(cell_of(made, "latency", 3).finding->finding.value == 90);
}

TEST_CASE("a level of unknown nature counts among the caches, and has no name") {
  const auto names_of = [](const std::vector<std::string>& steps) {
    RunDigest run = run_of(std::vector<double>(steps.size() + 1, 1.0));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Finding step{.name = "step", .series = "all", .level = static_cast<int>(i) + 1};
      step.label = steps[i];
      run.results[0].findings.push_back({step});
    }
    name_levels(run, false);
    std::vector<std::string> names;
    for (const ComparedFinding& each : run.results[0].findings) {
      if (each.finding.name == "latency") names.push_back(each.level_name);
    }
    names.pop_back();  // of the last level there is no step
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(names_of({"unknown", "cache", "cache"}) == Names{"", "L2", "L3"});
  CHECK(names_of({"cache", "translation", "cache"}) == Names{"L1", "TLB reach", "L2"});
  CHECK(names_of({"cache", "cache-or-far", "cache"}) == Names{"L1", "L2", "far L2"});
}

namespace {

/// A comparison of as many findings as there are p-values, all of them changes.
Comparison with_p_values(const std::vector<double>& p_values) {
  Comparison made{.counts = {{}, {}}};
  for (const double p : p_values) {
    made.made.push_back(std::make_shared<const ComparedFinding>());
    const ComparedFinding* const finding = made.made.back().get();
    ComparedRow row{.probe = "made", .baseline = finding, .cells = {{finding, {}}, {finding, {}}}};
    row.cells[1].judgement = {.verdict = Verdict::worse, .reason = "made", .p_value = p};
    made.rows.push_back(std::move(row));
  }
  return made;
}

std::vector<std::size_t> sure_rows(const Comparison& made) {
  std::vector<std::size_t> rows;
  for (const ComparedPlace& place : find_sure_changes(made)) rows.push_back(place.row);
  return rows;
}

}  // namespace

// By hand, as adjusted p-values: 4 * 0.005 = 0.02, 3 * 0.01 = 0.03, 2 * 0.03 = 0.06, and 0.04 no
// less than the one before it, 0.06.
TEST_CASE("of a family those changes hold that Holm's procedure keeps") {
  CHECK(sure_rows(with_p_values({0.01, 0.04, 0.03, 0.005})) == std::vector<std::size_t>{3, 0});
  CHECK(sure_rows(with_p_values({0.04})) == std::vector<std::size_t>{0});
  CHECK(sure_rows(with_p_values({0.04, 0.04})).empty());
  CHECK(sure_rows(with_p_values(std::vector<double>(20, 0.01))).empty());
}

// By hand: of four the i-th least is held against 0.05 i / 4: 0.0125, 0.025, 0.0375, 0.05.
TEST_CASE(
    "of several runs a side those changes hold that Benjamini and Hochberg's procedure keeps") {
  const auto rows = [](const std::vector<double>& p_values) {
    Comparison made = with_p_values(p_values);
    made.are_several = true;
    return sure_rows(made);
  };
  CHECK(rows({0.01, 0.04, 0.03, 0.005}) == std::vector<std::size_t>{3, 0, 2, 1});
  CHECK(rows({0.01, 0.06, 0.03, 0.005}) == std::vector<std::size_t>{3, 0, 2});
  CHECK(rows({0.02, 0.06, 0.06, 0.014}) == std::vector<std::size_t>{3, 0});
  CHECK(rows({0.026, 0.06, 0.06, 0.013}).empty());
  CHECK(rows(std::vector<double>(20, 0.04)).size() == 20);
  CHECK(rows({}).empty());
}

TEST_CASE("what one run a side leaves open is a family of its own") {
  Comparison made = with_p_values({0.001, 0.001, 0.3});
  CHECK(find_open_changes(made).empty());
  Judgement& open = made.rows[1].cells[1].judgement;
  open.verdict = Verdict::unclear;
  open.left_open = Verdict::worse;
  CHECK(sure_rows(made) == std::vector<std::size_t>{0});
  const std::vector<ComparedPlace> found = find_open_changes(made);
  REQUIRE(found.size() == 1);
  CHECK(found.front().row == 1);
  open.p_value = 0.2;
  CHECK(find_open_changes(made).empty());
}

TEST_CASE("findings without a change make the family larger, those without a verdict do not") {
  Comparison made = with_p_values({0.04, 0.0001, 0.0001});
  made.rows[1].cells[1].judgement.verdict = Verdict::same;
  CHECK(sure_rows(made) == std::vector<std::size_t>{2});
  made.rows[2].cells[1].judgement.verdict = Verdict::unclear;
  CHECK(sure_rows(made).empty());
  made.rows[1].cells[1].judgement = {};
  made.rows[2].cells[1].judgement = {};
  CHECK(sure_rows(made) == std::vector<std::size_t>{0});
  // A word that changed has no p-value and counts as it is.
  made.rows[0].cells[1].judgement.p_value.reset();
  CHECK(sure_rows(made) == std::vector<std::size_t>{0});
}

namespace {

/// A run with shares of 20 % whose intervals are so wide on both sides.
RunDigest shares_of(const std::vector<double>& half_widths) {
  ComparedResult result{.probe = "stalls"};
  for (const double half_width : half_widths) {
    Finding share{.name = "stall", .series = "case", .unit = "share"};
    share.label = "cause " + std::to_string(result.findings.size());
    share.value = 0.2 + 0.001 * half_width;
    share.low = *share.value - half_width;
    share.high = *share.value + half_width;
    result.findings.push_back({share});
  }
  return {.file = "a.json", .device = "Made", .results = {std::move(result)}};
}

}  // namespace

TEST_CASE("shares that cannot be compared are one row, and one alone is its own") {
  const std::array many{shares_of({0.01, 0.4, 0.5, 0.01}), shares_of({0.01, 0.45, 0.4, 0.01})};
  const Comparison made = compare(many, 0, threshold);
  CHECK(made.counts[1].unclear == 1);
  CHECK(made.counts[1].same == 2);
  REQUIRE(made.rows.size() == 5);
  CHECK(made.rows[1].cells[1].judgement.reason.empty());
  CHECK(made.rows[1].cells[1].finding != nullptr);
  const ComparedCell& together = cell_of(made, "shares", std::nullopt);
  CHECK(together.finding->finding.label == "2 of 4 decided");
  CHECK(together.judgement.verdict == Verdict::unclear);
  CHECK(together.judgement.reason.starts_with(
      "2 of 4 shares are unclear: a change of 25 % of the total"));
  const std::array one{shares_of({0.01, 0.4, 0.01}), shares_of({0.01, 0.45, 0.01})};
  const Comparison lone = compare(one, 0, threshold);
  CHECK(lone.counts[1].unclear == 1);
  CHECK(lone.rows.size() == 3);
  CHECK(lone.rows[1].cells[1].judgement.reason.find("of the total") != std::string::npos);
}

TEST_CASE("what passes with a run is one row where it is unclear, and one alone is its own") {
  const auto run_of = [](const std::vector<double>& times) {
    ComparedResult result{.probe = "launch"};
    for (const double time : times) {
      Finding finding{.name = "build_time", .unit = "seconds", .role = Role::passing};
      finding.series = "series " + std::to_string(result.findings.size());
      finding.better = Better::less;
      finding.value = time;
      finding.low = 0.99 * time;
      finding.high = 1.01 * time;
      result.findings.push_back({finding});
    }
    return RunDigest{.file = "a.json", .device = "Made", .results = {std::move(result)}};
  };
  const std::array many{run_of({1.0, 1.0, 1.0}), run_of({1.5, 1.0, 0.5})};
  const Comparison made = compare(many, 0, threshold);
  CHECK(made.counts[1].unclear == 1);
  CHECK(made.counts[1].same == 1);
  REQUIRE(made.rows.size() == 4);
  CHECK(made.rows[0].cells[1].judgement.reason.empty());
  const ComparedCell& together = cell_of(made, "passing values", std::nullopt);
  CHECK(together.finding->finding.label == "1 of 3 decided");
  CHECK(together.judgement.reason ==
        "2 of 3 passing values are unclear: values of this kind vary from run to run; compare "
        "several baseline runs with several new runs");
  const std::array one{run_of({1.0, 1.0}), run_of({1.5, 1.0})};
  CHECK(compare(one, 0, threshold).rows.size() == 2);
  // Two devices may well differ, and several runs a side tell a change.
  std::array others{run_of({1.0, 1.0}), run_of({1.5, 1.5})};
  others[1].device = "Other";
  CHECK(compare(others, 0, threshold).counts[1].worse == 2);
  std::array several{run_of({1.0, 1.0}), run_of({1.5, 1.5})};
  for (RunDigest& run : several) {
    for (ComparedFinding& each : run.results[0].findings) each.degrees = 4;
  }
  CHECK(compare(several, 0, threshold).counts[1].worse == 2);
}

}  // namespace clprobe
