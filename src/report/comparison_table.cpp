// SPDX-License-Identifier: Apache-2.0
// A comparison for the terminal: findings side by side, the curves, and what has no counterpart.
#include <fmt/format.h>

#include <algorithm>

#include "clprobe/comparison_report.hpp"
#include "clprobe/stacks.hpp"
#include "report/comparison_text.hpp"
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

class ComparisonPage {
 public:
  ComparisonPage(const Comparison& comparison, std::span<const RunDigest> runs,
                 const TableStyle& style)
      : comparison_(comparison), runs_(runs), style_(style), page_(style) {}

  std::string text() {
    const bool is_crowd = runs_.size() > few_runs && !style_.all_points;
    add_runs(is_crowd);
    for (const std::string& probe : probes()) {
      page_.blank();
      page_.line({{page_.show(probe), Ink::heading}});
      if (is_crowd) {
        add_ranges(probe);
        add_unresolved(probe);
      } else {
        add_groups(probe);
        add_unresolved(probe);
        if (probe == clock_section) add_clocks();
        add_curves(probe);
      }
    }
    if (style_.all_points) add_reasons();
    add_unmatched();
    add_totals(is_crowd);
    return page_.text();
  }

 private:
  void add_run(std::size_t run) {
    const std::string role = run == comparison_.baseline ? "baseline: " : "";
    page_.prose(fmt::format(" {}  ", run_letter(run)), role + run_text(runs_[run]), Ink::plain);
  }

  void add_runs(bool is_crowd) {
    if (is_crowd) {
      add_run(comparison_.baseline);
      page_.prose("    ", fmt::format("and {} other runs; -v shows every one", runs_.size() - 1),
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

  /// A title that would take what the values need stands as two lines.
  [[nodiscard]] bool is_long(const Finding& finding) const {
    constexpr int values = 62;  // two of them, their ratio and a verdict
    return display_width(page_.show(finding_title(finding))) > page_.width() - values;
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
        const bool is_below = is_share || is_long(finding);
        const std::string level = finding.level ? fmt::format(" {}", *finding.level) : "";
        const std::string above =
            finding.series + (is_share ? fmt::format(", {}", finding.method) : level);
        if (is_below && heading != above) lines.push_back({{}, page_.show(above)});
        heading = is_below ? above : "";
        places.push_back(lines.size());
        const std::string below = is_share ? finding.label : words(finding.name);
        lines.push_back({{page_.show(is_below ? " " + below : finding_title(finding)),
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

  void add_ranges(const std::string& probe) {
    const std::vector<Column> columns{{},
                                      {run_letter(comparison_.baseline), true},
                                      {"least", true},
                                      {"median", true, 1},
                                      {"most", true, 1},
                                      {"furthest", true},
                                      {"verdicts"}};
    std::vector<Row> lines;
    for (const ComparedRow* const row : rows_of(probe)) {
      const RatioRange range = ratio_range(*row, comparison_.baseline);
      const auto shown = [&](double ratio) {
        return range.count == 0 ? std::string() : ratio_text(ratio);
      };
      lines.push_back(
          {{page_.show(finding_title(row->baseline->finding)),
            shown_cell(row->cells[comparison_.baseline]), shown(range.least), shown(range.middle),
            shown(range.most), range.count == 0 ? std::string() : run_letter(range.furthest_run)},
           page_.show(counts_text(row_counts(*row, comparison_.baseline)))});
    }
    page_.table(columns, lines, indent);
  }

  void add_unresolved(const std::string& probe) {
    for (const std::string& line : unresolved_lines(comparison_, probe)) {
      page_.prose(" ", page_.show(line), Ink::faint);
    }
  }

  void add_clocks() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const std::string text = clock_text(comparison_, runs_, run);
      if (!text.empty()) page_.prose(fmt::format(" {}  ", run_letter(run)), text, Ink::caution);
    }
  }

  void add_curves(const std::string& probe) {
    bool is_first = true;
    for (const CurveSummary& curve : comparison_.curves) {
      if (curve.probe != probe) continue;
      if (is_first) page_.prose(" ", "curves, point by point, beside the baseline:", Ink::faint);
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
        const std::string text =
            fmt::format("{} {}: {}: {}", row.probe, finding_title(row.baseline->finding),
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
    std::size_t shown = 0;
    for (const Unmatched& each : comparison_.unmatched) {
      if (shown == listed_lines && !style_.all_points) {
        page_.prose(" ",
                    fmt::format("and {} more; -v shows all", comparison_.unmatched.size() - shown),
                    Ink::faint);
        return;
      }
      page_.prose(" ", unmatched_text(each), Ink::plain);
      ++shown;
    }
  }

  void add_totals(bool is_crowd) {
    page_.blank();
    if (!is_crowd) {
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        if (run != comparison_.baseline) add_total(run);
      }
    } else {
      for (const std::size_t run : standing_out()) add_total(run);
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
  [[nodiscard]] std::vector<std::size_t> standing_out() const {
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
    order.resize(std::min(order.size(), listed_runs));
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
