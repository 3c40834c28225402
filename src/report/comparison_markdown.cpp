// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "clprobe/comparison_report.hpp"
#include "report/comparison_text.hpp"
#include "report/safe_text.hpp"

namespace clprobe {
namespace report {
namespace {

std::string markdown_cell(const ComparedRow& row, std::size_t run, bool is_baseline) {
  const ComparedCell& cell = row.cells[run];
  const std::string value = cell_text(cell, "");
  if (is_baseline || cell.judgement.reason.empty()) return escape_markdown(value);
  std::string text = escape_markdown(value);
  const std::string ratio = ratio_text(cell.judgement.ratio);
  if (!ratio.empty()) text += fmt::format(" ({})", ratio);
  const bool is_same = cell.judgement.verdict == Verdict::same;
  return fmt::format("{} {}{}{}", text, is_same ? "" : "**",
                     verdict_text(cell, row.baseline->finding.unit), is_same ? "" : "**");
}

std::string runs_list(const Comparison& comparison, std::span<const RunDigest> runs) {
  std::string text;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const bool is_baseline = run == comparison.baseline;
    text += fmt::format(
        "- **{}**: {}{}\n", run_letter(run), escape_markdown(run_text(runs[run])),
        is_baseline ? ", the baseline" : fmt::format(": {}", counts_text(comparison.counts[run])));
    for (const std::string& note : run_notes(comparison, runs, run)) {
      text += fmt::format("  - {}\n", escape_markdown(note));
    }
  }
  return text + '\n';
}

/// Who is better at what, a line per run.
std::string summary_list(const Comparison& comparison, std::size_t runs) {
  std::string text;
  for (std::size_t run = 0; run < runs; ++run) {
    if (run == comparison.baseline) continue;
    text +=
        fmt::format("- **{}** {}\n", run_letter(run), escape_markdown(summary_of(comparison, run)));
  }
  return text + '\n';
}

/// The findings that changed, those that are worse first.
std::string changes_table(const Comparison& comparison, std::size_t runs) {
  const std::vector<Change> changes = changes_of(comparison);
  if (changes.empty()) return {};
  std::vector<std::string> titles{"finding", "verdict", "change"};
  if (runs > 2) titles.insert(titles.begin() + 1, "run");
  titles.push_back(run_letter(comparison.baseline));
  titles.push_back(runs > 2 ? "run's value" : run_letter(1 - comparison.baseline));
  std::string text =
      "Changes:\n\n" + markdown_row(titles) + markdown_rule(titles.size(), titles.size() - 2);
  for (const Change& change : changes) {
    const ComparedRow& row = *change.row;
    const Judgement& judged = row.cells[change.run].judgement;
    std::vector<std::string> cells{
        escape_markdown(change_title(row)), fmt::format("**{}**", to_word(judged.verdict)),
        escape_markdown(change_words(change) + (judged.is_coarse ? " (no interval)" : "")),
        escape_markdown(cell_text(row.cells[comparison.baseline], "")),
        escape_markdown(cell_text(row.cells[change.run], ""))};
    if (runs > 2) cells.insert(cells.begin() + 1, run_letter(change.run));
    text += markdown_row(cells);
  }
  return text + "\nAll findings:\n\n";
}

}  // namespace
}  // namespace report

std::string render_comparison_markdown(const Comparison& comparison,
                                       std::span<const RunDigest> runs) {
  std::string text = report::runs_list(comparison, runs) +
                     report::summary_list(comparison, runs.size()) +
                     report::changes_table(comparison, runs.size());
  std::vector<std::string> titles{"probe", "finding"};
  for (std::size_t run = 0; run < runs.size(); ++run) titles.push_back(report::run_letter(run));
  if (!comparison.rows.empty()) {
    text += report::markdown_row(titles) + report::markdown_rule(titles.size(), 2);
  }
  std::vector<std::string> unresolved;
  for (const ComparedRow& row : comparison.rows) {
    if (report::is_unresolved(row)) {
      for (const std::string& line : report::unresolved_lines(comparison, row.probe)) {
        const std::string item = fmt::format("- {} {}\n", report::escape_markdown(row.probe),
                                             report::escape_markdown(line));
        if (std::find(unresolved.begin(), unresolved.end(), item) == unresolved.end()) {
          unresolved.push_back(item);
        }
      }
      continue;
    }
    std::vector<std::string> cells{report::escape_markdown(row.probe),
                                   report::escape_markdown(report::row_title(row))};
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      cells.push_back(report::markdown_cell(row, run, run == comparison.baseline));
    }
    text += report::markdown_row(cells);
  }
  if (!unresolved.empty()) text += "\nUnresolved shares:\n\n";
  for (const std::string& item : unresolved) text += item;
  if (!comparison.curves.empty()) text += "\nCurves compared with the baseline:\n\n";
  for (const CurveSummary& curve : comparison.curves) {
    text += fmt::format("- **{}** {} {}\n", report::run_letter(curve.run),
                        report::escape_markdown(curve.probe),
                        report::escape_markdown(report::curve_text(curve)));
  }
  if (!comparison.unmatched.empty()) text += "\nNot matched:\n\n";
  for (const report::UnmatchedLine& each : report::unmatched_lines(comparison)) {
    text += fmt::format("- {}\n", report::escape_markdown(each.text));
  }
  return text;
}

}  // namespace clprobe
