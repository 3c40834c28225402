// SPDX-License-Identifier: Apache-2.0
// The findings of several runs in one grid: a row per level, a group of columns per device.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/blocks.hpp"
#include "present/findings.hpp"

namespace clprobe::report {

struct SharedRow {
  std::string series{};
  std::optional<std::string> level{};  ///< "2"; "2+" of one after level 2 that the first run lacks
  /// Findings by run, then by name; null where a run has no such finding.
  std::vector<std::vector<const Finding*>> cells{};
};

struct SharedGrid {
  std::string probe{};
  std::vector<std::string> names{};  ///< names of findings that have a value in some run
  std::vector<SharedRow> rows{};
};

/// The run's result of that probe, or null.
const ProbeResult* find_result(const Run& run, std::string_view probe);
/// Every probe of the runs, in the order of their first appearance.
std::vector<std::string> probes_of(std::span<const Run> runs);

/// A level of a series to its place among those of several runs (`place_text`).
using LevelPlaces = std::map<std::pair<std::string_view, int>, int>;
/// The places of a probe's levels, by run: `compare` says to which level of the first run that has
/// the series each corresponds.
std::vector<LevelPlaces> level_places(std::span<const Run> runs, std::string_view probe);
/// "2"; "2+" of a level that lies between 2 and 3 of the first run.
std::string place_text(int place);

/// One grid per probe that at least two of the runs have. The grids point into the runs.
std::vector<SharedGrid> compare_findings(std::span<const Run> runs);

/// A value, else the start of the reason, else `nothing`.
std::string shared_text(const Finding* finding, std::string_view nothing);

/// The findings of a probe on several devices: a row per level and finding, then the largest causes
/// of its bars; a column per device. In the whole form all findings, else the headlines without
/// cycles that repeat a time.
Table shared_table(std::span<const Run> runs, const SharedGrid& grid, Form form);

/// The tables of all probes as one, with the probes as headings; values alone.
void add_side_by_side(Page& page, std::span<const Run> runs, Form form);

}  // namespace clprobe::report
