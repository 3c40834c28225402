// SPDX-License-Identifier: Apache-2.0
// Stacks on the terminal: bars of letters, and the shares as tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/api/page.hpp"
#include "present/findings.hpp"
#include "present/stacks.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

/// The letters of the known categories.
constexpr std::string_view letters = "#cdMDSb.fu?";
static_assert(letters.size() == known_categories.size());

/// A letter for each category, of which no two are alike: A, B, C, ... where GSI has no name.
std::string letters_of(const std::vector<std::string>& categories) {
  std::string chosen;
  char next = 'A';
  for (const std::size_t number : category_numbers(categories)) {
    if (number < letters.size()) {
      chosen += letters[number];
      continue;
    }
    while (letters.find(next) != std::string_view::npos && next < 'Z') ++next;
    chosen += next < 'Z' ? next++ : '?';
  }
  return chosen;
}

/// Distributes `cells` cells to the shares by the largest remainders. Small shares may get none.
std::vector<int> cells_of(const std::vector<CategoryShare>& shares, int cells) {
  double all = 0.0;
  for (const CategoryShare& each : shares) all += each.share;
  std::vector<int> given(shares.size(), 0);
  if (!(all > 0.0)) return given;
  std::vector<std::pair<double, std::size_t>> rest;
  int left = cells;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = shares[i].share / all * cells;
    given[i] = static_cast<int>(exact);
    left -= given[i];
    rest.emplace_back(exact - std::floor(exact), i);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < rest.size() && left > 0; ++i, --left) ++given[rest[i].second];
  return given;
}

struct Marks {
  std::vector<std::string> labels{};
  std::string letters{};
};

Marks marks_of(const std::vector<Stack>& stacks) {
  std::vector<std::string> labels = stack_labels(stacks);
  std::string marks = letters_of(category_names(labels));
  return {std::move(labels), std::move(marks)};
}

/// The letters, and the categories that they stand for.
void draw_legend(Page& page, const Marks& marks) {
  const std::vector<std::string> categories = category_names(marks.labels);
  std::vector<std::vector<Span>> items;
  items.reserve(categories.size());
  for (std::size_t i = 0; i < categories.size(); ++i) {
    items.push_back({{std::string(1, marks.letters[i]), Ink::first_series, static_cast<int>(i)},
                     {" " + page.show(categories[i]), Ink::faint}});
  }
  page.flow(items, 1, 2);
}

Span span_of(std::size_t category, int cells, const Marks& marks) {
  return {std::string(static_cast<std::size_t>(cells), marks.letters[category]), Ink::first_series,
          static_cast<int>(category)};
}

/// The letters of a bar that is so many cells long.
void add_cells(const Stack& stack, int cells, const Marks& marks, std::vector<Span>& spans) {
  const std::vector<int> given = cells_of(categories_of(stack, marks.labels), cells);
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] > 0) spans.push_back(span_of(k, given[k], marks));
  }
}

/// Widths of the columns before the bars.
struct Margin {
  int name{0};
  int time{0};
};

/// Cycles without their unit, which stands above the bars.
std::string short_time(const Stack& stack) {
  return stack.time ? quantity_text(*stack.time, stack.time_unit) : std::string();
}

std::string heading_of(const Stack& stack) {
  return view_title(stack.view) + ", % of the time" +
         (stack.time_unit == "cycles" ? "; times in cycles" : "") +
         (stack.baseline.empty() ? "" : "; lengths: times relative to " + stack.baseline);
}

/// The longest one takes all.
int cells_for(const Stack& stack, double longest, int cells) {
  const double length = stack.relative.value_or(1.0) / longest;
  return std::clamp(static_cast<int>(std::lround(length * cells)), 1, cells);
}

Margin margin_of(const Page& page, const std::vector<Stack>& stacks) {
  Margin margin;
  constexpr int narrowest_bar = 20;
  for (const Stack& stack : stacks) {
    margin.name = std::max(margin.name, display_width(page.show(stack.bar)));
    margin.time = std::max(margin.time, display_width(page.show(short_time(stack))));
  }
  const int room = page.width() - margin.time - narrowest_bar - 4;
  margin.name = std::max(1, std::min(margin.name, room));
  return margin;
}

void draw_named_bars(Page& page, const std::vector<Stack>& stacks, const Marks& marks) {
  const Margin margin = margin_of(page, stacks);
  const int before = margin.name + margin.time + 4;
  const int cells = std::max(1, page.width() - before);
  const double longest = longest_of(stacks);
  for (const Stack& stack : stacks) {
    const std::string name = cut_to_width(page.show(stack.bar), margin.name, page.show("…"));
    std::vector<Span> spans{
        {" " + pad_right(name, margin.name) + "  "},
        {pad_left(page.show(short_time(stack)), margin.time) + " ", Ink::faint}};
    if (!stack.is_whole) {
      spans.push_back({page.show(no_bar), Ink::faint});
      page.line(spans);
      continue;
    }
    add_cells(stack, cells_for(stack, longest, cells), marks, spans);
    page.line(spans);
  }
}

/// The shares as a table, and in the whole form notes on them.
void draw_table(Page& page, const std::vector<Stack>& stacks, Form form) {
  add_table(page, table_of(stacks), form);
  if (form == Form::whole) add_blocks(page, notes_of(stacks), form);
}

}  // namespace

void draw_stacks(Page& page, std::span<const Finding> findings, Form form) {
  bool is_first = true;
  const std::vector<std::vector<Stack>> views = views_of(findings);
  for (const std::vector<Stack>& stacks : views) {
    if (!is_first && form != Form::whole) return;
    if (!is_first) page.blank();
    is_first = false;
    if (form != Form::brief) page.prose(" ", page.show(heading_of(stacks.front())), Ink::plain);
    const std::vector<Stack> drawn = drawn_stacks(stacks);
    const Marks marks = marks_of(drawn);
    draw_named_bars(page, drawn, marks);
    draw_legend(page, marks);
    if (form == Form::brief) return;
    page.blank();
    draw_table(page, stacks, form);
  }
  if (form != Form::whole) return;
  for (const Beside& beside : shares_beside) {
    const std::vector<Stack> shares = shares_called(beside.name, findings);
    if (shares.empty()) continue;
    page.blank();
    page.prose(" ", page.show(beside.title), Ink::plain);
    draw_table(page, shares, form);
  }
}

}  // namespace clprobe::report
