// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "clprobe/estimate.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

constexpr std::string_view levels_method = "levels of latency";

/// "global 2", as `latency` calls it.
std::string name_of(int level) { return fmt::format("global {}", level); }

/// A cache, and up to how many distinct groups have their part of the buffers in it.
struct HeldGroups {
  int level{0};
  double bytes{0.0};
  double groups{0.0};
};

struct WorkingSet {
  double bytes{0.0};
  double groups{0.0};
  std::vector<HeldGroups> levels{};  ///< the nearest first
};

/// Nothing where the launch has no buffers or no groups that are known, or no level is.
std::optional<WorkingSet> working_set_of(const Point& point) {
  const auto shape = find_shape<Shape>(point);
  WorkingSet set;
  set.bytes = number_in(point.facts, buffer_bytes_fact).value_or(0.0);
  if (!shape || shape->groups == 0 || !(set.bytes > 0.0)) return std::nullopt;
  set.groups = static_cast<double>(shape->groups);
  for (std::size_t i = 0; i < level_facts.size(); ++i) {
    const std::optional<double> bytes = number_in(point.facts, level_facts.at(i));
    if (!bytes || !(*bytes > 0.0)) continue;
    set.levels.push_back(
        {static_cast<int>(i) + 1, *bytes, std::floor(*bytes / set.bytes * set.groups)});
  }
  if (set.levels.empty()) return std::nullopt;
  return set;
}

/// "Its buffers of 64 MiB exceed global 2 (27.2 MiB); reduced to 1024 distinct groups they fit in
/// global 2, ...".
std::string text_of(const WorkingSet& set) {
  const auto holder =
      std::find_if(set.levels.begin(), set.levels.end(),
                   [&](const HeldGroups& each) { return each.groups >= set.groups; });
  const bool is_held = holder != set.levels.end();
  const HeldGroups& level = is_held ? *holder : set.levels.back();
  std::string text =
      fmt::format("Its buffers of {} {} {} ({})", size_text(set.bytes),
                  is_held ? "fit in" : "exceed", name_of(level.level), size_text(level.bytes));
  std::string_view between = "; reduced ";
  for (auto each = std::make_reverse_iterator(holder); each != set.levels.rend(); ++each) {
    if (each->groups < 1.0) continue;
    const bool is_first = between != ", ";
    text += fmt::format("{}to {:.0f} {}in {}", between, each->groups,
                        is_first ? "distinct groups they fit " : "", name_of(each->level));
    between = ", ";
  }
  return text + '.';
}

}  // namespace

void add_working_set(std::span<const Point> points, const std::string& label, Findings& found) {
  const std::string series = label + std::string(folded_suffix);
  const auto point = std::find_if(points.begin(), points.end(),
                                  [&](const Point& each) { return each.series == series; });
  if (point == points.end()) return;
  const std::optional<WorkingSet> set = working_set_of(*point);
  if (!set) return;
  found.findings.push_back(finding_of(working_set_name, series, "bytes", levels_method, set->bytes,
                                      set->bytes, set->bytes));
  Finding sentence = finding_of(levels_name, series, {}, levels_method);
  sentence.label = text_of(*set);
  found.findings.push_back(std::move(sentence));
  for (const HeldGroups& each : set->levels) {
    if (each.groups < 1.0) continue;
    const double groups = std::min(each.groups, set->groups);
    Finding held = finding_of(level_groups_name, series, {}, levels_method, groups, groups, groups);
    held.level = each.level;
    held.label = "of " + size_text(each.bytes);
    found.findings.push_back(std::move(held));
  }
}

std::vector<CardMark> marks_of(const ProbeResult& result) {
  std::vector<CardMark> marks;
  std::vector<std::string> marked;
  for (const Point& point : result.points) {
    const bool is_marked = std::find(marked.begin(), marked.end(), point.series) != marked.end();
    if (is_marked || !point.series.ends_with(folded_suffix)) continue;
    const std::optional<WorkingSet> set = working_set_of(point);
    if (!set) continue;
    marked.push_back(point.series);
    double from = 1.0;
    for (const HeldGroups& each : set->levels) {
      const double to = std::min(each.groups, set->groups);
      if (to < from || from >= set->groups) continue;
      const bool is_open = each.groups >= set->groups;
      marks.push_back({point.series, from, to, is_open, name_of(each.level)});
      from = to;
    }
    if (from >= set->groups) continue;
    marks.push_back(
        {point.series, from, set->groups, true, "beyond " + name_of(set->levels.back().level)});
  }
  return marks;
}

}  // namespace clprobe::kernel
