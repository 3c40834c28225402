// SPDX-License-Identifier: Apache-2.0
#include "analysis/level_maps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace clprobe {
namespace {

// Where levels are missing anyhow, two whose times are further apart are more likely two levels.
constexpr double max_factor = 1.5;

/// The logarithm of the time of each level of a series, and the levels' numbers.
std::vector<std::pair<int, double>> level_times(const ComparedResult& result,
                                                std::string_view series) {
  std::vector<std::pair<int, double>> times;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    if (finding.series != series || !finding.level || finding.unit != "seconds") continue;
    if (!finding.value || !(*finding.value > 0.0)) continue;
    const auto is_same = [&](const auto& time) { return time.first == *finding.level; };
    if (std::any_of(times.begin(), times.end(), is_same)) continue;
    times.emplace_back(*finding.level, std::log(*finding.value));
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Pairs all of the fewer levels with as many of the others, in order, so that the times of a pair
/// are as near as can be: one level more or less must not shift all that come after it.
/// Source: the alignment of Needleman and Wunsch (1970), with gaps in the longer one alone.
LevelMap align_levels(const std::vector<std::pair<int, double>>& baseline,
                      const std::vector<std::pair<int, double>>& other) {
  const bool is_swapped = baseline.size() > other.size();
  const auto& few = is_swapped ? other : baseline;
  const auto& many = is_swapped ? baseline : other;
  const std::size_t columns = many.size() + 1;
  // cost[i * columns + j]: of the first i of the few among the first j of the many.
  std::vector<double> cost((few.size() + 1) * columns, HUGE_VAL);
  std::fill_n(cost.begin(), columns, 0.0);
  for (std::size_t i = 1; i <= few.size(); ++i) {
    for (std::size_t j = i; j < columns; ++j) {
      const double paired =
          cost[(i - 1) * columns + j - 1] + std::fabs(few[i - 1].second - many[j - 1].second);
      cost[i * columns + j] = std::min(cost[i * columns + j - 1], paired);
    }
  }
  LevelMap map;
  std::size_t j = many.size();
  for (std::size_t i = few.size(); i > 0; --i) {
    while (j > i && cost[i * columns + j - 1] <= cost[i * columns + j]) --j;
    const auto [of_few, of_many] = std::pair(few[i - 1].first, many[j - 1].first);
    const double apart = std::fabs(few[i - 1].second - many[j - 1].second);
    if (apart <= std::log(max_factor)) {
      map[is_swapped ? of_few : of_many] = is_swapped ? of_many : of_few;
    }
    --j;
  }
  return map;
}

}  // namespace

std::map<std::string_view, LevelMap> level_maps(const ComparedResult& baseline,
                                                const ComparedResult& other) {
  std::map<std::string_view, LevelMap> maps;
  for (const ComparedFinding& each : baseline.findings) {
    const std::string_view series = each.finding.series;
    if (maps.contains(series)) continue;
    const auto ours = level_times(other, series);
    const auto theirs = level_times(baseline, series);
    const bool has_both = !ours.empty() && !theirs.empty();
    if (has_both && ours.size() != theirs.size()) {
      maps[series] = align_levels(theirs, ours);
    }
  }
  return maps;
}

}  // namespace clprobe
