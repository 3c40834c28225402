// SPDX-License-Identifier: Apache-2.0
#include "report/side_by_side.hpp"

#include <algorithm>

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

SharedGrid compare_probe(std::span<const Run> runs, const std::string& probe) {
  // Arranged together, so that the rows are the union in one order; then dealt out again.
  std::vector<Finding> all;
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    if (result == nullptr) continue;
    for (const Finding& each : result->findings) {
      if (is_told_by_label(each)) continue;  // they have tables of their own
      const bool is_new = std::none_of(all.begin(), all.end(), [&](const Finding& other) {
        return other.name == each.name && other.series == each.series && other.level == each.level;
      });
      if (is_new) all.push_back(each);
    }
  }
  SharedGrid grid{.probe = probe};
  const FindingGrid arranged = arrange(all);
  for (const std::string& name : arranged.names) {
    const bool has_value = std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
      return finding.name == name && !value_text(finding).empty();
    });
    if (has_value) grid.names.push_back(name);
  }
  for (const LevelRow& row : arranged.rows) {
    SharedRow shared{row.series, row.level, {}};
    for (const Run& run : runs) {
      std::vector<const Finding*>& cells = shared.cells.emplace_back(grid.names.size(), nullptr);
      const ProbeResult* const result = find_result(run, probe);
      if (result == nullptr) continue;
      for (const Finding& each : result->findings) {
        if (is_told_by_label(each)) continue;
        const auto name = std::find(grid.names.begin(), grid.names.end(), each.name);
        if (name == grid.names.end() || each.series != row.series || each.level != row.level) {
          continue;
        }
        const Finding*& cell = cells[static_cast<std::size_t>(name - grid.names.begin())];
        if (cell == nullptr) cell = &each;
      }
    }
    grid.rows.push_back(std::move(shared));
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
  return value.empty() ? short_reason(*finding) : value;
}

}  // namespace clprobe::report
