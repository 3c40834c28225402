// SPDX-License-Identifier: Apache-2.0
// Devices side by side: each a group of columns.
#include <algorithm>

#include "report/device_text.hpp"
#include "report/side_by_side.hpp"
#include "report/table_sections.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;
constexpr int first_gap = 3;  // before the columns of a device
constexpr std::string_view nothing = "·";

// Worth a column for every device: what has a number, but not the cycles beside the time.
std::vector<std::size_t> shared_columns(const SharedGrid& grid) {
  std::vector<std::size_t> columns;
  for (std::size_t name = 0; name < grid.names.size(); ++name) {
    bool has_number = false;
    for (const SharedRow& row : grid.rows) {
      for (const auto& cells : row.cells) {
        const Finding* const finding = cells[name];
        has_number =
            has_number || (finding != nullptr && finding->value && finding->unit != "cycles");
      }
    }
    if (has_number) columns.push_back(name);
  }
  return columns;
}

bool has_findings(const SharedGrid& grid, std::size_t run) {
  return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const SharedRow& row) {
    return std::any_of(row.cells[run].begin(), row.cells[run].end(),
                       [](const Finding* finding) { return finding != nullptr; });
  });
}

/// The columns of one device.
struct Group {
  std::string title{};
  std::vector<Column> columns{};
  std::vector<std::vector<std::string>> cells{};  // by row
  int width{0};
};

Group group_of(const Page& page, const SharedGrid& grid, const DeviceInfo& device,
               std::size_t run) {
  Group group{.title = page.show(device_title(device))};
  std::vector<Row> rows;
  rows.resize(grid.rows.size());
  for (const std::size_t name : shared_columns(grid)) {
    const int gap = group.columns.empty() ? first_gap : 2;
    group.columns.push_back({page.show(words(grid.names[name])), true, gap});
    for (std::size_t i = 0; i < grid.rows.size(); ++i) {
      rows[i].cells.push_back(page.show(shared_text(grid.rows[i].cells[run][name], nothing)));
    }
  }
  for (const Row& row : rows) group.cells.push_back(row.cells);
  group.width = Page::table_width(group.columns, rows, first_gap);
  return group;
}

void add_groups(Page& page, const SharedGrid& grid, std::span<const Group> groups) {
  std::vector<Column> columns{{}, {"", true, 1}};
  std::vector<Row> rows;
  std::string last_series;
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    const SharedRow& row = grid.rows[i];
    const bool is_new = rows.empty() || row.series != last_series;
    Row shown{{is_new ? page.show(row.series) : "", level_text(row.level)}, ""};
    bool is_empty = true;
    for (const Group& group : groups) {
      for (const std::string& cell : group.cells[i]) {
        is_empty = is_empty && cell == page.show(nothing);
        shown.cells.push_back(cell);
      }
    }
    if (is_empty) continue;
    last_series = row.series;
    rows.push_back(std::move(shown));
  }
  const int before = Page::table_width(columns, rows, indent);
  std::vector<Span> heads{{pad_right(" " + page.show(grid.probe), before), Ink::heading}};
  for (const Group& group : groups) {
    const std::string_view mark = page.is_unicode() ? "…" : "...";
    const std::string title = cut_to_width(group.title, group.width - first_gap, mark);
    heads.push_back({pad_left(title, group.width), Ink::heading});
    columns.insert(columns.end(), group.columns.begin(), group.columns.end());
  }
  page.line(heads);
  page.table(columns, rows, indent);
  page.blank();
}

int words_width(const Page& page, const SharedGrid& grid) {
  constexpr int level_width = 3;  // a digit or two, and the gap before them
  int width = 0;
  for (const SharedRow& row : grid.rows) {
    width = std::max(width, display_width(page.show(row.series)));
  }
  return indent + width + level_width;
}

}  // namespace

void add_side_by_side(Page& page, std::span<const Run> runs) {
  for (const SharedGrid& grid : compare_findings(runs)) {
    std::vector<Group> groups;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (has_findings(grid, run)) groups.push_back(group_of(page, grid, runs[run].device, run));
    }
    if (groups.size() < 2) continue;
    for (std::size_t first = 0; first < groups.size();) {
      int used = words_width(page, grid) + groups[first].width;
      std::size_t last = first + 1;
      while (last < groups.size() && used + groups[last].width <= page.width()) {
        used += groups[last++].width;
      }
      add_groups(page, grid, std::span(groups).subspan(first, last - first));
      first = last;
    }
  }
}

}  // namespace clprobe::report
