// SPDX-License-Identifier: Apache-2.0
// Comparisons in words: what all formats say, and what a comparison comes to.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/api/compare.hpp"
#include "present/blocks.hpp"
#include "present/svg.hpp"

namespace clprobe::report {

/// "A", "B", ... "Z", "AA": short names for the columns.
std::string run_letter(std::size_t run);
/// "NVIDIA H200, driver 580.159.04, 2026-11-20T10:00:00Z (a.json)"
std::string run_text(const RunDigest& run);
/// A run's text without its device: "driver 580.159.04, 2026-11-20T10:00:00Z (a.json)".
std::string run_origin(const RunDigest& run);
/// "28 same, 1 worse, 1 unclear"
std::string counts_text(const VerdictCounts& counts);
/// "1.02", or "1.000" near 1; empty without a ratio.
std::string ratio_text(const std::optional<double>& ratio);
/// "L2 latency", "memory read by one compute unit": by the title of its series and the name of its
/// level, of all runs where they differ ("far L2/memory latency"). What has neither is called by
/// the names in its document, "global level 2 latency".
std::string row_title(const ComparedRow& row);
/// The title of a row where nothing else names the probe: `row_title`, after the probe if the
/// series has no title.
std::string change_title(const ComparedRow& row);
/// The finding with the interval that the reports of its run show.
Finding shown_finding(const ComparedFinding& compared);
/// Text of a cell: the value, else the reason in short, else `nothing`.
std::string cell_text(const ComparedCell& cell, std::string_view nothing);
/// True if a cell has a finding or a verdict: a finding may lack a verdict, and a verdict (that a
/// probe failed) may lack a finding.
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

/// Differences of a run of the baseline's device that explain changes: another card, driver or
/// platform, or another core clock rate, with which times are judged in cycles.
std::vector<std::string> run_notes(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run);

/// True if in every run the row's share is only known to be near 0.
bool is_unresolved(const ComparedRow& row);
/// "uts, shapley; in all runs not resolved: control, idle (each within 4.0 % of 0)", a line for
/// each bar and kind of share of the probe.
std::vector<std::string> unresolved_lines(const Comparison& comparison, std::string_view probe);

/// A finding of a run that is better, worse or different.
struct Change {
  const ComparedRow* row{nullptr};
  std::size_t run{0};
};

/// All changes but cycles that repeat a time. Worse ones come first, then the largest: ratios by
/// their distance from 1, shares by their difference, words last.
std::vector<Change> changes_of(const Comparison& comparison);

/// "1.51x faster", "4.2 % slower", "1.3x larger", "+12.3 points"; the verdict where there is
/// neither a ratio nor a difference.
std::string change_words(const Change& change);

/// Findings of a run that have one verdict: each worse one with both values, and of the others the
/// largest of a kind, "stride read int4 bandwidth 1.51x faster (and 2 more)".
struct SummaryPart {
  Verdict verdict{Verdict::same};
  std::vector<std::string> texts{};
};

/// One part for each verdict among the run's changes, worse first.
std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run);
/// "303 same, 4 unclear"; empty where nothing is.
std::string settled_text(const VerdictCounts& counts);

/// Summary of a run by verdict: "better: stride read int4 bandwidth 1.51x faster; 303 same".
std::string summary_of(const Comparison& comparison, std::size_t run);
/// The run's summary where it fits; else the counts of verdicts and as many findings as fit, worse
/// ones first: "5 worse, 11 better: global 2 latency 7.3 % slower (261 ns to 280 ns), ...".
std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits);

/// Extent of a shown comparison: a screen, all findings and curves, or also every reason.
enum class Detail { screen, all, reasons };

/// The runs, who is better at what in at most 12 lines of `width` columns, what changed, what has
/// no counterpart, and the verdicts' counts. Of many runs a screen has those that changed most.
std::vector<Block> blocks_of(const Comparison& comparison, std::span<const RunDigest> runs,
                             Detail detail, int width);

/// A row for each change: the finding, the run where there are several, both values with intervals
/// as asides, the change and the verdict; `has_reasons`: also the probe and the reason.
Table changes_table(const Comparison& comparison, std::span<const Change> changes,
                    bool has_reasons);

/// Figures of a probe's curves, by their titles: for each series the values of all runs, called
/// `names`, and their ratios to the baseline's. Words, and single points, are not drawn.
std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names);

}  // namespace clprobe::report
