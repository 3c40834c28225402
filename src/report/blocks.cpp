// SPDX-License-Identifier: Apache-2.0
#include "report/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/findings.hpp"
#include "report/html_page.hpp"
#include "report/safe_text.hpp"
#include "report/stacks.hpp"

namespace clprobe::report {
namespace {

Cell cell_of(const Finding* finding) {
  if (finding == nullptr) return {};
  return {value_text(*finding), finding->value ? interval_text(*finding) : "",
          reason_text(*finding), finding->value.has_value()};
}

bool is_empty(const Cell& cell) {
  return cell.text.empty() && cell.aside.empty() && cell.reason.empty();
}

std::string markdown_cell(const Cell& cell) {
  std::string text = cell.text;
  if (!text.empty() && !cell.aside.empty()) text += ' ';
  text += cell.aside;
  if (!text.empty() && !cell.reason.empty()) text += cell.is_number ? " " : ": ";
  return escape_markdown(text + cell.reason);
}

std::string html_cell(const Cell& cell) {
  constexpr std::size_t long_reason = 160;  // characters that make a narrow column a tall one
  if (is_empty(cell)) return "<td class=\"none\">&#183;</td>";
  const char* const kind = cell.reason.size() > long_reason ? "reason long" : "reason";
  std::string html =
      cell.reason.empty() ? std::string("<td>") : fmt::format("<td class=\"{}\">", kind);
  if (cell.text.empty()) return html + html_text(cell.reason) + "</td>";
  if (cell.aside.empty() && cell.reason.empty()) return html + html_text(cell.text) + "</td>";
  html += fmt::format("<em>{}</em>", html_text(cell.text));
  for (const auto& [text, is] :
       {std::pair(&cell.aside, "spread"), std::pair(&cell.reason, "reason")}) {
    if (!text->empty()) html += fmt::format(" <span class=\"{}\">{}</span>", is, html_text(*text));
  }
  return html + "</td>";
}

/// How many rows from `first` on have the same first name, where rows have several names.
std::size_t rows_alike(const Table& table, std::size_t first) {
  std::size_t last = first + 1;
  const auto name = [&](std::size_t row) { return table.rows[row].front().text; };
  while (table.names > 1 && last < table.rows.size() && name(last) == name(first)) ++last;
  return last - first;
}

std::string html_head(const Table& table, const std::vector<bool>& is_shown) {
  std::string html = "<thead><tr>";
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    if (!is_shown[i]) continue;
    const bool is_device = table.is_of_devices && i >= table.names;
    html +=
        fmt::format("<th scope=\"col\">{}{}</th>",
                    is_device ? swatch(i - table.names) : std::string(), html_text(table.head[i]));
  }
  return html + "</tr></thead>\n";
}

std::string html_row(const Table& table, const std::vector<Cell>& cells, std::size_t alike,
                     const std::vector<bool>& is_shown) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == 0) {
      const std::string span = alike > 1 ? fmt::format(" rowspan=\"{}\"", alike) : std::string();
      const std::string name = html_text(cells[0].text);
      if (alike > 0) html += fmt::format("<th scope=\"row\"{}>{}</th>", span, name);
    } else if (is_shown[i] && i < table.names) {
      html += fmt::format("<td class=\"level\">{}</td>", html_text(cells[i].text));
    } else if (is_shown[i]) {
      html += html_cell(cells[i]);
    }
  }
  return html + "</tr>\n";
}

}  // namespace

std::vector<Table> findings_tables(const std::vector<Finding>& findings, std::string_view title) {
  // Series that share no name share no column either.
  const std::vector<std::vector<Finding>> blocks = blocks_of(without_stacks(findings));
  std::vector<Table> tables;
  for (const std::vector<Finding>& block : blocks) {
    const FindingGrid grid = arrange(block);
    if (grid.rows.empty()) continue;  // advice alone, which stands elsewhere
    Table table{.title = blocks.size() > 1 ? fmt::format("{}: {}", title, block.front().series)
                                           : std::string(title),
                .head = {"series", "level"},
                .names = 2};
    for (const std::string& name : grid.names) table.head.push_back(words(name));
    for (const LevelRow& row : grid.rows) {
      std::vector<Cell> cells{{row.series}, {level_text(row.level)}};
      for (const Finding* const finding : row.cells) cells.push_back(cell_of(finding));
      table.rows.push_back(std::move(cells));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Shares> shares_tables(std::span<const Finding> findings) {
  std::vector<Shares> all;
  for (ShareTable& shares : share_tables(findings)) {
    Table table{.title = shares.title, .kind = "findings shares", .head = shares.head};
    for (const std::vector<std::string>& row : shares.rows) {
      std::vector<Cell> cells;
      cells.reserve(row.size());
      for (const std::string& text : row) cells.push_back({text});
      table.rows.push_back(std::move(cells));
    }
    all.push_back({std::move(table), std::move(shares.remarks)});
  }
  return all;
}

Table shared_table(const SharedGrid& grid, std::span<const std::string> titles) {
  Table table{.title = "Findings, devices side by side",
              .kind = "findings shared",
              .head = {grid.probe, "level", "finding"},
              .names = 3,
              .is_of_devices = true};
  table.head.insert(table.head.end(), titles.begin(), titles.end());
  for (const SharedRow& row : grid.rows) {
    for (std::size_t name = 0; name < grid.names.size(); ++name) {
      std::vector<Cell> cells{{row.series}, {level_text(row.level)}, {words(grid.names[name])}};
      for (const auto& of_run : row.cells) {
        const Finding* const finding = of_run[name];
        cells.push_back(
            {shared_text(finding, ""), finding == nullptr ? "" : interval_text(*finding)});
      }
      if (!std::all_of(cells.begin() + 3, cells.end(), is_empty)) {
        table.rows.push_back(std::move(cells));
      }
    }
  }
  return table;
}

Table levels_table(const DeviceCard& card) {
  Table table{.title = "Levels of " + card.title,
              .head = {"level", "latency", "cycles", "capacity"}};
  table.head.insert(table.head.end(), card.columns.begin(), card.columns.end());
  table.head.emplace_back("type");
  for (const DeviceLevel& level : card.levels) {
    const LevelTexts texts = texts_of(level.own);
    std::vector<Cell> cells{{level.own.name},
                            {texts.latency, texts.interval},
                            {texts.cycles},
                            {texts.capacity, texts.bracket}};
    for (const std::string& each : level.columns) cells.push_back({each});
    cells.push_back({.reason = what_text(level)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string to_markdown(const Table& table) {
  const auto row_of = [](const auto& cells, auto text) {
    std::vector<std::string> texts;
    texts.reserve(cells.size());
    for (const auto& cell : cells) texts.push_back(text(cell));
    return markdown_row(texts);
  };
  std::string text = row_of(table.head, escape_markdown);
  text += markdown_rule(table.head.size(), table.names);
  for (const std::vector<Cell>& row : table.rows) text += row_of(row, markdown_cell);
  return text + '\n';
}

std::string to_html(const Table& table) {
  std::vector<bool> is_shown(table.head.size(), false);
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) is_shown[i] = is_shown[i] || !is_empty(row[i]);
  }
  is_shown.front() = true;
  std::string html = html_head(table, is_shown);
  html += "<tbody>\n";
  for (std::size_t first = 0; first < table.rows.size();) {
    const std::size_t alike = rows_alike(table, first);
    if (first > 0 && table.names > 1) html += "</tbody>\n<tbody>\n";
    for (std::size_t i = 0; i < alike; ++i) {
      html += html_row(table, table.rows[first + i], i == 0 ? alike : 0, is_shown);
    }
    first += alike;
  }
  html += "</tbody>\n";
  return boxed_table(table.title, table.kind, html);
}

}  // namespace clprobe::report
