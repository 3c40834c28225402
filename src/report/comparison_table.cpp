// SPDX-License-Identifier: Apache-2.0
// A comparison for the terminal: findings side by side, the curves, and what has no counterpart.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clprobe/comparison_report.hpp"
#include "clprobe/stacks.hpp"
#include "report/comparison_text.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/page.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace report {
namespace {

constexpr int indent = 1;
constexpr int group_gap = 3;  // before the columns of a run
// More runs than this are a crowd: its range, and who stands out.
constexpr std::size_t few_runs = 8;
constexpr std::size_t listed_runs = 10;
constexpr std::size_t listed_lines = 12;
constexpr std::size_t listed_changes = 30;
constexpr std::size_t summary_lines = 12;  // at most, for all runs together

class ComparisonPage {
 public:
  ComparisonPage(const Comparison& comparison, std::span<const RunDigest> runs,
                 const TableStyle& style)
      : comparison_(comparison), runs_(runs), style_(style), page_(style) {}

  std::string text() {
    const bool is_crowd = runs_.size() > few_runs && !style_.all_points;
    add_runs(is_crowd);
    add_summary();
    add_changes();
    if (!style_.all_points) {
      add_unmatched();
      add_totals(is_crowd);
      return page_.text();
    }
    for (const std::string& probe : probes()) {
      page_.blank();
      page_.line({{page_.show(probe), Ink::heading}});
      add_groups(probe);
      add_unresolved(probe);
      add_curves(probe);
    }
    add_reasons();
    add_unmatched();
    add_totals(is_crowd);
    return page_.text();
  }

 private:
  /// Of each run what is better and worse, in few lines. Of many runs those that changed most.
  void add_summary() {
    std::vector<std::size_t> shown = standing_out(summary_lines - 1);
    if (shown.size() < summary_lines - 1) {
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        const bool is_there = std::find(shown.begin(), shown.end(), run) != shown.end();
        const bool is_room = shown.size() < summary_lines - 1;
        if (run != comparison_.baseline && !is_there && is_room) shown.push_back(run);
      }
    }
    if (shown.empty()) return;
    page_.blank();
    const std::size_t lines_each = (summary_lines - 1) / shown.size();
    const std::vector<std::string> names = short_names();
    int name_width = 0;
    for (const std::size_t run : shown) {
      name_width = std::max(name_width, display_width(names[run]));
    }
    for (const std::size_t run : shown) {
      const std::string lead =
          fmt::format(" {}  {}  ", run_letter(run), pad_right(names[run], name_width));
      const int width = page_.width() - display_width(lead);
      const auto fits = [&](const std::string& text) {
        return wrap(page_.show(text), width).size() <= lines_each;
      };
      std::string before = lead;
      const std::string text = brief_summary_of(comparison_, run, fits);
      SummaryInks inks;
      for (const std::string& line : wrap(page_.show(text), width)) {
        std::vector<Span> spans{{before, Ink::heading}};
        for (Span& each : inks.spans_of(line)) spans.push_back(std::move(each));
        page_.line(spans);
        before = pad_right("", display_width(lead));
      }
    }
    const std::size_t rest = runs_.size() - 1 - shown.size();
    if (rest > 0) {
      page_.prose("    ", fmt::format("and {} other runs; -v shows all", rest), Ink::faint);
    }
  }

  /// What tells each run apart, in at most two fifths of the page.
  [[nodiscard]] std::vector<std::string> short_names() const {
    std::vector<std::string> names;
    for (const std::vector<std::string>& parts : run_names(runs_)) {
      names.push_back(cut_to_width(page_.show(fmt::format("{}", fmt::join(parts, ", "))),
                                   page_.width() * 2 / 5, page_.is_unicode() ? "…" : "..."));
    }
    return names;
  }

  /// What changed, all that is worse first: the finding, both values, and by how much.
  void add_changes() {
    std::vector<Change> changes = changes_of(comparison_);
    if (changes.empty()) return;
    const std::size_t all = changes.size();
    const auto worse = static_cast<std::size_t>(
        std::count_if(changes.begin(), changes.end(), [](const Change& each) {
          return each.row->cells[each.run].judgement.verdict == Verdict::worse;
        }));
    if (!style_.all_points) changes.resize(std::min(all, std::max(worse, listed_changes)));
    const bool has_letters = runs_.size() > 2;
    std::vector<std::string> titles;
    std::array<int, 4> widths{};
    std::vector<std::array<std::string, 4>> rows;
    for (const Change& change : changes) {
      const ComparedRow& row = *change.row;
      titles.push_back(page_.show(change_title(row)));
      const Judgement& judged = row.cells[change.run].judgement;
      rows.push_back(
          {has_letters ? run_letter(change.run) : "", shown_cell(row.cells[comparison_.baseline]),
           shown_cell(row.cells[change.run]),
           page_.show(change_words(change) + (judged.is_coarse ? " (no interval)" : ""))});
      for (std::size_t i = 0; i < widths.size(); ++i) {
        widths[i] = std::max(widths[i], display_width(rows.back()[i]));
      }
    }
    const int values = widths[0] + widths[1] + widths[2] + widths[3] + 10;
    const int room = std::max(1, page_.width() - values);
    page_.blank();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::string title = titles[i];
      if (display_width(title) > room) {
        page_.line({{" " + title}});
        title.clear();
      }
      const Verdict verdict = changes[i].row->cells[changes[i].run].judgement.verdict;
      const Ink ink = verdict == Verdict::worse    ? Ink::failure
                      : verdict == Verdict::better ? Ink::good
                                                   : Ink::caution;
      const auto& cells = rows[i];
      page_.line({{" " + pad_right(title, room) + "  " + pad_right(cells[0], widths[0]) +
                   pad_left(cells[1], widths[1] + 1) + (page_.is_unicode() ? " → " : " > ") +
                   pad_left(cells[2], widths[2]) + "  "},
                  {cells[3], ink}});
    }
    if (all > changes.size()) {
      page_.prose(" ", fmt::format("and {} more; -v shows all", all - changes.size()), Ink::faint);
    }
  }

  void add_run(std::size_t run) {
    const std::string role = run == comparison_.baseline ? "baseline: " : "";
    page_.prose(fmt::format(" {}  ", run_letter(run)), role + run_text(runs_[run]), Ink::plain);
    for (const std::string& note : run_notes(comparison_, runs_, run)) {
      page_.prose("    ", note, Ink::caution);
    }
  }

  void add_runs(bool is_crowd) {
    if (is_crowd) {
      add_run(comparison_.baseline);
      page_.prose("    ", fmt::format("and {} other runs; -v shows all", runs_.size() - 1),
                  Ink::faint);
      return;
    }
    for (std::size_t run = 0; run < runs_.size(); ++run) add_run(run);
  }

  [[nodiscard]] std::vector<std::string> probes() const {
    std::vector<std::string> names;
    for (const ComparedRow& row : comparison_.rows) {
      if (std::find(names.begin(), names.end(), row.probe) == names.end()) {
        names.push_back(row.probe);
      }
    }
    return names;
  }

  [[nodiscard]] std::vector<const ComparedRow*> rows_of(const std::string& probe) const {
    std::vector<const ComparedRow*> rows;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.probe == probe && !is_unresolved(row)) rows.push_back(&row);
    }
    return rows;
  }

  [[nodiscard]] std::string shown_cell(const ComparedCell& cell) const {
    return page_.show(cell_text(cell, "·"));
  }

  /// The columns of one run beside the baseline's.
  [[nodiscard]] static std::vector<Column> run_columns(std::size_t run) {
    return {{run_letter(run), true, group_gap}, {"ratio", true, 1}, {"", false, 1}};
  }

  [[nodiscard]] std::vector<std::string> run_cells(const ComparedRow& row, std::size_t run) const {
    const ComparedCell& cell = row.cells[run];
    return {shown_cell(cell), ratio_text(cell.judgement.ratio),
            verdict_text(cell, row.baseline->finding.unit)};
  }

  void add_groups(const std::string& probe) {
    const std::vector<const ComparedRow*> rows = rows_of(probe);
    std::vector<std::size_t> others;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (run != comparison_.baseline) others.push_back(run);
    }
    for (std::size_t first = 0; first < others.size();) {
      std::vector<Column> columns{{}, {run_letter(comparison_.baseline), true}};
      std::vector<Row> lines;
      std::vector<std::size_t> places;  // of the rows among the lines
      std::string heading;
      for (const ComparedRow* const row : rows) {
        const Finding& finding = row->baseline->finding;
        const bool is_share = is_told_by_label(finding);
        const std::string above =
            is_share ? fmt::format("{}, {}", finding.series, finding.method) : place_title(*row);
        if (heading != above) lines.push_back({{}, page_.show(above)});
        heading = above;
        places.push_back(lines.size());
        lines.push_back({{page_.show(" " + (is_share ? finding.label : words(finding.name))),
                          shown_cell(row->cells[comparison_.baseline])},
                         ""});
      }
      std::size_t last = first;
      const auto fits_too = [&] {
        return fits(columns, lines, rows, places, others[last], last == first);
      };
      while (last < others.size() && fits_too()) ++last;
      page_.table(columns, lines, indent);
      first = last;
      if (first < others.size()) page_.blank();
    }
  }

  /// Adds the columns of `run` when the page has room for them, or when it is the `first` one.
  bool fits(std::vector<Column>& columns, std::vector<Row>& lines,
            const std::vector<const ComparedRow*>& rows, const std::vector<std::size_t>& places,
            std::size_t run, bool is_first) const {
    std::vector<Column> wider = columns;
    std::vector<Row> longer = lines;
    const std::vector<Column> added = run_columns(run);
    wider.insert(wider.end(), added.begin(), added.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<std::string> cells = run_cells(*rows[i], run);
      std::vector<std::string>& line = longer[places[i]].cells;
      line.insert(line.end(), cells.begin(), cells.end());
    }
    if (!is_first && Page::table_width(wider, longer, indent) > page_.width()) return false;
    columns = std::move(wider);
    lines = std::move(longer);
    return true;
  }

  void add_unresolved(const std::string& probe) {
    for (const std::string& line : unresolved_lines(comparison_, probe)) {
      page_.prose(" ", page_.show(line), Ink::faint);
    }
  }

  void add_curves(const std::string& probe) {
    bool is_first = true;
    for (const CurveSummary& curve : comparison_.curves) {
      if (curve.probe != probe) continue;
      if (is_first) {
        page_.prose(" ", "curves compared with the baseline, point by point:", Ink::faint);
      }
      is_first = false;
      page_.prose(fmt::format(" {}  ", run_letter(curve.run)), curve_text(curve), Ink::plain);
    }
  }

  void add_reasons() {
    page_.blank();
    page_.line({{"verdicts", Ink::heading}});
    for (const ComparedRow& row : comparison_.rows) {
      for (std::size_t run = 0; run < row.cells.size(); ++run) {
        const Judgement& judgement = row.cells[run].judgement;
        const bool is_told = !judgement.reason.empty() && !is_unresolved(row);
        if (run == comparison_.baseline || !is_told) continue;
        const std::string text = fmt::format("{}: {}: {}", change_title(row),
                                             to_word(judgement.verdict), judgement.reason);
        const bool is_same = judgement.verdict == Verdict::same;
        page_.prose(fmt::format(" {}  ", run_letter(run)), text,
                    is_same ? Ink::plain : Ink::caution);
      }
    }
  }

  void add_unmatched() {
    if (comparison_.unmatched.empty()) return;
    page_.blank();
    page_.line({{"not matched", Ink::heading}});
    const std::vector<UnmatchedLine> lines = unmatched_lines(comparison_);
    const std::size_t shown =
        style_.all_points ? lines.size() : std::min(lines.size(), listed_lines);
    for (std::size_t i = 0; i < shown; ++i) page_.prose(" ", lines[i].text, Ink::plain);
    if (shown == lines.size()) return;
    page_.prose(" ", fmt::format("and {} more; -v shows all", lines.size() - shown), Ink::faint);
  }

  void add_totals(bool is_crowd) {
    page_.blank();
    if (!is_crowd) {
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        if (run != comparison_.baseline) add_total(run);
      }
    } else {
      for (const std::size_t run : standing_out(listed_runs)) add_total(run);
      page_.prose("all: ", counts_text(total_counts(comparison_)), Ink::plain);
    }
  }

  void add_total(std::size_t run) {
    const VerdictCounts& counts = comparison_.counts[run];
    const bool is_bad = counts.worse + counts.different > 0;
    const std::string name = style_.all_points || runs_.size() <= few_runs
                                 ? std::string()
                                 : fmt::format("{}: ", run_text(runs_[run]));
    page_.prose(fmt::format("{}: ", run_letter(run)), name + counts_text(counts),
                is_bad ? Ink::caution : Ink::plain);
  }

  /// Those with the most findings that changed, the worst first.
  [[nodiscard]] std::vector<std::size_t> standing_out(std::size_t most) const {
    const auto changed = [&](std::size_t run) {
      const VerdictCounts& counts = comparison_.counts[run];
      return std::pair(counts.worse + counts.different, counts.better);
    };
    std::vector<std::size_t> order;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (changed(run) != std::pair<std::size_t, std::size_t>{}) order.push_back(run);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return changed(a) > changed(b); });
    order.resize(std::min(order.size(), most));
    return order;
  }

  const Comparison& comparison_;
  std::span<const RunDigest> runs_;
  const TableStyle& style_;
  Page page_;
};

}  // namespace
}  // namespace report

std::string render_comparison_table(const Comparison& comparison, std::span<const RunDigest> runs,
                                    const TableStyle& style) {
  return report::ComparisonPage(comparison, runs, style).text();
}

}  // namespace clprobe
