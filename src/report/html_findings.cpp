// SPDX-License-Identifier: Apache-2.0
#include "report/html_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/findings.hpp"
#include "report/html_page.hpp"
#include "report/html_text.hpp"

namespace clprobe::report {
namespace {

// The value, its interval beside it, and the reason where there is no value.
std::string cell_of(const Finding* finding) {
  if (finding == nullptr) return "<td class=\"none\">&#183;</td>";
  const std::string value = value_text(*finding);
  const std::string reason = reason_text(*finding);
  constexpr std::size_t long_reason = 160;  // characters that make a narrow column a tall one
  const char* const kind = reason.size() > long_reason ? "reason long" : "reason";
  if (value.empty()) return fmt::format("<td class=\"{}\">{}</td>", kind, html_text(reason));
  const std::string aside = finding->value ? interval_text(*finding) : std::string();
  std::string html = reason.empty() ? std::string("<td>") : fmt::format("<td class=\"{}\">", kind);
  html += fmt::format("<em>{}</em>", html_text(value));
  if (!aside.empty()) html += fmt::format(" <span class=\"spread\">{}</span>", html_text(aside));
  if (!reason.empty()) html += fmt::format(" <span class=\"reason\">{}</span>", html_text(reason));
  return html + "</td>";
}

std::string row_head(std::string_view text, std::size_t rows) {
  const std::string span = rows > 1 ? fmt::format(" rowspan=\"{}\"", rows) : std::string();
  return fmt::format("<th scope=\"row\"{}>{}</th>", span, html_text(text));
}

// The first finding stands out, the others follow it by name.
std::string shared_cell(const SharedGrid& grid, const std::vector<const Finding*>& findings) {
  std::string others;
  for (std::size_t name = 1; name < grid.names.size(); ++name) {
    const Finding* const finding = findings[name];
    if (finding == nullptr) continue;
    const std::string interval = interval_text(*finding);
    const std::string text =
        fmt::format("{} {}{}", words(grid.names[name]), shared_text(finding, ""),
                    interval.empty() ? "" : " " + interval);
    others += fmt::format("{}<span>{}</span>", others.empty() ? "" : ", ", html_text(text));
  }
  const bool has_any = findings[0] != nullptr || !others.empty();
  if (!has_any) return "<td class=\"none\">&#183;</td>";
  std::string html = "<td>";
  if (const Finding* const first = findings[0]) {
    html +=
        fmt::format(R"(<span class="others">{}</span> <em>{}</em> <span class="spread">{}</span>)",
                    html_text(words(grid.names[0])), html_text(shared_text(first, "")),
                    html_text(interval_text(*first)));
  }
  const char* const gap = findings[0] != nullptr ? "<br>" : "";
  if (!others.empty()) html += fmt::format("{}<span class=\"others\">{}</span>", gap, others);
  return html + "</td>";
}

/// Whether a column for levels says anything.
template <typename Row>
bool has_levels(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.level.has_value(); });
}

template <typename Row>
std::string head_of(const std::vector<Row>& rows) {
  return fmt::format(R"(<thead><tr><th scope="col">series</th>{})",
                     has_levels(rows) ? R"(<th scope="col">level</th>)" : "");
}

/// A body for each series, whose name stands once before its rows; `cells_of` writes what follows
/// the level in a row.
template <typename Row, typename CellsOf>
std::string bodies(const std::vector<Row>& rows, CellsOf cells_of) {
  const bool with_levels = has_levels(rows);
  std::string table;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first + 1;
    while (last < rows.size() && rows[last].series == rows[first].series) ++last;
    table += "<tbody>\n";
    for (std::size_t i = first; i < last; ++i) {
      table += "<tr>" + (i == first ? row_head(rows[i].series, last - first) : std::string());
      if (with_levels) {
        table += fmt::format("<td class=\"level\">{}</td>", level_text(rows[i].level));
      }
      table += cells_of(rows[i]) + "</tr>\n";
    }
    table += "</tbody>\n";
    first = last;
  }
  return table;
}

}  // namespace

namespace {

std::string block_html(const std::vector<Finding>& findings, std::string_view caption) {
  const FindingGrid grid = arrange(findings);
  if (grid.rows.empty()) return {};  // advice alone, which stands elsewhere
  std::string table = head_of(grid.rows);
  for (const std::string& name : grid.names) {
    table += fmt::format("<th scope=\"col\">{}</th>", html_text(words(name)));
  }
  table += "</tr></thead>\n";
  table += bodies(grid.rows, [](const LevelRow& row) {
    std::string cells;
    for (const Finding* const finding : row.cells) cells += cell_of(finding);
    return cells;
  });
  return boxed_table(caption, "findings", table);
}

}  // namespace

std::string findings_html(const std::vector<Finding>& findings, std::string_view caption) {
  // Series that share no name share no column either.
  const std::vector<std::vector<Finding>> blocks = blocks_of(findings);
  std::string html;
  for (const std::vector<Finding>& block : blocks) {
    const std::string of_block =
        blocks.size() > 1 ? fmt::format("{}: {}", caption, block.front().series) : "";
    html += block_html(block, of_block.empty() ? caption : of_block);
  }
  return html;
}

std::string shared_findings_html(const SharedGrid& grid, std::span<const std::string> titles) {
  if (grid.names.empty()) return "<p>No device has a finding with a value.</p>\n";
  std::string table = head_of(grid.rows);
  for (std::size_t run = 0; run < titles.size(); ++run) {
    table +=
        fmt::format(R"(<th scope="col"><span class="swatch c{}" aria-hidden="true"></span>{}</th>)",
                    run % 8, html_text(titles[run]));
  }
  table += "</tr></thead>\n";
  table += bodies(grid.rows, [&](const SharedRow& row) {
    std::string cells;
    for (const auto& findings : row.cells) cells += shared_cell(grid, findings);
    return cells;
  });
  return boxed_table("Findings, devices side by side", "findings shared", table);
}

}  // namespace clprobe::report
