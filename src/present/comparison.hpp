// SPDX-License-Identifier: Apache-2.0
// Comparisons in words, tables and figures, for all formats.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/api/compare.hpp"
#include "present/blocks.hpp"
#include "present/svg.hpp"

namespace clprobe::report {

/// Returns the short name of a run for columns: "A", "B", ... "Z", "AA".
std::string run_letter(std::size_t run);
/// Returns a run's description: "NVIDIA H200, driver 580.159.04, 2026-11-20T10:00:00Z (a.json)".
std::string run_text(const RunDigest& run);
/// Returns a run's description without its device: "driver 580.159.04, 2026-11-20T10:00:00Z
/// (a.json)".
std::string run_origin(const RunDigest& run);
/// Returns the counts of verdicts: "28 same, 1 worse, 1 unclear".
std::string counts_text(const VerdictCounts& counts);
/// Returns the names and values in a point's key, such as "working_set_bytes 65536, step_bytes 64".
std::vector<std::pair<std::string_view, std::string_view>> parts_of_key(std::string_view key);
/// Returns a ratio with three digits ("1.51"), or with three decimals ("1.024") between 0.9 and
/// 1.1; empty without a ratio.
std::string ratio_text(const std::optional<double>& ratio);
/// Returns a row's title from series, level and finding: "L2 latency", "memory read by one compute
/// unit". If a level's name differs between runs, the title has all its names ("far L2/memory
/// latency"). If the series has no title, the title has the names in the run document: "global
/// level 2 latency".
std::string row_title(const ComparedRow& row);
/// Returns row_title(), with the probe's name in front unless a title or the finding implies it.
std::string change_title(const ComparedRow& row);
/// Returns the finding with the interval that the report of its run shows.
Finding shown_finding(const ComparedFinding& compared);
/// Returns the text of a cell: the value, a short reason for a missing value, or `nothing`.
std::string cell_text(const ComparedCell& cell, std::string_view nothing);
/// True if a cell has a finding, a verdict, or both. A failed probe is an example of a verdict
/// without a finding.
bool has_content(const ComparedCell& cell);

/// Returns the verdict with its resolution: "same within 4.0 %", "unclear (0.9 to 1.4)". For shares
/// (`unit`), the numbers are differences instead of ratios. Empty if the cell was not judged.
std::string verdict_text(const ComparedCell& cell, std::string_view unit);
/// Line about a series, level or probe that a run or the baseline lacks: "in A, not in C: L3
/// capacity, latency"; for a probe: "C: stride: not measured in this run".
struct UnmatchedLine {
  std::string probe{};
  std::string text{};
};
std::vector<UnmatchedLine> unmatched_lines(const Comparison& comparison);
/// Returns a summary of a curve: "global: 120 points, ratio 1.01 (0.98 to 1.05), farthest from 1:
/// 1.2 at working set 64 KiB".
std::string curve_text(const CurveSummary& curve);

/// Returns the differences between a run and the baseline that may explain changes: another card,
/// driver or platform, or another core clock rate (values that were also measured in cycles are
/// then judged in cycles). Empty if the device models differ.
std::vector<std::string> run_notes(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run);

/// True if the row's share is unresolved (near 0) in every run.
bool is_unresolved(const ComparedRow& row);
/// Returns a line about unresolved shares per bar and kind of share: "uts, shapley; in all runs not
/// resolved: control, idle (each within 4.0 % of 0)".
std::vector<std::string> unresolved_lines(const Comparison& comparison, std::string_view probe);

/// Judged finding of a run. In lists of changes, the verdict is better, worse or different.
struct Change {
  const ComparedRow* row{nullptr};
  std::size_t run{0};
};

/// Returns all runs except the baseline. The run with the most worse and different findings comes
/// first; equal runs are sorted by the number of better findings.
std::vector<std::size_t> runs_by_changes(const Comparison& comparison);

/// Returns all changes except repetitions (Judgement::is_repeated). Worse findings come first. Both
/// worse and other findings are sorted by size, largest first: ratios by their distance from 1,
/// shares by their difference. Words come last.
std::vector<Change> changes_of(const Comparison& comparison);

/// Returns the size of a change: "1.51x faster", "4.2 % slower", "1.3x larger", "+12.3 percentage
/// points"; the verdict if the change has neither a ratio nor a difference.
std::string change_words(const Change& change);

/// Findings of a run that share a verdict. Each worse finding has a text with its old and new
/// value. Better and different findings have a text per kind, about the largest change: "stride
/// read int4 bandwidth 1.51x faster (and 2 more)".
struct SummaryPart {
  Verdict verdict{Verdict::same};
  std::vector<std::string> texts{};
};

/// Returns the run's changes, grouped by verdict, worse first.
std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run);
/// Returns the counts of findings without a change: "303 same, 4 unclear"; empty if all changed.
std::string settled_text(const VerdictCounts& counts);

/// Returns the summary of a run by verdict: "better: stride read int4 bandwidth 1.51x faster; 303
/// same".
std::string summary_of(const Comparison& comparison, std::size_t run);
/// Returns the summary of a run if `fits` accepts it. Otherwise returns the counts of changes and
/// as many findings as fit, worse first: "5 worse, 11 better: L2 latency 7.3 % slower (261 to 280
/// ns), ...".
std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits);

/// Extent of a comparison. `screen`: what fits on a screen; `all`: all findings and curves;
/// `reasons`: also the reason of every verdict.
enum class Detail { screen, all, reasons };

/// Returns a comparison as blocks: the runs, a summary (at most 12 lines of `width` columns unless
/// `detail` is `all`), the changes, the findings that a run lacks, and the counts of verdicts. If
/// the runs do not fit on a screen, only the runs with the most changes are shown.
std::vector<Block> blocks_of(const Comparison& comparison, std::span<const RunDigest> runs,
                             Detail detail, int width);

/// Returns the table of changes, a row per change: finding, run (if there is more than one besides
/// the baseline), verdict, change, baseline value and new value with intervals as asides.
/// `has_reasons`: also probe and reason.
Table changes_table(const Comparison& comparison, std::span<const Change> changes,
                    bool has_reasons);

/// Returns figures of a probe's curves: per series, the values of all runs, and the ratios of these
/// values to the baseline. `names`: a name per run. Curves over a parameter whose values are words,
/// and curves of a single point, are omitted.
std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names);

/// Returns a comparison as an HTML page: a summary, a table of changes with filters, and the curves
/// and ratios of all runs. The page loads nothing from the network and executes no text of a run.
std::string html_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                               const TableStyle& style);

}  // namespace clprobe::report
