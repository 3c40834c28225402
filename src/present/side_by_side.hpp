// SPDX-License-Identifier: Apache-2.0
// Findings of several runs in a single table: a row per level and finding, a column per run.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/api/compare.hpp"
#include "present/blocks.hpp"
#include "present/findings.hpp"

namespace clprobe::report {

/// Returns the run's result of a probe; null if the run lacks the probe.
const ProbeResult* find_result(const Run& run, std::string_view probe);
/// Returns the results of a probe, each with the index of its run.
std::vector<std::pair<std::size_t, const ProbeResult*>> results_of(std::span<const Run> runs,
                                                                   std::string_view probe);
/// Returns the IDs of all probes in the runs, in order of first appearance.
std::vector<std::string> probes_of(std::span<const Run> runs);

/// Positions of a run's levels, by series and level number. Corresponding levels of several runs
/// have equal positions; `position_text` shows a position.
using LevelPositions = std::map<std::pair<std::string_view, int>, int>;
/// Returns a position as text: "2" for level 2 of the first run, "2+" for a level between levels 2
/// and 3 of the first run.
std::string position_text(int position);

/// Returns the finding's value, a short reason for a missing value, or `nothing` without a finding.
std::string shared_text(const Finding* finding, std::string_view nothing);

/// Tables of the findings of several runs, which must outlive the object.
class SideBySide {
 public:
  explicit SideBySide(std::span<const Run> runs);

  /// Returns the level positions of a probe, per run. The rules of `compare` decide which levels of
  /// a run correspond to levels of the first run that has the series.
  [[nodiscard]] std::vector<LevelPositions> level_positions(std::string_view probe) const;

  /// Returns the findings of a probe, with a column per run: a row per level and finding, and a row
  /// per cause that is the largest of a bar. The whole form has all findings. Other forms have only
  /// headlines, without cycles whose time is also shown. The table has no rows if fewer than two
  /// runs have the probe.
  [[nodiscard]] Table table(const std::string& probe, Form form) const;

 private:
  std::span<const Run> runs_;
  /// Digests of the whole runs, as in comparisons, since levels get their names from other probes
  /// as well. Empty for a single run.
  std::vector<RunDigest> digests_{};
};

/// Adds a single table with the values of all probes to the page.
void add_side_by_side(Page& page, std::span<const Run> runs, Form form);

}  // namespace clprobe::report
