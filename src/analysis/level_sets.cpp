// SPDX-License-Identifier: Apache-2.0
#include "analysis/level_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "analysis/brackets.hpp"
#include "analysis/finding_error.hpp"

namespace clprobe {
namespace {

// That so many points lie on one side by chance has a probability of 2 / 2^6 = 3 % (sign test).
constexpr std::size_t min_points = 6;

// Curves that are nearer than that at the sizes of a level may have been cut in another way.
constexpr double min_factor = 1.25;

/// Whether the run without the level measured its sizes, and other times at all of them.
bool is_surely_absent(const ComparedResult& with, const ComparedResult& without,
                      const Finding& level, std::size_t& points) {
  const ComparedCurve* const there = sized_curve(with, level.series);
  const ComparedCurve* const here = sized_curve(without, level.series);
  if (there == nullptr || here == nullptr) return false;
  const std::vector<double> ratios = ratios_in_level(*there, *here, level);
  points = ratios.size();
  if (points < min_points) return false;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return *least > std::log(min_factor) || *most < -std::log(min_factor);
}

ComparedFinding levels_finding(std::string_view series, std::size_t count) {
  ComparedFinding compared;
  compared.finding.name = "levels";
  compared.finding.series = series;
  compared.finding.label = fmt::format("{} level{}", count, count == 1 ? "" : "s");
  return compared;
}

/// "level 2 only in this run", "levels 1 and 3 only in the baseline".
std::string lone_levels_text(const std::set<int>& numbers, std::string_view run) {
  std::string text;
  for (const int number : numbers) {
    const std::string_view separator = number == *numbers.rbegin() ? " and " : ", ";
    text += fmt::format("{}{}", text.empty() ? "" : separator, number);
  }
  return fmt::format("level{} {} only in {}", numbers.size() == 1 ? "" : "s", text, run);
}

Judgement judge_sets(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series, const std::set<int>& lost,
                     const std::set<int>& gained) {
  Judgement judged{.verdict = Verdict::unclear};
  std::size_t sure_points = 0;
  const auto look = [&](const ComparedResult& with, const ComparedResult& without,
                        const std::set<int>& numbers) {
    const auto times = speeds_of(with, series);
    for (const int number : numbers) {
      std::size_t points = 0;
      if (is_surely_absent(with, without, times.at(number)->finding, points)) {
        sure_points = std::max(sure_points, points);
      }
    }
  };
  look(baseline, other, lost);
  look(other, baseline, gained);
  if (!lost.empty()) judged.reason = lone_levels_text(lost, "the baseline");
  if (!gained.empty()) {
    judged.reason +=
        fmt::format("{}{}", lost.empty() ? "" : ", ", lone_levels_text(gained, "this run"));
  }
  if (sure_points == 0) {
    judged.p_value = 1.0;
    judged.reason += "; the curves do not show which run is right";
    return judged;
  }
  judged.verdict = Verdict::different;
  judged.p_value = std::exp2(1.0 - static_cast<double>(sure_points));
  judged.reason += fmt::format("; at all {} sizes of such a level the curves differ by over {:g} %",
                               sure_points, 100.0 * (min_factor - 1.0));
  return judged;
}

}  // namespace

std::vector<LevelSets> differing_levels(const ComparedResult& baseline, const ComparedResult& other,
                                        const LevelMaps& maps) {
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
                   .judgement = judge_sets(baseline, other, series, lost, gained)};
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
  return std::any_of(sets.begin(), sets.end(), [&](const LevelSets& each) {
    return each.baseline.finding.series == finding.series && each.touched.contains(*finding.level);
  });
}

}  // namespace clprobe
