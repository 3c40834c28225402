// SPDX-License-Identifier: Apache-2.0
#include "report/side_by_side.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "clprobe/compare.hpp"
#include "clprobe/one_size.hpp"
#include "clprobe/stacks.hpp"

namespace clprobe::report {

const ProbeResult* find_result(const Run& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ProbeResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
}

std::vector<std::string> probes_of(std::span<const Run> runs) {
  std::vector<std::string> probes;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      if (std::find(probes.begin(), probes.end(), result.probe) == probes.end()) {
        probes.push_back(result.probe);
      }
    }
  }
  return probes;
}

namespace {

/// The series of a probe in all runs. One that a run alone has stands behind the one that is before
/// it there: of devices side by side each lacks itself among its peers.
std::vector<std::string_view> series_of(std::span<const Run> runs, const std::string& probe) {
  std::vector<std::string_view> order;
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    if (result == nullptr) continue;
    auto place = order.begin();
    for (const Finding& each : result->findings) {
      auto found = std::find(order.begin(), order.end(), each.series);
      if (found == order.end()) found = order.insert(place, each.series);
      place = std::next(found);
    }
  }
  return order;
}

/// Places of levels that the first run lacks, after each of its own.
constexpr int places_per_level = 64;

/// Level places of one series of a run; `map` is null where levels correspond by number.
void add_places(LevelPlaces& places, std::string_view series, const std::set<int>& levels,
                const LevelMap* map) {
  int last = 0;
  for (const int level : levels) {
    const auto paired = map == nullptr ? LevelMap::const_iterator() : map->find(level);
    const bool is_paired = map == nullptr || paired != map->end();
    last = is_paired ? places_per_level * (map == nullptr ? level : paired->second) : last + 1;
    places.emplace(std::pair(series, level), last);
  }
}

std::map<std::string_view, std::set<int>> levels_by_series(const ProbeResult& result) {
  std::map<std::string_view, std::set<int>> levels;
  for (const Finding& each : result.findings) {
    if (each.level) levels[each.series].insert(*each.level);
  }
  return levels;
}

/// What `compare` knows of the levels of one result.
ComparedResult digest_of(const Run& run, const ProbeResult& result) {
  Run alone;
  alone.device = run.device;
  alone.results = {result};
  return std::move(digest(alone, "").results.back());
}

}  // namespace

std::vector<LevelPlaces> level_places(std::span<const Run> runs, std::string_view probe) {
  std::vector<LevelPlaces> all(runs.size());
  std::vector<ComparedResult> digests(runs.size());
  std::map<std::string_view, std::size_t> first_with;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    if (runs.size() > 1) digests[run] = digest_of(runs[run], *result);
    for (const auto& [series, levels] : levels_by_series(*result)) {
      const std::size_t first = first_with.emplace(series, run).first->second;
      LevelMaps maps;
      if (first != run) {
        maps = paired_levels(digests[first], digests[run],
                             runs[first].device.name == runs[run].device.name);
      }
      const auto map = maps.find(series);
      add_places(all[run], series, levels, map == maps.end() ? nullptr : &map->second);
    }
  }
  return all;
}

std::string place_text(int place) {
  return std::to_string(place / places_per_level) +
         std::string(static_cast<std::size_t>(place % places_per_level), '+');
}

namespace {

/// The place of a finding's level; nothing of one that has none.
std::optional<int> place_of(const LevelPlaces& places, const Finding& finding) {
  if (!finding.level) return std::nullopt;
  return places.at({finding.series, *finding.level});
}

SharedGrid compare_probe(std::span<const Run> runs, const std::string& probe) {
  // Arranged together, so that the rows are the union in one order; then dealt out again.
  std::vector<Finding> all;
  std::set<std::tuple<std::string_view, std::string_view, std::optional<int>>> seen;
  const std::vector<LevelPlaces> places = level_places(runs, probe);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    for (const Finding& each : result->findings) {
      if (is_told_by_label(each)) continue;  // they have tables of their own
      const std::optional<int> place = place_of(places[run], each);
      if (!seen.emplace(each.name, each.series, place).second) continue;
      all.push_back(each);
      all.back().level = place;
    }
  }
  const std::vector<std::string_view> order = series_of(runs, probe);
  std::stable_sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) {
    return std::find(order.begin(), order.end(), a.series) <
           std::find(order.begin(), order.end(), b.series);
  });
  SharedGrid grid{.probe = probe};
  const FindingGrid arranged = arrange(all);
  for (const std::string& name : arranged.names) {
    const bool has_value = std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
      return finding.name == name && !value_text(finding).empty();
    });
    if (has_value) grid.names.push_back(name);
  }
  std::map<std::pair<std::string_view, std::optional<int>>, std::size_t> row_of;
  for (const LevelRow& row : arranged.rows) {
    row_of.emplace(std::pair(std::string_view(row.series), row.level), grid.rows.size());
    grid.rows.push_back({row.series, {}, {}});
    if (row.level) grid.rows.back().level = place_text(*row.level);
    grid.rows.back().cells.assign(runs.size(),
                                  std::vector<const Finding*>(grid.names.size(), nullptr));
  }
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    for (const Finding& each : result->findings) {
      if (is_told_by_label(each)) continue;
      const auto name = std::find(grid.names.begin(), grid.names.end(), each.name);
      const auto row = row_of.find({each.series, place_of(places[run], each)});
      if (name == grid.names.end() || row == row_of.end()) continue;
      const Finding*& cell =
          grid.rows[row->second].cells[run][static_cast<std::size_t>(name - grid.names.begin())];
      if (cell == nullptr) cell = &each;
    }
  }
  return grid;
}

}  // namespace

std::vector<SharedGrid> compare_findings(std::span<const Run> runs) {
  std::vector<SharedGrid> grids;
  for (const std::string& probe : probes_of(runs)) {
    const auto count = std::count_if(runs.begin(), runs.end(), [&](const Run& each) {
      return find_result(each, probe) != nullptr;
    });
    if (count >= 2) grids.push_back(compare_probe(runs, probe));
  }
  return grids;
}

std::string shared_text(const Finding* finding, std::string_view nothing) {
  if (finding == nullptr) return std::string(nothing);
  const std::string value = value_text(*finding);
  if (is_at_one_size(*finding)) return value + " " + finding->method;
  return value.empty() ? short_reason(*finding) : value;
}

}  // namespace clprobe::report
