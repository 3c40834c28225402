// SPDX-License-Identifier: Apache-2.0
#include "present/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/html_page.hpp"
#include "present/safe_text.hpp"
#include "present/stacks.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

/// Findings about one level of a series.
struct LevelRow {
  std::string series{};
  std::optional<int> level{};
  std::vector<const Finding*> cells{};  ///< a finding per name in FindingGrid::names; null: missing
};

/// Findings, except advice, as a grid: a row per series and level, a column per name. Names and
/// series are in order of first appearance.
struct FindingGrid {
  std::vector<std::string> names{};
  std::vector<LevelRow> rows{};
};

FindingGrid arrange(std::span<const Finding> findings) {
  FindingGrid grid;
  for (const Finding& finding : findings) {
    if (finding.role == Role::advice) continue;
    add_once(grid.names, finding.name);
  }
  std::vector<std::string> series;
  for (const Finding& finding : findings) {
    if (finding.role == Role::advice) continue;
    const auto name = std::ranges::find(grid.names, finding.name);
    const auto column = static_cast<std::size_t>(name - grid.names.begin());
    // If a level has a second finding with this name, that finding gets a separate row.
    auto row = std::ranges::find_if(grid.rows, [&](const LevelRow& each) {
      return each.series == finding.series && each.level == finding.level &&
             each.cells[column] == nullptr;
    });
    if (row == grid.rows.end()) {
      LevelRow added{finding.series, finding.level, {}};
      added.cells.resize(grid.names.size(), nullptr);
      row = grid.rows.insert(grid.rows.end(), std::move(added));
    }
    row->cells[column] = &finding;
    add_once(series, finding.series);
  }
  const auto place = [&](const LevelRow& row) {
    return std::pair(std::ranges::find(series, row.series), row.level.value_or(0));
  };
  std::ranges::stable_sort(
      grid.rows, [&](const LevelRow& a, const LevelRow& b) { return place(a) < place(b); });
  return grid;
}

bool is_time(const Finding* finding) { return finding != nullptr && finding->unit == "seconds"; }

/// Returns the cell of a finding. If the row also has a time, cycles have no interval, since their
/// relative interval equals that of the time.
Cell cell_of(const Finding* finding, const LevelRow& row) {
  if (finding == nullptr) return {};
  const bool is_repeated = finding->unit == "cycles" && std::ranges::any_of(row.cells, is_time);
  return {.text = value_text(*finding),
          .aside = finding->value && !is_repeated ? interval_text(*finding) : "",
          .reason = reason_text(*finding),
          .is_number = finding->value.has_value(),
          .is_remark = is_at_one_size(*finding)};
}

bool is_empty(const Cell& cell) {
  return cell.text.empty() && cell.aside.empty() && cell.reason.empty();
}

/// Returns the CSS class of a colour, which is the name of a verdict; empty for a colour without a
/// class.
std::string_view class_of(Ink ink) {
  switch (ink) {
    case Ink::good:
      return "better";
    case Ink::failure:
      return "worse";
    case Ink::caution:
      return "different";
    default:
      return "";
  }
}

std::string markdown_cell(const Cell& cell) {
  const std::string_view mark = class_of(cell.ink).empty() ? "" : "**";
  const auto marked = [&](const std::string& text, bool is_marked) {
    const std::string_view own = is_marked ? mark : "";
    return text.empty() ? text : fmt::format("{}{}{}", own, escape_markdown(text), own);
  };
  std::string text = marked(cell.text, cell.aside.empty());
  if (!text.empty() && !cell.aside.empty()) text += ' ';
  text += marked(cell.aside, true);
  if (!text.empty() && !cell.reason.empty()) text += cell.is_number ? " " : ": ";
  return text + escape_markdown(cell.reason);
}

std::string html_cell(const Cell& cell) {
  constexpr std::size_t long_reason = 160;  // characters; longer reasons get a wider column
  if (is_empty(cell)) return "<td class=\"none\">&#183;</td>";
  const char* const kind = cell.reason.size() > long_reason ? "reason long" : "reason";
  std::string html =
      cell.reason.empty() ? std::string("<td>") : fmt::format("<td class=\"{}\">", kind);
  if (cell.text.empty()) return html + html_text(cell.reason) + "</td>";
  if (const std::string_view kind_of_ink = class_of(cell.ink); !kind_of_ink.empty()) {
    html += fmt::format("<span class=\"verdict {}\">{}</span>", kind_of_ink, html_text(cell.text));
    return html + "</td>";
  }
  if (cell.aside.empty() && cell.reason.empty()) return html + html_text(cell.text) + "</td>";
  html += fmt::format("<em>{}</em>", html_text(cell.text));
  for (const auto& [text, is] :
       {std::pair(&cell.aside, "spread"), std::pair(&cell.reason, "reason")}) {
    if (!text->empty()) html += fmt::format(" <span class=\"{}\">{}</span>", is, html_text(*text));
  }
  return html + "</td>";
}

/// Returns the number of consecutive rows, starting at row `first`, with the same text in the first
/// name column; 1 if the table has only one name column.
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
  const auto column = [&](std::string_view title) {
    return static_cast<std::size_t>(std::ranges::find(table.head, title) - table.head.begin());
  };
  if (column("verdict") < cells.size()) {
    html = fmt::format(R"(<tr data-probe="{}" data-verdict="{}">)",
                       html_text(cells.at(column("probe")).text), cells[column("verdict")].text);
  }
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
  const std::vector<std::vector<Finding>> blocks = groups_of(without_stacks(findings));
  std::vector<Table> tables;
  for (const std::vector<Finding>& block : blocks) {
    const FindingGrid grid = arrange(block);
    if (grid.rows.empty()) continue;  // the findings are only advice, which the notices show
    Table table{.title = blocks.size() > 1 ? fmt::format("{}: {}", title, block.front().series)
                                           : std::string(title),
                .head = {"series", "level"},
                .names = 2};
    for (const std::string& name : grid.names) table.head.push_back(words(name));
    for (const LevelRow& row : grid.rows) {
      std::vector<Cell> cells{{row.series}, {row.level ? fmt::to_string(*row.level) : ""}};
      for (const Finding* const finding : row.cells) cells.push_back(cell_of(finding, row));
      table.rows.push_back(std::move(cells));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

bool is_item(const Block& block) {
  const auto* const prose = std::get_if<Prose>(&block);
  return prose != nullptr && !prose->is_paragraph;
}

std::vector<Prose> notices_of(std::span<const Warning> warnings) {
  std::vector<Prose> notices;
  for (std::string& sentence : warning_sentences(warnings)) {
    notices.push_back({.text = std::move(sentence), .ink = Ink::caution});
  }
  return notices;
}

std::vector<Prose> notices_of(const ProbeResult& result) {
  std::vector<Prose> notices;
  for (const Finding& each : result.findings) {
    if (each.role != Role::advice || each.label.empty()) continue;
    notices.push_back({.lead = each.series + ":", .text = each.label});
  }
  if (std::string failures = failures_text(result); !failures.empty()) {
    notices.push_back({.text = std::move(failures), .ink = Ink::failure});
  }
  for (Prose& warning : notices_of(result.warnings)) notices.push_back(std::move(warning));
  return notices;
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
  return text;
}

std::string to_markdown(std::span<const Block> blocks) {
  std::string text;
  bool is_in_list = false;
  for (const Block& block : blocks) {
    const bool was_in_list = std::exchange(is_in_list, is_item(block));
    const auto* const heading = std::get_if<Heading>(&block);
    if (heading != nullptr && heading->text.empty()) continue;
    if (!text.empty() && !(is_in_list && was_in_list)) text += '\n';
    if (heading != nullptr) {
      text +=
          fmt::format("{} {}\n", std::string(heading->rank, '#'), escape_markdown(heading->text));
    } else if (const auto* const table = std::get_if<Table>(&block)) {
      text += to_markdown(*table);
    } else {
      const auto& prose = std::get<Prose>(block);
      const std::string_view mark = !is_in_list ? "" : prose.is_nested ? "  - " : "- ";
      const bool has_lead = !prose.lead.empty() && !prose.is_nested;
      text += mark;
      if (has_lead) text += fmt::format("**{}** ", escape_markdown(prose.lead));
      text += escape_markdown(prose.text) + '\n';
    }
  }
  return text;
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
