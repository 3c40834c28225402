// SPDX-License-Identifier: Apache-2.0
// The findings of several runs in one grid: a row per level, a group of columns per device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/findings.hpp"

namespace clprobe::report {

struct SharedRow {
  std::string series{};
  std::optional<int> level{};
  /// By run, then by name; null where that run has no such finding.
  std::vector<std::vector<const Finding*>> cells{};
};

struct SharedGrid {
  std::string probe{};
  std::vector<std::string> names{};  ///< those that have a value somewhere
  std::vector<SharedRow> rows{};
};

/// The run's result of that probe, or null.
const ProbeResult* find_result(const Run& run, std::string_view probe);
/// Every probe of the runs, in the order of their first appearance.
std::vector<std::string> probes_of(std::span<const Run> runs);

/// One grid per probe that at least two of the runs have. The grids point into the runs.
std::vector<SharedGrid> compare_findings(std::span<const Run> runs);

/// A value, else the start of the reason, else `nothing`.
std::string shared_text(const Finding* finding, std::string_view nothing);

}  // namespace clprobe::report
