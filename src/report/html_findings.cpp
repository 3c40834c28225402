// SPDX-License-Identifier: Apache-2.0
#include "report/html_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/findings.hpp"
#include "report/html_text.hpp"

namespace clprobe::report {
namespace {

// A wide table scrolls in a box of its own, which the keyboard can reach.
std::string boxed(std::string_view caption, const std::string& table) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table "
      "class=\"findings\">\n<caption>{0}</caption>\n{1}</table>\n</div>\n",
      html_text(caption), table);
}

// The value, its interval beside it, and the reason where there is no value.
std::string cell_of(const Finding* finding, bool is_brief) {
  if (finding == nullptr) return "<td class=\"none\">&#183;</td>";
  const std::string value = value_text(*finding);
  const std::string reason = reason_text(*finding);
  if (value.empty()) {
    // All of it, where a pointer rests on its beginning.
    return is_brief ? fmt::format("<td class=\"reason\" title=\"{}\">{}</td>", html_text(reason),
                                  html_text(short_reason(*finding)))
                    : fmt::format("<td class=\"reason\">{}</td>", html_text(reason));
  }
  const std::string aside = finding->value ? interval_text(*finding) : std::string();
  std::string html = fmt::format("<td><span class=\"value\">{}</span>", html_text(value));
  if (!aside.empty()) html += fmt::format(" <span class=\"spread\">{}</span>", html_text(aside));
  if (!is_brief && !reason.empty()) {
    html += fmt::format(" <span class=\"reason\">{}</span>", html_text(reason));
  }
  return html + "</td>";
}

std::string row_head(std::string_view text, std::size_t rows) {
  const std::string span = rows > 1 ? fmt::format(" rowspan=\"{}\"", rows) : std::string();
  return fmt::format("<th scope=\"row\"{}>{}</th>", span, html_text(text));
}

/// The rows of one level of one series: one per finding that any device has.
std::vector<std::string> finding_rows(const SharedGrid& grid, const SharedRow& row) {
  std::vector<std::string> rows;
  for (std::size_t name = 0; name < grid.names.size(); ++name) {
    const bool has_any = std::any_of(row.cells.begin(), row.cells.end(),
                                     [&](const auto& cells) { return cells[name] != nullptr; });
    if (!has_any) continue;
    std::string html =
        fmt::format("<th scope=\"row\" class=\"name\">{}</th>", html_text(words(grid.names[name])));
    for (const auto& cells : row.cells) html += cell_of(cells[name], true);
    rows.push_back(std::move(html));
  }
  return rows;
}

}  // namespace

std::string findings_html(const std::vector<Finding>& findings, std::string_view caption) {
  const FindingGrid grid = arrange(findings);
  std::string table = "<thead><tr><th scope=\"col\">series</th><th scope=\"col\">level</th>";
  for (const std::string& name : grid.names) {
    table += fmt::format("<th scope=\"col\">{}</th>", html_text(words(name)));
  }
  table += "</tr></thead>\n";
  for (std::size_t first = 0; first < grid.rows.size();) {
    std::size_t last = first + 1;
    while (last < grid.rows.size() && grid.rows[last].series == grid.rows[first].series) ++last;
    table += "<tbody>\n";
    for (std::size_t i = first; i < last; ++i) {
      const LevelRow& row = grid.rows[i];
      table += "<tr>" + (i == first ? row_head(row.series, last - first) : std::string());
      table += fmt::format("<td class=\"level\">{}</td>", level_text(row.level));
      for (const Finding* const finding : row.cells) table += cell_of(finding, false);
      table += "</tr>\n";
    }
    table += "</tbody>\n";
    first = last;
  }
  return boxed(caption, table);
}

std::string shared_findings_html(const SharedGrid& grid, std::span<const Run> runs) {
  std::string table =
      "<thead><tr><th scope=\"col\">series</th><th scope=\"col\">level</th><th "
      "scope=\"col\">finding</th>";
  for (std::size_t run = 0; run < runs.size(); ++run) {
    table += fmt::format(
        "<th scope=\"col\"><span class=\"swatch c{}\" aria-hidden=\"true\"></span>{}</th>", run % 8,
        html_text(runs[run].device.name));
  }
  table += "</tr></thead>\n";
  for (const SharedRow& row : grid.rows) {
    const std::vector<std::string> rows = finding_rows(grid, row);
    if (rows.empty()) continue;
    table += "<tbody>\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table += "<tr>";
      if (i == 0) {
        table += row_head(row.series, rows.size());
        table += row_head(level_text(row.level), rows.size());
      }
      table += rows[i] + "</tr>\n";
    }
    table += "</tbody>\n";
  }
  return boxed("Findings, devices side by side", table);
}

}  // namespace clprobe::report
