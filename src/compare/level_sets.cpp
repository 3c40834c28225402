// SPDX-License-Identifier: Apache-2.0
// Levels that only one of two runs has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparing.hpp"

namespace clprobe {
namespace {

// Minimum ratio of two curves at the sizes of a level. Below this ratio, the curves may only have
// been divided into different levels.
constexpr double min_factor = 1.25;

/// Returns true if both runs measured at least 6 sizes of the level, and the curves differ by more
/// than `min_factor` in one direction at all of these sizes. Sets `points` to the number of sizes.
bool is_surely_absent(const ComparedResult& with, const ComparedResult& without,
                      const Finding& level, std::size_t& points) {
  // Six points differ in the same direction by chance with a probability of 2 / 2^6 = 3 % (sign
  // test).
  constexpr std::size_t min_points = 6;
  const ComparedCurve* const there = sized_curve(with, level.series);
  const ComparedCurve* const here = sized_curve(without, level.series);
  if (there == nullptr || here == nullptr) return false;
  const std::vector<double> ratios = ratios_in_level(*there, *here, level);
  points = ratios.size();
  if (points < min_points) return false;
  const auto [least, most] = std::ranges::minmax_element(ratios);
  return *least > std::log(min_factor) || *most < -std::log(min_factor);
}

/// Returns true if the curves of two runs agree within 5 % at two thirds of a level's sizes, and at
/// least at two of them, although only one run divides its curve at this level. A point in the knee
/// before a level varies from run to run.
bool is_in_both(const ComparedResult& with, const ComparedResult& without, const Finding& level) {
  constexpr double max_distance = 0.05;
  constexpr std::size_t min_points = 2;
  const ComparedCurve* const there = sized_curve(with, level.series);
  const ComparedCurve* const here = sized_curve(without, level.series);
  if (there == nullptr || here == nullptr) return false;
  const std::size_t sizes = points_in_level(*there, level);
  const auto near = static_cast<std::size_t>(
      std::ranges::count_if(ratios_in_level(*there, *here, level),
                            [](double ratio) { return std::fabs(ratio) <= max_distance; }));
  return near >= min_points && 3 * near >= 2 * sizes;
}

ComparedFinding levels_finding(std::string_view series, std::size_t count) {
  ComparedFinding compared;
  compared.finding.name = "levels";
  compared.finding.series = series;
  compared.finding.label = fmt::format("{} level{}", count, count == 1 ? "" : "s");
  return compared;
}

/// Returns the text about levels of one run: "level 2 found only in this run", "levels 1 and 3
/// found only in the baseline".
std::string lone_levels_text(const std::set<int>& numbers, std::string_view run) {
  std::string text;
  for (const int number : numbers) {
    const std::string_view separator = number == *numbers.rbegin() ? " and " : ", ";
    text += fmt::format("{}{}", text.empty() ? "" : separator, number);
  }
  return fmt::format("level{} {} found only in {}", numbers.size() == 1 ? "" : "s", text, run);
}

Judgement judge_sets(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series, const std::set<int>& lost,
                     const std::set<int>& gained, bool is_same_device) {
  Judgement judged{.verdict = Verdict::unclear};
  std::size_t sure_points = 0;
  bool are_in_both = is_same_device;
  const auto look = [&](const ComparedResult& with, const ComparedResult& without,
                        const std::set<int>& numbers) {
    const auto times = speeds_of(with, series);
    for (const int number : numbers) {
      const Finding& level = times.at(number)->finding;
      std::size_t points = 0;
      if (is_surely_absent(with, without, level, points)) {
        sure_points = std::max(sure_points, points);
      }
      are_in_both = are_in_both && is_in_both(with, without, level);
    }
  };
  look(baseline, other, lost);
  look(other, baseline, gained);
  if (!lost.empty()) judged.reason = lone_levels_text(lost, "the baseline");
  if (!gained.empty()) {
    judged.reason +=
        fmt::format("{}{}", lost.empty() ? "" : ", ", lone_levels_text(gained, "this run"));
  }
  if (are_in_both) {
    judged.verdict = Verdict::same;
    judged.p_value = 1.0;
    judged.reason += "; the curves agree there";
    return judged;
  }
  if (sure_points == 0) {
    judged.p_value = 1.0;
    judged.reason += "; the curves do not show which run is right";
    return judged;
  }
  judged.verdict = Verdict::different;
  judged.p_value = std::exp2(1.0 - static_cast<double>(sure_points));
  judged.reason += fmt::format(
      "; at all {} sizes of a level without a counterpart, the curves differ by more than {:g} %",
      sure_points, 100.0 * (min_factor - 1.0));
  return judged;
}

/// Returns true for a time or a bandwidth in any unit, by which levels can be distinguished.
bool is_speed(const Finding& finding) {
  constexpr std::array units{"seconds", "cycles", "bytes_per_second", "bytes_per_cycle"};
  return std::ranges::find(units, finding.unit) != units.end();
}

}  // namespace

std::vector<LevelSets> differing_levels(const ComparedResult& baseline, const ComparedResult& other,
                                        const LevelMaps& maps, bool is_same_device) {
  std::vector<LevelSets> found;
  for (const auto& [series, map] : maps) {
    std::set<int> lost;
    std::set<int> gained;
    const auto theirs = speeds_of(baseline, series);
    const auto ours = speeds_of(other, series);
    for (const auto& [number, time] : theirs) lost.insert(number);
    for (const auto& [number, time] : ours) {
      const auto mapped = map.find(number);
      if (mapped == map.end()) {
        gained.insert(number);
      } else {
        lost.erase(mapped->second);
      }
    }
    if (lost.empty() && gained.empty()) continue;
    LevelSets sets{.baseline = levels_finding(series, theirs.size()),
                   .other = levels_finding(series, ours.size()),
                   .judgement = judge_sets(baseline, other, series, lost, gained, is_same_device),
                   .lost = lost};
    for (const int aside : {-1, 0, 1}) {
      for (const int number : lost) sets.touched.insert(number + aside);
      for (const int number : gained) {
        const auto mapped = map.find(number + aside);
        if (mapped != map.end()) sets.touched.insert(mapped->second);
      }
    }
    found.push_back(std::move(sets));
  }
  return found;
}

bool rests_on_differing(const Finding& finding, const std::vector<LevelSets>& sets) {
  if (!finding.level || is_speed(finding)) return false;
  return std::ranges::any_of(sets, [&](const LevelSets& each) {
    return each.judgement.verdict != Verdict::same &&
           each.baseline.finding.series == finding.series && each.touched.contains(*finding.level);
  });
}

std::optional<Judgement> judge_undivided(const Finding& finding,
                                         const std::vector<LevelSets>& sets) {
  for (const LevelSets& each : sets) {
    const bool is_of_lost = each.baseline.finding.series == finding.series && finding.level &&
                            each.lost.contains(*finding.level);
    if (is_of_lost && each.judgement.verdict == Verdict::same) return each.judgement;
  }
  return std::nullopt;
}

}  // namespace clprobe
