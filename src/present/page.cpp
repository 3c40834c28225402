// SPDX-License-Identifier: Apache-2.0
#include "present/api/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

// Below this nothing can be laid out; lines are still cut at the width that was asked for.
constexpr int min_layout_width = 32;
// A remark in a narrower strip than this is a column of single words.
constexpr int min_remark_width = 24;

std::string_view escape_of(const Span& span) {
  // Legible on black and on white: there is no cyan, yellow or green among them.
  constexpr std::array<std::string_view, 6> of_series{"1", "35", "31", "1;34", "1;35", "1;31"};
  // Colours from cold to hot.
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

/// The lines of a column's title.
std::vector<std::string> title_lines(const Column& column) {
  std::vector<std::string> lines;
  std::string_view rest = column.title;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::vector<int> column_widths(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    int width = 0;
    for (const std::string& line : title_lines(columns[i])) {
      width = std::max(width, display_width(line));
    }
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

void Page::flow(const std::vector<std::vector<Span>>& items, int margin, int gap) {
  std::vector<Span> spans{{pad_right("", margin)}};
  int used = margin;
  for (const std::vector<Span>& item : items) {
    int width = 0;
    for (const Span& span : item) width += display_width(span.text);
    if (spans.size() > 1 && used + gap + width > width_) {
      line(spans);
      spans.resize(1);
      used = margin;
    }
    if (spans.size() > 1) {
      spans.push_back({pad_right("", gap)});
      used += gap;
    }
    spans.insert(spans.end(), item.begin(), item.end());
    used += width;
  }
  line(spans);
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

void Page::table(const std::vector<Column>& columns, const std::vector<Row>& rows, int indent,
                 Ink titles) {
  const std::vector<int> widths = column_widths(columns, rows);
  const auto gap = [&](std::size_t i) { return pad_right("", i == 0 ? indent : columns[i].gap); };
  std::size_t height = 0;
  for (const Column& column : columns) height = std::max(height, title_lines(column).size());
  for (std::size_t row = height; row-- > 0;) {  // the last lines of all titles are one line
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::vector<std::string> lines = title_lines(columns[i]);
      const std::string title = row < lines.size() ? lines[lines.size() - 1 - row] : std::string();
      text += gap(i) + aligned(title, columns[i], widths[i]);
    }
    line({{text, titles}});
  }
  for (const Row& row : rows) {
    std::vector<Span> spans(1);
    for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i) {
      const Ink ink = i < row.inks.size() ? row.inks[i] : Ink::plain;
      spans.back().text += gap(i);
      if (ink != spans.back().ink) spans.push_back({"", ink});
      spans.back().text += aligned(row.cells[i], columns[i], widths[i]);
    }
    if (row.remark.empty()) {
      line(spans);
      continue;
    }
    std::string lead;
    for (const Span& span : spans) lead += span.text;
    const std::string between = row.cells.size() < columns.size() ? gap(row.cells.size()) : "  ";
    remark(lead + pad_right(between, row.remark_gap), row);
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
