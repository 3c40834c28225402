// SPDX-License-Identifier: Apache-2.0
// Bars of parts of kernels on the terminal: compute units, sub-groups, windows of the time.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "report/findings.hpp"
#include "report/stack_cells.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

/// Lines of a timeline: so that a line is an eighth of the time.
constexpr int strip_height = 8;
constexpr int widest_column = 3;

struct Marks {
  std::vector<std::string> labels{};
  std::string letters{};
};

Span span_of(std::size_t category, int cells, const Marks& marks) {
  return {std::string(static_cast<std::size_t>(cells), marks.letters[category]), Ink::first_series,
          static_cast<int>(category)};
}

void draw_bars(Page& page, const std::vector<Stack>& stacks, const Marks& marks) {
  int names = 0;
  for (const Stack& stack : stacks) {
    names = std::max(names, display_width(page.show(split_bar(stack.bar).part)));
  }
  constexpr int around = 4;
  const int cells = std::max(1, page.width() - names - around);
  for (const Stack& stack : stacks) {
    std::vector<Span> spans{
        {"  " + pad_right(page.show(split_bar(stack.bar).part), names) + "  ", Ink::faint}};
    const std::vector<int> given = cells_of(categories_of(stack, marks.labels), cells);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (given[k] > 0) spans.push_back(span_of(k, given[k], marks));
    }
    page.line(spans);
  }
}

/// The category in each line of a column, from the bottom up, of windows that follow each other.
std::vector<std::size_t> column_of(std::span<const Stack> windows, const Marks& marks) {
  std::vector<CategoryShare> shares = categories_of(windows.front(), marks.labels);
  for (CategoryShare& each : shares) each.share = 0.0;
  for (const Stack& window : windows) {
    const std::vector<CategoryShare> more = categories_of(window, marks.labels);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      shares[k].share += more[k].share * window.time.value_or(1.0);
    }
  }
  std::vector<std::size_t> column;
  const std::vector<int> given = cells_of(shares, strip_height);
  for (std::size_t k = 0; k < given.size(); ++k) {
    column.insert(column.end(), static_cast<std::size_t>(given[k]), k);
  }
  return column;
}

/// From left to right, the first category at the bottom.
void draw_strip(Page& page, const std::vector<Stack>& windows, const Marks& marks) {
  const auto room = static_cast<std::size_t>(std::max(1, page.width() - 2));
  const std::size_t together = (windows.size() + room - 1) / room;
  std::vector<std::vector<std::size_t>> columns;
  for (std::size_t first = 0; first < windows.size(); first += together) {
    const std::size_t count = std::min(together, windows.size() - first);
    columns.push_back(column_of(std::span(windows).subspan(first, count), marks));
  }
  const int wide =
      std::clamp(static_cast<int>(room) / static_cast<int>(columns.size()), 1, widest_column);
  double cycles = 0.0;
  for (const Stack& each : windows) cycles += each.time.value_or(0.0);
  for (std::size_t line = strip_height; line-- > 0;) {
    std::vector<Span> spans{{"  "}};
    for (const std::vector<std::size_t>& column : columns) {
      if (line < column.size()) {
        spans.push_back(span_of(column[line], wide, marks));
      } else {
        spans.push_back({std::string(static_cast<std::size_t>(wide), ' ')});
      }
    }
    page.line(spans);
  }
  const std::string end = page.show(quantity_text(cycles, windows.front().time_unit));
  const int width = wide * static_cast<int>(columns.size());
  page.line({{"  " + pad_right("0", std::max(1, width - display_width(end))) + end, Ink::faint}});
}

}  // namespace

void draw_parts(Page& page, const std::vector<Stack>& stacks) {
  const bool is_timeline = stacks.front().view == stack_view_timeline;
  const std::vector<std::string> labels = stack_labels(stacks);
  const std::vector<std::string> categories = category_names(labels);
  const Marks marks{labels, letters_of(categories)};
  for (const std::vector<Stack>& parts : by_kernel(stacks)) {
    page.line({{" " + page.show(split_bar(parts.front().bar).kernel)}});
    if (is_timeline) {
      draw_strip(page, parts, marks);
    } else {
      draw_bars(page, parts, marks);
    }
  }
  draw_legend(page, categories, marks.letters);
}

}  // namespace clprobe::report
