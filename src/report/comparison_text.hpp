// SPDX-License-Identifier: Apache-2.0
// Comparisons in words: what the terminal's table and Markdown have in common.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clprobe/compare.hpp"

namespace clprobe::report {

/// "A", "B", ... "Z", "AA": short names for the columns.
std::string run_letter(std::size_t run);
/// "NVIDIA H200, driver 580.159.04, 2026-11-20T10:00:00Z (a.json)"
std::string run_text(const RunDigest& run);
/// The same without the device.
std::string run_origin(const RunDigest& run);
/// "28 same, 1 worse, 1 unclear"
std::string counts_text(const VerdictCounts& counts);
/// "1.02", or "1.000" near 1; empty without a ratio.
std::string ratio_text(const std::optional<double>& ratio);
/// "L2 latency", "memory read by one compute unit": by the title of its series and the name of its
/// level, of all runs where they differ ("far L2/memory latency"). What has neither is called by
/// the names in its document, "global level 2 latency".
std::string row_title(const ComparedRow& row);
/// The same without the finding: "L2", "memory read by one compute unit".
std::string place_title(const ComparedRow& row);
/// The same as `row_title` where the probe is not said besides: a series without a title has it.
std::string change_title(const ComparedRow& row);
/// The finding with the interval that the reports of its run show.
Finding shown_finding(const ComparedFinding& compared);
/// What a cell shows: the value, else the reason in short, else `nothing`.
std::string cell_text(const ComparedCell& cell, std::string_view nothing);
/// Whether there is anything to show: a finding may be there without a verdict, and a verdict (that
/// a probe failed) without a finding.
bool has_content(const ComparedCell& cell);

/// The verdict as a word, with what could have been missed: "same within 4 %", "unclear (0.9 to
/// 1.4)". Of a finding in `unit`, since shares have a difference and no ratio. Empty where nothing
/// was judged.
std::string verdict_text(const ComparedCell& cell, std::string_view unit);
/// "in A, not in C: latency global 3 capacity, latency": what one run has of a series or a level in
/// a line, with the letter of the run whose level it is. "C: stride: not measured in this run".
struct UnmatchedLine {
  std::string probe{};
  std::string text{};
};
std::vector<UnmatchedLine> unmatched_lines(const Comparison& comparison);
/// "global: 120 points, ratio 1.01 (0.98 to 1.05), farthest from 1: 1.2 at working set 64 KiB"
std::string curve_text(const CurveSummary& curve);

/// What a reader of a run of the baseline's device has to know first: another card, driver or
/// platform, and another rate of the core's clock, since times are judged in cycles then.
std::vector<std::string> run_notes(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run);

/// Whether no run knows more of the row's share than that it is near 0.
bool is_unresolved(const ComparedRow& row);
/// "uts, shapley; in all runs not resolved: control, idle (each within 4.0 % of 0)", a line for
/// each bar and kind of share of the probe.
std::vector<std::string> unresolved_lines(const Comparison& comparison, std::string_view probe);

}  // namespace clprobe::report
