// SPDX-License-Identifier: Apache-2.0
// Matching of the findings and levels of two runs, and the names of levels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/stacks.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels) {
  std::map<Key, const ComparedFinding*> found;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    int level = finding.level.value_or(0);
    if (const auto map = levels.find(finding.series); map != levels.end() && level > 0) {
      const auto mapped = map->second.find(level);
      // A level without a counterpart must not replace a level of the baseline.
      level = mapped == map->second.end() ? -level : mapped->second;
    }
    int repeat = 0;
    const bool is_part = is_share_of_bar(finding);
    // A finding at a single size ("at 1 GiB") matches only a finding at the same size.
    const bool has_view = is_part || is_at_one_size(finding);
    const std::string_view view = has_view ? finding.method : std::string_view();
    const std::string_view label = is_part ? finding.label : std::string_view();
    while (!found.emplace(Key{finding.series, level, finding.name, view, label, repeat}, &each)
                .second) {
      ++repeat;
    }
  }
  return found;
}

namespace {

// Maximum ratio of the times of two corresponding levels, if one run lacks a level. With a larger
// ratio, the levels are probably different levels.
constexpr double max_factor = 1.5;

/// Numbers of a series' levels, and the logarithms of their times.
using LevelTimes = std::vector<std::pair<int, double>>;

LevelTimes level_times(const ComparedResult& result, std::string_view series) {
  LevelTimes times;
  for (const auto& [number, time] : speeds_of(result, series)) {
    times.emplace_back(number, std::log(*time->finding.value));
  }
  return times;
}

/// Returns pairs of levels, in order, whose times are as close as possible. As many levels as
/// possible have a partner, but the times of a pair differ at most by a factor of `max_apart`.
/// Source: the alignment of Needleman and Wunsch (1970).
LevelMap align_levels(const LevelTimes& baseline, const LevelTimes& other, double max_apart) {
  // Two unpaired levels cost as much as a pair whose times differ by `max_apart`. If `max_apart` is
  // infinite, two unpaired levels cost more than any pair.
  const double unpaired = std::min(std::log(max_apart), 1e3) / 2.0;
  const std::size_t columns = other.size() + 1;
  // cost[i * columns + j] is the minimum cost for the first i levels of the baseline and the first
  // j levels of the other run.
  std::vector<double> cost((baseline.size() + 1) * columns);
  for (std::size_t i = 0; i <= baseline.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double& least = cost[i * columns + j];
      least = static_cast<double>(i + j) * unpaired;
      if (i == 0 || j == 0) continue;
      least =
          std::min({cost[(i - 1) * columns + j] + unpaired, cost[i * columns + j - 1] + unpaired,
                    cost[(i - 1) * columns + j - 1] +
                        std::fabs(baseline[i - 1].second - other[j - 1].second)});
    }
  }
  LevelMap map;
  for (std::size_t i = baseline.size(), j = other.size(); i > 0 && j > 0;) {
    // If pairings have equal costs, the first levels are paired.
    if (cost[i * columns + j] >= cost[i * columns + j - 1] + unpaired) {
      --j;
    } else if (cost[i * columns + j] >= cost[(i - 1) * columns + j] + unpaired) {
      --i;
    } else {
      map[other[--j].first] = baseline[--i].first;
    }
  }
  return map;
}

/// Returns true if the times of the curve `without`, at the sizes of the level, are nearer to the
/// level's time than to the time of the paired level. The two levels are then different levels.
bool stays_here(const ComparedCurve& with, const ComparedCurve& without, const Finding& level,
                double change) {
  const std::vector<double> ratios = ratios_in_level(with, without, level);
  return !ratios.empty() && median(ratios) / change < 0.5;
}

/// Removes pairs of different levels: their times differ, but the two curves agree at the sizes of
/// one of the levels. Returns true if a pair was removed.
bool take_other_levels_out(const ComparedResult& baseline, const ComparedResult& other,
                           std::string_view series, LevelMap& map) {
  // With a smaller ratio of times, the two levels may be one level with scattered points.
  constexpr double min_factor = 1.15;
  const ComparedCurve* const there = sized_curve(baseline, series);
  const ComparedCurve* const here = sized_curve(other, series);
  if (there == nullptr || here == nullptr) return false;
  const auto ours = speeds_of(other, series);
  const auto theirs = speeds_of(baseline, series);
  return std::erase_if(map, [&](const auto& pair) {
           const Finding& after = ours.at(pair.first)->finding;
           const Finding& before = theirs.at(pair.second)->finding;
           const double change = std::log(*after.value / *before.value);
           if (std::fabs(change) <= std::log(min_factor)) return false;
           return stays_here(*there, *here, before, change) ||
                  stays_here(*here, *there, after, -change);
         }) > 0;
}

/// Returns true if the run searched for the end of a level and did not reach the end.
bool is_memory(const ComparedResult& result, std::string_view series, int level) {
  return std::ranges::any_of(result.findings, [&](const auto& each) {
    const Finding& finding = each.finding;
    return finding.series == series && finding.level == level && finding.name == "capacity" &&
           !finding.value;
  });
}

bool have_same_numbers(const LevelTimes& a, const LevelTimes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& two) { return one.first == two.first; });
}

struct SharedSeries {
  std::string_view series{};
  LevelTimes theirs{};  ///< levels of the baseline
  LevelTimes ours{};
};

/// Returns the series that have levels in both results.
std::vector<SharedSeries> shared_series(const ComparedResult& baseline,
                                        const ComparedResult& other) {
  std::vector<SharedSeries> shared;
  std::set<std::string_view> seen;
  for (const ComparedFinding& each : baseline.findings) {
    const std::string_view series = each.finding.series;
    if (!seen.insert(series).second) continue;
    SharedSeries both{series, level_times(baseline, series), level_times(other, series)};
    if (!both.theirs.empty() && !both.ours.empty()) shared.push_back(std::move(both));
  }
  return shared;
}

/// Returns pairs of levels of two devices that have no names in common. If `are_first`, the first
/// levels are a pair. If both devices end in memory, the last levels are a pair. Levels between
/// them are paired in order.
LevelMap align_unnamed(LevelTimes theirs, LevelTimes ours, bool are_first, bool end_in_memory) {
  LevelMap map;
  if (ours.empty() || theirs.empty()) return map;
  if (are_first) {
    map.emplace(ours.front().first, theirs.front().first);
    ours.erase(ours.begin());
    theirs.erase(theirs.begin());
  }
  if (end_in_memory && !ours.empty() && !theirs.empty()) {
    map.emplace(ours.back().first, theirs.back().first);
    ours.pop_back();
    theirs.pop_back();
  }
  map.merge(align_levels(theirs, ours, HUGE_VAL));
  return map;
}

struct NamedLevels {
  LevelTimes times{};
  std::map<int, std::string_view> names{};  ///< names by level number; an unknown name is empty
  bool end_in_memory{false};

  NamedLevels(const ComparedResult& result, LevelTimes levels, std::string_view series)
      : times(std::move(levels)), end_in_memory(is_memory(result, series, times.back().first)) {
    for (const auto& [number, finding] : speeds_of(result, series)) {
      names[number] = finding->level_name;
    }
  }

  /// Removes the levels up to and including `end`, and returns the levels before `end`.
  LevelTimes take(LevelTimes::const_iterator end) {
    LevelTimes before(times.cbegin(), end);
    times.erase(times.cbegin(), end == times.cend() ? end : std::next(end));
    return before;
  }
};

/// Returns true if a level called `name` can have the number `number`. For example, an L1 cannot be
/// level 2.
bool can_be_level(std::string_view name, int number) {
  const bool has_number = name.size() == 2 && name.front() == 'L';
  return !has_number || name.back() - '0' == number;
}

/// Returns pairs of levels of two devices, matched by name before time. An L2 never matches an L1,
/// even if one run lacks its first level. Memory never matches a cache.
LevelMap levels_of_two_devices(NamedLevels theirs, NamedLevels ours) {
  LevelMap map;
  bool are_first = true;
  for (const auto& [number, time] : LevelTimes(ours.times)) {
    const std::string_view name = ours.names[number];
    const auto there = std::find_if(
        theirs.times.cbegin(), theirs.times.cend(),
        [&](const auto& it) { return !name.empty() && theirs.names[it.first] == name; });
    if (there == theirs.times.cend()) continue;
    map[number] = there->first;
    const auto here = std::find(ours.times.cbegin(), ours.times.cend(), std::pair(number, time));
    map.merge(align_unnamed(theirs.take(there), ours.take(here), are_first, false));
    are_first = false;
  }
  map.merge(align_unnamed(theirs.times, ours.times, are_first,
                          theirs.end_in_memory && ours.end_in_memory));
  std::erase_if(map, [&](const auto& pair) {
    const std::string_view here = ours.names[pair.first];
    const std::string_view there = theirs.names[pair.second];
    if (here.empty()) return !can_be_level(there, pair.first);
    return there.empty() ? !can_be_level(here, pair.second) : here != there;
  });
  return map;
}

}  // namespace

std::map<int, const ComparedFinding*> speeds_of(const ComparedResult& result,
                                                std::string_view series) {
  std::map<int, const ComparedFinding*> speeds;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    const bool is_in_seconds = finding.unit == "seconds" || finding.unit == "bytes_per_second";
    if (finding.series != series || !finding.level || !is_in_seconds) continue;
    if (finding.value.value_or(0.0) > 0.0) speeds.emplace(*finding.level, &each);
  }
  return speeds;
}

LevelMaps level_maps(const ComparedResult& baseline, const ComparedResult& other) {
  LevelMaps maps;
  for (const auto& [series, theirs, ours] : shared_series(baseline, other)) {
    if (have_same_numbers(theirs, ours)) {
      // Pairs the n-th level with the n-th level.
      LevelMap in_order = align_levels(theirs, ours, HUGE_VAL);
      if (!take_other_levels_out(baseline, other, series, in_order)) continue;
    }
    // A run with as many levels as the baseline may lack the first level, and number the second
    // level as the first.
    LevelMap map = align_levels(theirs, ours, max_factor);
    take_other_levels_out(baseline, other, series, map);
    maps[series] = std::move(map);
  }
  return maps;
}

LevelMaps paired_levels(const ComparedResult& baseline, const ComparedResult& other,
                        bool is_same_device) {
  if (is_same_device) return level_maps(baseline, other);
  LevelMaps maps;
  for (const auto& [series, theirs, ours] : shared_series(baseline, other)) {
    maps[series] = levels_of_two_devices({baseline, theirs, series}, {other, ours, series});
  }
  return maps;
}

namespace {

struct NamedLevel {
  double end{0.0};       ///< size in bytes at the end of the level; 0 if unknown
  double at_least{0.0};  ///< lower bound of an end that the run did not reach
  std::string step{};
  std::string name{};
};
using Levels = std::map<int, NamedLevel>;
using Caches = std::map<double, std::string>;  // names of caches, by size in bytes

constexpr std::string_view far = "far ";
constexpr std::string_view memory = "memory";

void add_finding(const Finding& finding, NamedLevel& level) {
  if (finding.name == "step") level.step = finding.label;
  if (finding.name != "capacity") return;
  level.end = finding.value.value_or(0.0);
  if (!finding.value) level.at_least = finding.low.value_or(0.0);
}

bool has_steps(const Levels& levels) {
  return std::ranges::any_of(levels, [](const auto& each) { return !each.second.step.empty(); });
}

/// Names the levels of a series by their steps, and adds the caches to `caches`. The second of two
/// caches may be the far half of the first cache. A level that is either a cache or the reach of a
/// TLB counts as a cache, as in reports, but gets no name.
void name_by_steps(Levels& levels, Caches& caches) {
  if (!has_steps(levels)) return;
  int count = 0;
  bool is_far = false;
  for (auto& [number, level] : levels) {
    const bool may_be_half = level.step == to_word(StepKind::cache_or_far);
    if (level.step == memory) level.name = memory;
    if (level.step == to_word(StepKind::translation)) level.name = "TLB reach";
    const bool is_cache = level.step == to_word(StepKind::cache) || may_be_half;
    if (!is_cache && level.name.empty()) ++count;
    if (is_cache) {
      level.name = fmt::format("{}L{}", is_far ? far : "", is_far ? count : ++count);
      if (level.end > 0.0) caches.emplace(level.end, level.name);
    }
    is_far = may_be_half && !is_far;
  }
}

/// Names each level by the cache whose end is nearest, within a factor of 1.5. A level that covers
/// both halves of a cache gets the name of the whole cache.
void name_by_ends(Levels& levels, const Caches& caches) {
  std::string before;
  for (auto& [number, level] : levels) {
    double nearest = std::log(1.5);
    for (const auto& [end, name] : caches) {
      const double apart = level.end > 0.0 ? std::fabs(std::log(level.end / end)) : HUGE_VAL;
      if (apart < nearest) level.name = name;
      nearest = std::min(nearest, apart);
    }
    const bool is_far = level.name.starts_with(far);
    if (is_far && before != level.name.substr(far.size())) level.name.erase(0, far.size());
    before = level.name;
  }
}

/// Names the last level "memory" if it extends beyond all known caches and beyond 1 MiB. In a
/// series with its own steps, or without known caches, the level must also extend to 4 times the
/// end of the previous level. A shorter level may be another cache.
void name_memory(Levels& levels, const Caches& caches) {
  constexpr double min_bytes = 1 << 20;
  if (levels.size() < 2) return;
  NamedLevel& last = std::prev(levels.end())->second;
  double end = caches.empty() ? min_bytes : std::max(min_bytes, caches.rbegin()->first);
  if (has_steps(levels) || caches.empty()) {
    end = std::max(end, 4.0 * std::prev(levels.end(), 2)->second.end);
  }
  if (last.name.empty() && last.at_least >= end) last.name = memory;
}

/// Gives each level of a series the name of the level with the same number in `known`, a series of
/// another probe. Does nothing if the series has sizes.
void name_by_numbers(Levels& levels, const Levels& known) {
  const bool has_sizes = std::ranges::any_of(
      levels, [](const auto& each) { return each.second.end > 0.0 || each.second.at_least > 0.0; });
  if (has_sizes) return;
  for (auto& [number, level] : levels) {
    const auto found = known.find(number);
    if (found != known.end()) level.name = found->second.name;
  }
}

/// A finding of a level, and the probe that made it.
struct LevelFinding {
  std::string_view probe{};
  const Finding* finding{nullptr};
};

/// Levels by probe and series.
using AllLevels = std::map<std::pair<std::string_view, std::string_view>, Levels>;

AllLevels named_levels(std::span<const LevelFinding> findings, bool is_imported) {
  AllLevels all;
  for (const auto& [probe, finding] : findings) {
    add_finding(*finding, all[{probe, finding->series}][*finding->level]);
  }
  Caches caches;
  auto known = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    name_by_steps(each->second, caches);
    const bool begins_with_step = !each->second.begin()->second.step.empty();
    if (begins_with_step && (known == all.end() || each->second.size() > known->second.size())) {
      known = each;
    }
  }
  for (auto& [key, levels] : all) {
    if (!has_steps(levels)) name_by_ends(levels, caches);
    const bool is_of_another = known != all.end() && key.first != known->first.first;
    if (is_imported && is_of_another) name_by_numbers(levels, known->second);
    name_memory(levels, caches);
  }
  return all;
}

}  // namespace

void name_levels(RunDigest& run, bool is_imported) {
  std::vector<LevelFinding> findings;
  for (const ComparedResult& result : run.results) {
    for (const ComparedFinding& each : result.findings) {
      if (each.finding.level) findings.push_back({result.probe, &each.finding});
    }
  }
  AllLevels all = named_levels(findings, is_imported);
  for (ComparedResult& result : run.results) {
    for (ComparedFinding& each : result.findings) {
      const Finding& finding = each.finding;
      if (finding.level) each.level_name = all[{result.probe, finding.series}][*finding.level].name;
    }
  }
}

std::map<int, std::string> level_names(const Run& run, std::string_view probe,
                                       std::string_view series) {
  std::vector<LevelFinding> findings;
  for (const ProbeResult& result : run.results) {
    for (const Finding& each : result.findings) {
      if (each.level) findings.push_back({result.probe, &each});
    }
  }
  AllLevels all = named_levels(findings, run.imported.has_value());
  std::map<int, std::string> names;
  for (const auto& [number, level] : all[{probe, series}]) names[number] = level.name;
  return names;
}

}  // namespace clprobe
