// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/text.hpp"

namespace clprobe::report {
namespace {

// Below this nothing can be laid out; lines are still cut at the width that was asked for.
constexpr int min_layout_width = 32;
// A remark in a narrower strip than this is a column of single words.
constexpr int min_remark_width = 24;

std::string_view escape_of(const Span& span) {
  // Legible on black and on white: there is no cyan, yellow or green among them.
  constexpr std::array<std::string_view, 6> of_series{"1", "35", "31", "1;34", "1;35", "1;31"};
  // From cold to hot.
  constexpr std::array<std::string_view, 6> of_heat{"34", "36", "32", "33", "35", "31"};
  switch (span.ink) {
    case Ink::plain:
      return "";
    case Ink::heading:
      return "1";
    case Ink::faint:
      return "2";
    case Ink::good:
      return "32";
    case Ink::caution:
      return "1;35";
    case Ink::failure:
      return "31";
    case Ink::first_series:
      return of_series.at(static_cast<std::size_t>(span.series) % of_series.size());
    case Ink::heat:
      return of_heat.at(static_cast<std::size_t>(std::clamp(span.series, 0, 5)));
  }
  return "";
}

std::vector<int> column_widths(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    int width = display_width(columns[i].title);
    for (const Row& row : rows) {
      if (i < row.cells.size()) width = std::max(width, display_width(row.cells[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string aligned(const std::string& text, const Column& column, int width) {
  return column.is_number ? pad_left(text, width) : pad_right(text, width);
}

}  // namespace

Page::Page(const TableStyle& style)
    : style_(style), width_(std::max(style.width, min_layout_width)) {}

std::string Page::show(std::string_view text) const {
  return style_.unicode ? printable(text) : printable_ascii(text);
}

void Page::line(const std::vector<Span>& spans) {
  std::vector<Span> shown = spans;
  int room = style_.width;
  for (Span& span : shown) {
    span.text = cut_to_width(span.text, room, style_.unicode ? "…" : "...");
    room -= display_width(span.text);
  }
  while (!shown.empty()) {
    std::string& last = shown.back().text;
    last.erase(last.find_last_not_of(' ') + 1);
    if (!last.empty()) break;
    shown.pop_back();
  }
  for (const Span& span : shown) {
    const std::string_view escape = style_.colour ? escape_of(span) : "";
    text_ += escape.empty() ? span.text : fmt::format("\x1b[{}m{}\x1b[0m", escape, span.text);
  }
  text_ += '\n';
}

void Page::prose(std::string_view lead, std::string_view text, Ink ink) {
  const std::string shown_lead = show(lead);
  const int indent = display_width(shown_lead);
  std::string before = shown_lead;
  for (const std::string& each : wrap(show(text), width_ - indent)) {
    line({{before, ink}, {each, ink == Ink::heading ? Ink::plain : ink}});
    before = pad_right("", indent);
  }
}

int Page::table_width(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      int indent) {
  const std::vector<int> widths = column_widths(columns, rows);
  int width = indent;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    width += widths[i] + (i == 0 ? 0 : columns[i].gap);
  }
  return width;
}

void Page::table(const std::vector<Column>& columns, const std::vector<Row>& rows, int indent) {
  const std::vector<int> widths = column_widths(columns, rows);
  const auto gap = [&](std::size_t i) { return pad_right("", i == 0 ? indent : columns[i].gap); };
  const bool has_titles = std::any_of(columns.begin(), columns.end(),
                                      [](const Column& column) { return !column.title.empty(); });
  if (has_titles) {
    std::string titles;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      titles += gap(i) + aligned(columns[i].title, columns[i], widths[i]);
    }
    line({{titles, Ink::faint}});
  }
  for (const Row& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i) {
      text += gap(i) + aligned(row.cells[i], columns[i], widths[i]);
    }
    if (row.remark.empty()) {
      line({{text}});
    } else {
      const std::string between = row.cells.size() < columns.size() ? gap(row.cells.size()) : "  ";
      remark(text + pad_right(between, row.remark_gap), row);
    }
  }
}

void Page::remark(const std::string& lead, const Row& row) {
  int indent = display_width(lead);
  std::string before = lead;
  if (width_ - indent < std::min(min_remark_width, display_width(row.remark))) {
    line({{lead}});
    indent = 6;
    before = pad_right("", indent);
  }
  for (const std::string& each : wrap(row.remark, width_ - indent)) {
    line({{before}, {each, row.remark_ink}});
    before = pad_right("", indent);
  }
}

}  // namespace clprobe::report
