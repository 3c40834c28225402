// SPDX-License-Identifier: Apache-2.0
// The findings of a run, a row per level, as wide as the page allows.
#include <fmt/format.h>

#include <algorithm>

#include "clprobe/one_size.hpp"
#include "report/findings.hpp"
#include "report/page.hpp"
#include "report/side_by_side.hpp"
#include "report/stacks.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;

/// What of the findings is shown: the less, the narrower.
struct Detail {
  bool has_series_column{true};
  std::size_t intervals{0};  // of so many columns, from the left
};

/// A reason that has no room in its row, and all that it holds for.
struct Note {
  std::string about{};   // "capacity not reached"
  std::string reason{};  // "the largest size that was measured is 1 GiB"
  std::vector<std::string> subjects{};
};

struct Layout {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  std::vector<Note> notes{};
};

bool is_number(const FindingGrid& grid, std::size_t name) {
  return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const LevelRow& row) {
    return row.cells[name] != nullptr && row.cells[name]->value.has_value();
  });
}

bool is_time(const Finding* finding) { return finding != nullptr && finding->unit == "seconds"; }

bool has_interval(const FindingGrid& grid, std::size_t name) {
  return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const LevelRow& row) {
    const Finding* const finding = row.cells[name];
    if (finding == nullptr || interval_text(*finding).empty()) return false;
    // Cycles have the same relative interval as the time beside them.
    return finding->unit != "cycles" || std::none_of(row.cells.begin(), row.cells.end(), is_time);
  });
}

std::string subject(const LevelRow& row) {
  return row.level ? fmt::format("{} {}", row.series, *row.level) : row.series;
}

// "not reached: the largest ..." is "capacity not reached" for the reason "the largest ...".
void add_note(const Finding& finding, const LevelRow& row, Layout& table) {
  const std::string about = fmt::format("{} {}", words(finding.name), shared_text(&finding, ""));
  std::string reason = reason_text(finding);
  const std::string lead = shared_text(&finding, "") + ": ";
  if (reason.starts_with(lead)) reason.erase(0, lead.size());
  auto note = std::find_if(table.notes.begin(), table.notes.end(), [&](const Note& each) {
    return each.about == about && each.reason == reason;
  });
  if (note == table.notes.end()) note = table.notes.insert(note, {about, reason, {}});
  note->subjects.push_back(subject(row));
}

// One cell per finding and one per interval. A reason becomes a note below the table; only where
// there is nothing else to say about a series, it is said in the row.
void add_cells(const Page& page, const LevelRow& row, const std::vector<bool>& intervals,
               Row& shown, Layout& table) {
  const bool has_value = std::any_of(row.cells.begin(), row.cells.end(), [](const Finding* each) {
    return each != nullptr && !value_text(*each).empty();
  });
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const Finding* const finding = row.cells[i];
    const std::string reason = finding == nullptr ? std::string() : reason_text(*finding);
    if (!has_value && !reason.empty()) {
      shown.remark = page.show(reason);
      return;
    }
    const bool is_observed = finding != nullptr && is_at_one_size(*finding);
    if (is_observed) shown.remark = page.show(reason);
    if (finding != nullptr && !reason.empty() && !is_observed) add_note(*finding, row, table);
    const std::string text =
        page.show(is_observed ? value_text(*finding) : shared_text(finding, ""));
    // A word like "not reached" under the intervals: the column of numbers stays narrow.
    const bool is_aside = intervals[i] && finding != nullptr && !finding->value;
    shown.cells.push_back(is_aside ? "" : text);
    if (!intervals[i]) continue;
    const std::string aside = finding == nullptr ? "" : page.show(interval_text(*finding));
    shown.cells.push_back(is_aside ? text : aside);
  }
  while (!shown.remark.empty() && shown.cells.back().empty()) shown.cells.pop_back();
}

Layout lay_out(const Page& page, const FindingGrid& grid, const Detail& detail) {
  Layout table;
  const bool has_levels = std::any_of(grid.rows.begin(), grid.rows.end(),
                                      [](const LevelRow& row) { return row.level.has_value(); });
  table.columns.push_back({});
  if (has_levels) table.columns.push_back({"", true, 1});
  std::vector<bool> intervals;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < grid.names.size(); ++i) {
    table.columns.push_back({page.show(words(grid.names[i])), is_number(grid, i), 2});
    intervals.push_back(has_interval(grid, i) && kept++ < detail.intervals);
    if (intervals.back()) table.columns.push_back({"", false, 1});
  }
  std::string last_series;
  for (const LevelRow& row : grid.rows) {
    const bool is_new = row.series != last_series || table.rows.empty();
    last_series = row.series;
    Row shown;
    const bool is_apart = is_new && !detail.has_series_column;
    if (is_apart) table.rows.push_back({{}, page.show(row.series)});
    shown.cells.push_back(is_new && !is_apart ? page.show(row.series) : "");
    if (has_levels) shown.cells.push_back(level_text(row.level));
    add_cells(page, row, intervals, shown, table);
    table.rows.push_back(std::move(shown));
  }
  return table;
}

std::string sentence(const FindingGrid& grid, const LevelRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const Finding* const finding = row.cells[i];
    if (finding == nullptr) continue;
    const std::string value = value_text(*finding);
    const std::string interval = interval_text(*finding);
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", words(grid.names[i]), value,
                        interval.empty() ? "" : " ", interval);
    const std::string reason = reason_text(*finding);
    if (!value.empty() && !reason.empty()) text += ": ";
    text += reason;
  }
  return text;
}

void add_table(Page& page, const Layout& table, Form form) {
  page.table(table.columns, table.rows, indent);
  if (form != Form::whole) return;
  for (const Note& note : table.notes) {
    page.prose(" ",
               fmt::format("{} ({}): {}", note.about, fmt::join(note.subjects, ", "), note.reason),
               Ink::faint);
  }
}

void add_grid(Page& page, const FindingGrid& grid, Form form) {
  const std::size_t most = grid.names.size();
  std::vector<Detail> ladder{{true, most}};
  for (std::size_t intervals = most + 1; intervals-- > 0;) ladder.push_back({false, intervals});
  for (const Detail& detail : ladder) {
    const Layout table = lay_out(page, grid, detail);
    if (Page::table_width(table.columns, table.rows, indent) > page.width()) continue;
    add_table(page, table, form);
    return;
  }
  for (const LevelRow& row : grid.rows) {
    page.prose(" " + subject(row) + ": ", sentence(grid, row), Ink::plain);
  }
}

}  // namespace

void add_findings(Page& page, const std::vector<Finding>& findings, Form form) {
  std::vector<Finding> shown = without_stacks(findings);
  if (form != Form::whole) {
    // How well a model fits is for those who ask why.
    std::erase_if(shown, [](const Finding& each) { return each.role == Role::remark; });
  }
  for (const std::vector<Finding>& block : blocks_of(shown)) {
    add_grid(page, arrange(block), form);
  }
  for (const Advice& advice : advice_in(findings)) {
    page.prose(fmt::format(" {}: ", page.show(advice.series)), page.show(advice.sentence),
               Ink::plain);
  }
}

}  // namespace clprobe::report
