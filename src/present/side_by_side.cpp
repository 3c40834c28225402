// SPDX-License-Identifier: Apache-2.0
#include "present/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "compare/api/compare.hpp"
#include "present/device_text.hpp"
#include "present/stacks.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {

const ProbeResult* find_result(const Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  return found == run.results.end() ? nullptr : &*found;
}

std::vector<std::string> probes_of(std::span<const Run> runs) {
  std::vector<std::string> probes;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      add_once(probes, result.probe);
    }
  }
  return probes;
}

std::vector<std::pair<std::size_t, const ProbeResult*>> results_of(std::span<const Run> runs,
                                                                   std::string_view probe) {
  std::vector<std::pair<std::size_t, const ProbeResult*>> results;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result != nullptr) results.emplace_back(run, result);
  }
  return results;
}

namespace {

/// Returns the series of a probe in all runs, without repetitions. A series that the first run
/// lacks follows the series that precedes it in its own run. Example: a series per peer device,
/// where each device's run lacks the device itself.
std::vector<std::string_view> joint_series_of(std::span<const Run> runs, const std::string& probe) {
  std::vector<std::string_view> order;
  for (const auto& [run, result] : results_of(runs, probe)) {
    auto place = order.begin();
    for (const Finding& each : result->findings) {
      auto found = std::ranges::find(order, each.series);
      if (found == order.end()) found = order.insert(place, each.series);
      place = std::next(found);
    }
  }
  return order;
}

/// Number of positions per level of the first run: one for the level, and the others for levels
/// after it that the first run lacks.
constexpr int positions_per_level = 64;

/// Adds the positions of a series' levels in a run. `map`: corresponding levels of the first run;
/// null if levels with equal numbers correspond.
void add_positions(LevelPositions& positions, std::string_view series, const std::set<int>& levels,
                   const LevelMap* map) {
  int last = 0;
  for (const int level : levels) {
    const auto paired = map == nullptr ? LevelMap::const_iterator() : map->find(level);
    const bool is_paired = map == nullptr || paired != map->end();
    last = is_paired ? positions_per_level * (map == nullptr ? level : paired->second) : last + 1;
    positions.emplace(std::pair(series, level), last);
  }
}

std::map<std::string_view, std::set<int>> levels_by_series(const ProbeResult& result) {
  std::map<std::string_view, std::set<int>> levels;
  for (const Finding& each : result.findings) {
    if (each.level) levels[each.series].insert(*each.level);
  }
  return levels;
}

const ComparedResult& digested(const RunDigest& run, std::string_view probe) {
  return *std::ranges::find(run.results, probe, &ComparedResult::probe);
}

}  // namespace

SideBySide::SideBySide(std::span<const Run> runs) : runs_(runs) {
  if (runs.size() < 2) return;
  for (Run run : runs) {
    std::ranges::move(run.unshown, std::back_inserter(run.results));
    digests_.push_back(digest(run, ""));
  }
}

std::vector<LevelPositions> SideBySide::level_positions(std::string_view probe) const {
  std::vector<LevelPositions> all(runs_.size());
  std::map<std::string_view, std::size_t> first_with;
  for (const auto& [run, result] : results_of(runs_, probe)) {
    for (const auto& [series, levels] : levels_by_series(*result)) {
      const std::size_t first = first_with.emplace(series, run).first->second;
      LevelMaps maps;
      if (first != run) {
        maps = paired_levels(digested(digests_[first], probe), digested(digests_[run], probe),
                             are_of_one_device(digests_[first], digests_[run]));
      }
      const auto map = maps.find(series);
      add_positions(all[run], series, levels, map == maps.end() ? nullptr : &map->second);
    }
  }
  return all;
}

std::string position_text(int position) {
  return std::to_string(position / positions_per_level) +
         std::string(static_cast<std::size_t>(position % positions_per_level), '+');
}

namespace {

/// Returns the position of the finding's level; 0 for a finding without a level.
int position_of(const LevelPositions& positions, const Finding& finding) {
  return finding.level ? positions.at({finding.series, *finding.level}) : 0;
}

/// True if the table of several runs may have the finding: not advice, and not a share of a bar.
bool is_shared(const Finding& finding) {
  return !is_told_by_label(finding) && finding.role != Role::advice;
}

/// Returns the names of findings that have a value in at least one run, in order of first
/// appearance.
std::vector<std::string> names_of(std::span<const Run> runs, const std::string& probe) {
  std::vector<std::string> names;
  for (const auto& [run, result] : results_of(runs, probe)) {
    for (const Finding& each : result->findings) {
      if (is_shared(each) && !value_text(each).empty()) add_once(names, each.name);
    }
  }
  return names;
}

/// Rows of the table: by index of the series, position of the level and index of the finding's
/// name, the finding of each run (null if the run lacks it).
using SharedRows =
    std::map<std::tuple<std::ptrdiff_t, int, std::ptrdiff_t>, std::vector<const Finding*>>;

/// True if the table has the row in the form `form`. `timed`: series, level position and run of
/// each time, which makes cycles redundant.
bool is_shown(const SharedRows::value_type& row, Form form,
              const std::set<std::tuple<std::ptrdiff_t, int, std::size_t>>& timed) {
  const auto& [key, cells] = row;
  for (std::size_t run = 0; run < cells.size(); ++run) {
    const Finding* const finding = cells[run];
    if (finding == nullptr) continue;
    const bool is_repeated =
        finding->unit == "cycles" && timed.contains({std::get<0>(key), std::get<1>(key), run});
    const bool is_headline =
        finding->role == Role::headline && (finding->value || is_open(*finding));
    if (form == Form::whole || (is_headline && !is_repeated)) return true;
  }
  return false;
}

std::vector<Stack> first_view(const Run& run, const std::string& probe) {
  const ProbeResult* const result = find_result(run, probe);
  if (result == nullptr) return {};
  std::vector<std::vector<Stack>> views = views_of(result->findings);
  return views.empty() ? std::vector<Stack>{} : std::move(views.front());
}

const StackPart* largest_cause(const Stack& stack) {
  const StackPart* largest = nullptr;
  for (const StackPart& part : stack.parts) {
    const bool is_cause = part.label != stack_remainder && part.is_resolved;
    if (is_cause && (largest == nullptr || part.share > largest->share)) largest = &part;
  }
  return largest;
}

/// Adds a row for each cause that is the largest cause of a bar in at least one run.
void add_causes(std::span<const Run> runs, const std::string& probe, Table& table) {
  std::vector<std::vector<Stack>> stacks;
  stacks.reserve(runs.size());
  for (const Run& run : runs) stacks.push_back(first_view(run, probe));
  std::vector<std::string> bars;
  std::map<std::string, std::vector<std::string>> causes;  // largest causes by bar
  for (const std::vector<Stack>& of_run : stacks) {
    for (const Stack& stack : of_run) {
      const StackPart* const largest = largest_cause(stack);
      if (largest == nullptr) continue;
      if (!causes.contains(stack.bar)) bars.push_back(stack.bar);
      std::vector<std::string>& labels = causes[stack.bar];
      add_once(labels, largest->label);
    }
  }
  for (const std::string& bar : bars) {
    for (const std::string& label : causes[bar]) {
      const std::size_t colon = label.find(": ");
      std::vector<Cell> cells{
          {bar + ":"}, {}, {colon == std::string::npos ? label : label.substr(colon + 2)}};
      for (const std::vector<Stack>& of_run : stacks) {
        const auto stack = std::ranges::find(of_run, bar, &Stack::bar);
        const StackPart* const part = stack == of_run.end() ? nullptr : part_of(*stack, label);
        const bool is_resolved = part != nullptr && part->is_resolved;
        cells.push_back({part == nullptr ? ""
                         : is_resolved   ? quantity_text(part->share, "share")
                                         : std::string(stack_not_resolved)});
      }
      table.rows.push_back(std::move(cells));
    }
  }
}

}  // namespace

std::string shared_text(const Finding* finding, std::string_view nothing) {
  if (finding == nullptr) return std::string(nothing);
  const std::string value = value_text(*finding);
  if (is_at_one_size(*finding)) return value + " " + finding->method;
  return value.empty() ? short_reason(reason_text(*finding)) : value;
}

Table SideBySide::table(const std::string& probe, Form form) const {
  Table table{.title = "Findings, devices side by side",
              .kind = "findings shared",
              .head = {probe, "level", "finding"},
              .names = 3,
              .is_of_devices = true};
  for (std::string& title : run_titles(runs_)) table.head.push_back(std::move(title));
  const auto results = results_of(runs_, probe);
  if (results.size() < 2) return table;
  const std::vector<std::string> names = names_of(runs_, probe);
  const std::vector<std::string_view> order = joint_series_of(runs_, probe);
  const std::vector<LevelPositions> positions = level_positions(probe);
  SharedRows rows;
  std::set<std::tuple<std::ptrdiff_t, int, std::size_t>> timed;
  for (const auto& [run, result] : results) {
    for (const Finding& each : result->findings) {
      const auto name = std::ranges::find(names, each.name);
      if (!is_shared(each) || name == names.end()) continue;
      const auto series = std::ranges::find(order, each.series) - order.begin();
      const int position = position_of(positions[run], each);
      std::vector<const Finding*>& cells = rows[{series, position, name - names.begin()}];
      cells.resize(runs_.size(), nullptr);
      if (cells[run] == nullptr) cells[run] = &each;
      if (each.unit == "seconds" && each.value) timed.insert({series, position, run});
    }
  }
  for (const auto& row : rows) {
    if (!is_shown(row, form, timed)) continue;
    const auto& [series, position, name] = row.first;
    std::vector<Cell> cells{{std::string(order[static_cast<std::size_t>(series)])},
                            {position == 0 ? "" : position_text(position)},
                            {words(names[static_cast<std::size_t>(name)])}};
    for (const Finding* const finding : row.second) {
      cells.push_back(
          {shared_text(finding, ""), finding == nullptr ? "" : interval_text(*finding)});
    }
    const bool has_text = std::any_of(cells.begin() + 3, cells.end(),
                                      [](const Cell& cell) { return !cell.text.empty(); });
    if (has_text) table.rows.push_back(std::move(cells));
  }
  add_causes(runs_, probe, table);
  return table;
}

void add_side_by_side(Page& page, std::span<const Run> runs, Form form) {
  Table all{.head = {"probe", "finding"}, .names = 2, .is_of_devices = true};
  for (std::string& title : run_titles(runs)) all.head.push_back(std::move(title));
  const SideBySide side_by_side(runs);
  for (const std::string& probe : probes_of(runs)) {
    const Table table = side_by_side.table(probe, form);
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < table.names; ++i) {
        if (!row[i].text.empty()) names.push_back(row[i].text);
      }
      std::vector<Cell> cells{{probe}, {fmt::format("{}", fmt::join(names, " "))}};
      for (std::size_t i = table.names; i < row.size(); ++i) cells.push_back({row[i].text});
      all.rows.push_back(std::move(cells));
    }
  }
  if (!all.rows.empty()) add_table(page, all, Form::usual);
}

}  // namespace clprobe::report
