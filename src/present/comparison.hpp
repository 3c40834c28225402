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
/// Returns names and values of a point's key such as "working_set_bytes 65536, step_bytes 64".
std::vector<std::pair<std::string_view, std::string_view>> parts_of_key(std::string_view key);
/// Returns "1.02", or "1.000" near 1; empty without a ratio.
std::string ratio_text(const std::optional<double>& ratio);
/// Returns the title of a row from its series and level: "L2 latency", "memory read by one compute
/// unit". If level names differ between runs, all are named ("far L2/memory latency"). Without
/// titles, the document's names are used: "global level 2 latency".
std::string row_title(const ComparedRow& row);
/// Returns row_title() with the probe's name in front if the series has no title.
std::string change_title(const ComparedRow& row);
/// Returns the finding with the interval of the reports of its run.
Finding shown_finding(const ComparedFinding& compared);
/// Returns the text of a cell: the value, else a short reason, else `nothing`.
std::string cell_text(const ComparedCell& cell, std::string_view nothing);
/// True if a cell has a finding or a verdict. A verdict (such as a failed probe) may lack a
/// finding, and a finding a verdict.
bool has_content(const ComparedCell& cell);

/// Returns the verdict with its resolution: "same within 4 %", "unclear (0.9 to 1.4)". Shares have
/// differences instead of ratios. Empty if nothing was judged.
std::string verdict_text(const ComparedCell& cell, std::string_view unit);
/// Line about findings of a series or level that only one run has: "in A, not in C: latency global
/// 3 capacity, latency". A probe without a counterpart: "C: stride: not measured in this run".
struct UnmatchedLine {
  std::string probe{};
  std::string text{};
};
std::vector<UnmatchedLine> unmatched_lines(const Comparison& comparison);
/// Returns a summary of a curve: "global: 120 points, ratio 1.01 (0.98 to 1.05), farthest from 1:
/// 1.2 at working set 64 KiB".
std::string curve_text(const CurveSummary& curve);

/// Returns differences that explain changes on the baseline's device: another card, driver or
/// platform, or another core clock rate, with which times are judged in cycles.
std::vector<std::string> run_notes(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run);

/// True if the row's share is unresolved (near 0) in every run.
bool is_unresolved(const ComparedRow& row);
/// Returns a line per bar and kind of share: "uts, shapley; in all runs not resolved: control, idle
/// (each within 4.0 % of 0)".
std::vector<std::string> unresolved_lines(const Comparison& comparison, std::string_view probe);

/// A finding of a run that is better, worse or different.
struct Change {
  const ComparedRow* row{nullptr};
  std::size_t run{0};
};

/// Returns all runs except the baseline by number of changed findings, worst first.
std::vector<std::size_t> runs_by_changes(const Comparison& comparison);

/// Returns all changes, except cycles that repeat a time: worse first, then the largest. Ratios are
/// ordered by distance from 1, shares by difference, words last.
std::vector<Change> changes_of(const Comparison& comparison);

/// Returns the size of a change: "1.51x faster", "4.2 % slower", "1.3x larger", "+12.3 points"; the
/// verdict if there is neither a ratio nor a difference.
std::string change_words(const Change& change);

/// Findings of a run with one verdict: each worse finding with both values; of the others the
/// largest of each kind, "stride read int4 bandwidth 1.51x faster (and 2 more)".
struct SummaryPart {
  Verdict verdict{Verdict::same};
  std::vector<std::string> texts{};
};

/// Returns a part per verdict among the run's changes, worse first.
std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run);
/// Returns the counts of unchanged findings: "303 same, 4 unclear"; empty if there are none.
std::string settled_text(const VerdictCounts& counts);

/// Returns the summary of a run by verdict: "better: stride read int4 bandwidth 1.51x faster; 303
/// same".
std::string summary_of(const Comparison& comparison, std::size_t run);
/// Returns the run's summary if it fits; else the counts of verdicts and as many findings as fit,
/// worse first: "5 worse, 11 better: global 2 latency 7.3 % slower (261 ns to 280 ns), ...".
std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits);

/// Extent of a comparison: a screen, all findings and curves, or also every reason.
enum class Detail { screen, all, reasons };

/// Returns the runs, a summary of at most 12 lines of `width` columns, the changes, findings
/// without a counterpart, and the verdicts' counts. A screen of many runs shows those that changed
/// most.
std::vector<Block> blocks_of(const Comparison& comparison, std::span<const RunDigest> runs,
                             Detail detail, int width);

/// Returns a row per change: finding, run (if there are several), both values with intervals as
/// asides, change and verdict; with `has_reasons` also probe and reason.
Table changes_table(const Comparison& comparison, std::span<const Change> changes,
                    bool has_reasons);

/// Returns figures of a probe's curves: per series, the values of all runs, called `names`, and
/// their ratios to the baseline. Parameters that are words, and single points, are not drawn.
std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names);

/// Returns a self-contained page: summary, filtered rows of changes, overlaid curves of all runs
/// and their ratios. The page loads nothing from the network and executes nothing of a run.
std::string html_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                               const TableStyle& style);

}  // namespace clprobe::report
