// SPDX-License-Identifier: Apache-2.0
#include "present/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "present/api/report.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

constexpr std::size_t few_runs = 8;        // of more runs, a screen shows only a selection
constexpr std::size_t summary_lines = 11;  // summary lines of all runs together
constexpr std::size_t listed_runs = 10;
constexpr std::size_t listed_lines = 12;
constexpr std::size_t listed_changes = 30;

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::worse:
      return Ink::failure;
    case Verdict::better:
      return Ink::good;
    case Verdict::different:
      return Ink::caution;
    case Verdict::same:
    case Verdict::unclear:
      break;
  }
  return Ink::plain;
}

bool is_settled(Verdict verdict) { return ink_of(verdict) == Ink::plain; }

std::string more_text(std::size_t rest, std::string_view what) {
  return fmt::format("and {} {}; -v shows all", rest, what);
}

Cell value_cell(const ComparedCell& cell) {
  if (!has_content(cell)) return {};
  const bool has_finding = cell.finding != nullptr;
  return {.text = cell_text(cell, "no value"),
          .aside = has_finding ? interval_text(shown_finding(*cell.finding)) : ""};
}

/// Removes the column of verdicts, since the words and the colour of a change on a terminal imply
/// the verdict.
void leave_out_verdicts(Table& table) {
  const auto column = std::ranges::find(table.head, "verdict");
  const auto at = column - table.head.begin();
  table.head.erase(column);
  for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + at);
}

class ComparisonBlocks {
 public:
  ComparisonBlocks(const Comparison& comparison, std::span<const RunDigest> runs, Detail detail,
                   int width)
      : comparison_(comparison), runs_(runs), detail_(detail), width_(width) {}

  std::vector<Block> blocks() && {
    add_runs();
    add_summary();
    add_changes();
    if (detail_ != Detail::screen) {
      add_findings();
      add_curves();
    }
    if (detail_ == Detail::reasons) add_reasons();
    add_unmatched();
    add_totals();
    return std::move(blocks_);
  }

 private:
  void add_item(std::string lead, std::string text, Ink ink = Ink::plain, bool is_nested = false) {
    blocks_.emplace_back(Prose{
        .lead = std::move(lead), .text = std::move(text), .ink = ink, .is_nested = is_nested});
  }

  [[nodiscard]] bool is_crowd() const {
    return detail_ == Detail::screen && runs_.size() > few_runs;
  }

  void add_runs() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const bool is_baseline = run == comparison_.baseline;
      if (is_crowd() && !is_baseline) continue;
      add_item(run_letter(run), (is_baseline ? "baseline: " : "") + run_text(runs_[run]));
      for (std::string& note : run_notes(comparison_, runs_, run)) {
        add_item("", std::move(note), Ink::caution, true);
      }
    }
    if (is_crowd()) add_item("", more_text(runs_.size() - 1, "other runs"), Ink::faint, true);
  }

  void add_summary() {
    std::vector<std::size_t> shown = runs_by_changes(comparison_);
    if (shown.empty()) return;
    blocks_.emplace_back(Heading{});
    const std::size_t rest =
        detail_ != Detail::screen ? 0 : shown.size() - std::min(shown.size(), summary_lines);
    shown.resize(shown.size() - rest);
    std::vector<std::string> leads;
    int lead_width = 0;
    const std::vector<std::vector<std::string>> names = run_names(runs_);
    for (const std::size_t run : shown) {
      const std::string name = fmt::format("{}", fmt::join(names[run], ", "));
      leads.push_back(fmt::format("{}  {}", run_letter(run),
                                  cut_to_width(printable(name), width_ * 2 / 5, "…")));
      lead_width = std::max(lead_width, display_width(leads.back()));
    }
    const std::size_t lines_each = summary_lines / shown.size();
    const auto fits = [&](const std::string& text) {
      return detail_ != Detail::screen || wrap(text, width_ - lead_width - 3).size() <= lines_each;
    };
    for (std::size_t i = 0; i < shown.size(); ++i) {
      add_item(leads[i], brief_summary_of(comparison_, shown[i], fits));
    }
    if (rest > 0) add_item("", more_text(rest, "other runs"), Ink::faint, true);
  }

  void add_changes() {
    std::vector<Change> changes = changes_of(comparison_);
    if (changes.empty()) return;
    const std::size_t all = changes.size();
    if (detail_ == Detail::screen) {
      const auto worse = std::ranges::count_if(changes, [](const Change& each) {
        return each.row->cells[each.run].judgement.verdict == Verdict::worse;
      });
      changes.resize(std::min(all, std::max(static_cast<std::size_t>(worse), listed_changes)));
    }
    Table table = changes_table(comparison_, changes, false);
    if (detail_ != Detail::all) leave_out_verdicts(table);
    for (std::vector<Cell>& row : table.rows) {
      for (Cell& cell : row) cell.aside.clear();
    }
    blocks_.emplace_back(Heading{"changes"});
    blocks_.emplace_back(std::move(table));
    if (all > changes.size()) add_item("", more_text(all - changes.size(), "more"), Ink::faint);
  }

  void add_findings() {
    Table table{.head = {"probe", "finding"}, .names = 2, .is_of_devices = true};
    for (std::size_t run = 0; run < runs_.size(); ++run) table.head.push_back(run_letter(run));
    std::vector<std::string> unresolved;
    for (const ComparedRow& row : comparison_.rows) {
      if (is_unresolved(row)) {
        for (const std::string& line : unresolved_lines(comparison_, row.probe)) {
          std::string text = fmt::format("{} {}", row.probe, line);
          const auto known = std::ranges::find(unresolved, text);
          if (known == unresolved.end()) unresolved.push_back(std::move(text));
        }
        continue;
      }
      std::vector<Cell> cells{{row.probe}, {row_title(row)}};
      for (std::size_t run = 0; run < row.cells.size(); ++run) {
        cells.push_back(judged_cell(row, run));
      }
      table.rows.push_back(std::move(cells));
    }
    if (!table.rows.empty()) {
      blocks_.emplace_back(Heading{"all findings"});
      blocks_.emplace_back(std::move(table));
    }
    if (!unresolved.empty()) blocks_.emplace_back(Heading{"unresolved shares"});
    for (std::string& line : unresolved) add_item("", std::move(line), Ink::faint);
  }

  /// Returns the cell of a value, with ratio and verdict as aside: "(1.020) same within 4.0 %".
  [[nodiscard]] Cell judged_cell(const ComparedRow& row, std::size_t run) const {
    const ComparedCell& cell = row.cells[run];
    Cell shown{cell_text(cell, "")};
    if (run == comparison_.baseline || cell.judgement.reason.empty()) return shown;
    const std::string ratio = ratio_text(cell.judgement.ratio);
    if (!ratio.empty()) shown.aside = fmt::format("({}) ", ratio);
    shown.aside += verdict_text(cell, row.baseline->finding.unit);
    shown.ink = ink_of(cell.judgement.verdict);
    return shown;
  }

  void add_curves() {
    if (comparison_.curves.empty()) return;
    blocks_.emplace_back(Heading{"curves compared with the baseline, point by point"});
    for (const CurveSummary& curve : comparison_.curves) {
      add_item(run_letter(curve.run), fmt::format("{} {}", curve.probe, curve_text(curve)));
    }
  }

  void add_reasons() {
    blocks_.emplace_back(Heading{"verdicts"});
    for (const ComparedRow& row : comparison_.rows) {
      for (std::size_t run = 0; run < row.cells.size(); ++run) {
        const Judgement& judged = row.cells[run].judgement;
        const bool has_verdict = !judged.reason.empty() && !is_unresolved(row);
        if (run == comparison_.baseline || !has_verdict) continue;
        add_item(
            run_letter(run),
            fmt::format("{}: {}: {}", change_title(row), to_word(judged.verdict), judged.reason),
            judged.verdict == Verdict::same ? Ink::plain : Ink::caution);
      }
    }
  }

  void add_unmatched() {
    std::vector<UnmatchedLine> lines = unmatched_lines(comparison_);
    if (lines.empty()) return;
    const std::size_t all = lines.size();
    if (detail_ == Detail::screen) lines.resize(std::min(all, listed_lines));
    blocks_.emplace_back(Heading{"not matched"});
    for (UnmatchedLine& line : lines) add_item("", std::move(line.text));
    if (all > lines.size()) add_item("", more_text(all - lines.size(), "more"), Ink::faint);
  }

  void add_totals() {
    blocks_.emplace_back(Heading{});
    std::vector<std::size_t> shown = runs_by_changes(comparison_);
    if (is_crowd()) {
      shown.resize(std::min(shown.size(), listed_runs));
    } else {
      std::ranges::sort(shown);
    }
    for (const std::size_t run : shown) {
      const VerdictCounts& counts = comparison_.counts[run];
      const bool is_bad = counts.worse + counts.different > 0;
      const std::string name = is_crowd() ? run_text(runs_[run]) + ": " : std::string();
      add_item(run_letter(run) + ":", name + counts_text(counts),
               is_bad ? Ink::caution : Ink::plain);
    }
    if (is_crowd()) add_item("all:", counts_text(total_counts(comparison_)));
  }

  const Comparison& comparison_;
  std::span<const RunDigest> runs_;
  Detail detail_;
  int width_;
  std::vector<Block> blocks_{};
};

}  // namespace

std::vector<Block> blocks_of(const Comparison& comparison, std::span<const RunDigest> runs,
                             Detail detail, int width) {
  return ComparisonBlocks(comparison, runs, detail, width).blocks();
}

Table changes_table(const Comparison& comparison, std::span<const Change> changes,
                    bool has_reasons) {
  const bool has_letters = comparison.counts.size() > 2;
  Table table{.title = "Findings compared with the baseline",
              .kind = "findings changes",
              .head = {"finding"}};
  if (has_letters) table.head.emplace_back("run");
  table.head.insert(table.head.end(), {"verdict", "change", run_letter(comparison.baseline)});
  table.head.push_back(has_letters ? "run's value" : run_letter(1 - comparison.baseline));
  if (has_reasons) table.head.insert(table.head.end(), {"probe", "reason"});
  for (const Change& change : changes) {
    const ComparedRow& row = *change.row;
    const ComparedCell& cell = row.cells[change.run];
    const Judgement& judged = cell.judgement;
    std::string text = is_settled(judged.verdict) ? verdict_text(cell, row.baseline->finding.unit)
                                                  : change_words(change);
    if (judged.is_coarse && !is_settled(judged.verdict)) text += " (no interval)";
    std::vector<Cell> cells{{has_reasons ? row_title(row) : change_title(row)}};
    if (has_letters) cells.push_back({.text = run_letter(change.run), .is_number = false});
    const Ink ink = ink_of(judged.verdict);
    cells.push_back({.text = std::string(to_word(judged.verdict)), .is_number = false, .ink = ink});
    cells.push_back({.text = std::move(text), .is_number = false, .ink = ink});
    cells.push_back(value_cell(row.cells[comparison.baseline]));
    cells.push_back(value_cell(cell));
    if (has_reasons) {
      cells.push_back({.text = row.probe, .is_number = false});
      cells.push_back({.reason = judged.reason});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace clprobe::report
