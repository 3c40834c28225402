// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "clprobe/level_maps.hpp"
#include "clprobe/levels.hpp"

namespace clprobe {
namespace {

struct NamedLevel {
  double end{0.0};       ///< 0 where it is not known
  double at_least{0.0};  ///< of an end that was not reached
  std::string step{};
  std::string name{};
};
using Levels = std::map<int, NamedLevel>;
using Caches = std::map<double, std::string>;  // by their ends

constexpr std::string_view far = "far ";
constexpr std::string_view memory = "memory";

void add_finding(const Finding& finding, NamedLevel& level) {
  if (finding.name == "step") level.step = finding.label;
  if (finding.name != "capacity") return;
  level.end = finding.value.value_or(0.0);
  if (!finding.value) level.at_least = finding.low.value_or(0.0);
}

bool has_steps(const Levels& levels) {
  return std::any_of(levels.begin(), levels.end(),
                     [](const auto& each) { return !each.second.step.empty(); });
}

/// The second of two caches may be the far half of the first. A level that may be a cache or the
/// reach of a TLB has no name, but counts as a cache, as on the card.
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

/// By the nearest end of a cache. What covers both halves of one is the cache.
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

/// The last level, where it goes on beyond all caches; where the series has found these itself, or
/// none are known, so far that it is not one more.
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

/// Names the levels of a series without sizes, as other tools print them, like the levels of the
/// same numbers that another probe found.
void name_by_numbers(Levels& levels, const Levels& known) {
  const bool has_sizes = std::any_of(levels.begin(), levels.end(), [](const auto& each) {
    return each.second.end > 0.0 || each.second.at_least > 0.0;
  });
  if (has_sizes) return;
  for (auto& [number, level] : levels) {
    const auto found = known.find(number);
    if (found != known.end()) level.name = found->second.name;
  }
}

}  // namespace

void name_levels(RunDigest& run, bool is_imported) {
  std::map<std::pair<std::string_view, std::string_view>, Levels> all;  // by probe and series
  for (const ComparedResult& result : run.results) {
    for (const ComparedFinding& each : result.findings) {
      const Finding& finding = each.finding;
      if (finding.level) add_finding(finding, all[{result.probe, finding.series}][*finding.level]);
    }
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
  for (auto& [place, levels] : all) {
    if (!has_steps(levels)) name_by_ends(levels, caches);
    const bool is_of_another = known != all.end() && place.first != known->first.first;
    if (is_imported && is_of_another) name_by_numbers(levels, known->second);
    name_memory(levels, caches);
  }
  for (ComparedResult& result : run.results) {
    for (ComparedFinding& each : result.findings) {
      const Finding& finding = each.finding;
      if (finding.level) each.level_name = all[{result.probe, finding.series}][*finding.level].name;
    }
  }
}

}  // namespace clprobe
