// SPDX-License-Identifier: Apache-2.0
// Findings of several runs in one grid: a row per level, a group of columns per device.
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

/// Returns the run's result of a probe, or null.
const ProbeResult* find_result(const Run& run, std::string_view probe);
/// Returns the results of a probe, each with the number of its run.
std::vector<std::pair<std::size_t, const ProbeResult*>> results_of(std::span<const Run> runs,
                                                                   std::string_view probe);
/// Returns all probes of the runs, in order of first appearance.
std::vector<std::string> probes_of(std::span<const Run> runs);

/// Position of a series' level among those of several runs (`position_text`).
using LevelPositions = std::map<std::pair<std::string_view, int>, int>;
/// Returns the positions of a probe's levels, by run. `compare` decides the corresponding level of
/// the first run with the series.
std::vector<LevelPositions> level_positions(std::span<const Run> runs, std::string_view probe);
/// Returns a position as text: "2", or "2+" for a level between 2 and 3 of the first run.
std::string position_text(int position);

/// Returns the value, else the short reason, else `nothing`.
std::string shared_text(const Finding* finding, std::string_view nothing);

/// Returns the findings of a probe on several devices: a row per level and finding, then the
/// largest causes of its bars; a column per device. The whole form has all findings; others have
/// headlines without cycles that repeat a time. Without rows if fewer than two runs have the probe.
Table shared_table(std::span<const Run> runs, const std::string& probe, Form form);

/// Adds one table of all probes, values only.
void add_side_by_side(Page& page, std::span<const Run> runs, Form form);

}  // namespace clprobe::report
