// SPDX-License-Identifier: Apache-2.0
#include "present/stacks.hpp"

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
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

struct ViewTitle {
  std::string_view view;
  std::string_view title;
};

constexpr std::array view_titles{
    ViewTitle{stack_view_gsi, "one cause per cycle (GSI)"},
    ViewTitle{stack_view_all_causes, "each cycle divided among all its causes"},
    ViewTitle{stack_view_shapley,
              "time saved by removing each cause (mean over all orders of removal)"},
    ViewTitle{stack_view_clock, "time by in-kernel clocks"},
};

void add_titled(std::string title, Table table, std::vector<Block>& blocks) {
  table.title = title;
  blocks.emplace_back(Heading{std::move(title), 4});
  blocks.emplace_back(std::move(table));
}

}  // namespace

std::vector<Stack> drawn_stacks(std::span<const Stack> stacks) {
  std::vector<Stack> drawn(stacks.begin(), stacks.end());
  for (Stack& stack : drawn) {
    StackPart rest{.label = std::string(stack_not_resolved)};
    for (const StackPart& part : stack.parts) {
      if (!part.is_resolved) rest.share += part.share;
    }
    std::erase_if(stack.parts, [](const StackPart& part) { return !part.is_resolved; });
    if (rest.share != 0.0) stack.parts.push_back(std::move(rest));
  }
  return drawn;
}

std::vector<std::string> category_names(std::span<const std::string> labels) {
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::string_view category = stack_category(label);
    if (names.empty() || names.back() != category) names.emplace_back(category);
  }
  return names;
}

std::vector<std::size_t> category_numbers(std::span<const std::string> categories) {
  std::vector<std::size_t> numbers;
  std::size_t next = known_categories.size();
  for (const std::string& category : categories) {
    const auto* const found = std::ranges::find(known_categories, category);
    numbers.push_back(found == known_categories.end()
                          ? next++
                          : static_cast<std::size_t>(found - known_categories.begin()));
  }
  return numbers;
}

std::vector<Finding> without_stacks(std::span<const Finding> findings) {
  std::vector<Finding> others;
  for (const Finding& finding : findings) {
    if (is_told_by_label(finding)) continue;
    const bool is_time =
        finding.name == stack_time_name && std::ranges::any_of(findings, [&](const Finding& each) {
          return is_stack_part(each) && each.series == finding.series;
        });
    if (!is_time) others.push_back(finding);
  }
  return others;
}

std::string view_title(std::string_view view) {
  const auto* const found = std::ranges::find(view_titles, view, &ViewTitle::view);
  return found == view_titles.end() ? words(view) : std::string(found->title);
}

std::vector<std::vector<Stack>> views_of(std::span<const Finding> findings) {
  std::vector<std::vector<Stack>> views;
  for (Stack& stack : stacks_in(findings)) {
    if (views.empty() || views.back().front().view != stack.view) views.emplace_back();
    views.back().push_back(std::move(stack));
  }
  return views;
}

std::string share_text(const StackPart& part) {
  constexpr double percent = 100.0;
  const std::string mark = part.reason.empty() ? "" : "*";
  const bool has_interval = part.low && part.high && *part.high > *part.low;
  if (!has_interval) return fmt::format("{:.1f}{}", percent * part.share, mark);
  const double aside = std::max(part.share - *part.low, *part.high - part.share);
  return fmt::format("{:.1f} ±{:.1f}{}", percent * part.share, percent * aside, mark);
}

const StackPart* part_of(const Stack& stack, std::string_view label) {
  const auto found = std::ranges::find(stack.parts, label, &StackPart::label);
  return found == stack.parts.end() ? nullptr : &*found;
}

std::string time_text(const Stack& stack) {
  if (!stack.time) return {};
  const std::string text = quantity_text(*stack.time, stack.time_unit);
  return stack.time_unit == "cycles" ? text + " cycles" : text;
}

std::vector<std::string> remarks_of(std::span<const Stack> stacks) {
  struct Remark {
    std::string reason{};
    std::vector<std::string> bars{};
  };
  std::vector<Remark> remarks;
  for (const Stack& stack : stacks) {
    for (const StackPart& part : stack.parts) {
      if (!part.is_resolved || part.reason.empty()) continue;
      auto remark = std::ranges::find(remarks, part.reason, &Remark::reason);
      if (remark == remarks.end()) remark = remarks.insert(remark, {part.reason, {}});
      const bool is_new = remark->bars.empty() || remark->bars.back() != stack.bar;
      if (is_new) remark->bars.push_back(stack.bar);
    }
  }
  std::vector<std::string> lines;
  lines.reserve(remarks.size());
  for (const Remark& each : remarks) {
    lines.push_back(fmt::format("{}: {}", fmt::join(each.bars, "; "), each.reason));
  }
  return lines;
}

std::vector<std::string> unresolved_lines(std::span<const Stack> stacks) {
  std::vector<std::string> lines;
  for (const Stack& stack : stacks) {
    std::vector<Finding> shares;
    for (const StackPart& part : stack.parts) {
      if (part.is_resolved) continue;
      Finding share{.value = part.share, .low = part.low, .high = part.high, .label = part.label};
      shares.push_back(std::move(share));
    }
    std::vector<const Finding*> places;
    places.reserve(shares.size());
    for (const Finding& each : shares) places.push_back(&each);
    if (!places.empty()) {
      lines.push_back(fmt::format("{}: {}", stack.bar, describe_unresolved(places)));
    }
  }
  return lines;
}

double longest_of(std::span<const Stack> stacks) {
  double longest = 0.0;
  for (const Stack& stack : stacks) {
    if (stack.is_whole) longest = std::max(longest, stack.relative.value_or(1.0));
  }
  return longest > 0.0 ? longest : 1.0;
}

std::vector<CategoryShare> categories_of(const Stack& stack, std::span<const std::string> labels) {
  std::vector<CategoryShare> shares;
  for (const std::string& name : category_names(labels)) {
    CategoryShare share{.category = name};
    for (const StackPart& part : stack.parts) {
      if (stack_category(part.label) == name) share.share += part.share;
    }
    share.share = std::max(0.0, share.share);
    shares.push_back(std::move(share));
  }
  return shares;
}

std::vector<std::string> divided_categories(std::span<const Stack> stacks) {
  const std::vector<std::string> labels = stack_labels(stacks);
  std::vector<std::string> divided;
  for (std::size_t i = 1; i < labels.size(); ++i) {
    const std::string_view category = stack_category(labels[i]);
    const bool has_two = category == stack_category(labels[i - 1]);
    if (has_two && (divided.empty() || divided.back() != category)) divided.emplace_back(category);
  }
  return divided;
}

std::vector<Stack> stacks_of_category(std::span<const Stack> stacks, std::string_view category) {
  std::vector<Stack> found;
  double baseline = 0.0;  // share of the category in the baseline bar
  for (Stack& stack : drawn_stacks(stacks)) {
    std::erase_if(stack.parts,
                  [&](const StackPart& part) { return stack_category(part.label) != category; });
    double whole = 0.0;
    for (const StackPart& part : stack.parts) whole += std::max(0.0, part.share);
    if (!stack.is_whole || !(whole > 0.0)) continue;
    for (StackPart& part : stack.parts) {
      part.share /= whole;
      if (part.low) *part.low /= whole;
      if (part.high) *part.high /= whole;
      const std::size_t colon = part.label.find(": ");
      if (colon != std::string::npos) part.label.erase(0, colon + 2);
    }
    if (stack.bar == stack.baseline) baseline = whole;
    if (stack.relative) *stack.relative *= whole;
    if (stack.time) *stack.time *= whole;
    if (stack.app_share) *stack.app_share *= whole;
    found.push_back(std::move(stack));
  }
  for (Stack& stack : found) {
    if (stack.relative && baseline > 0.0) *stack.relative /= baseline;
    if (!(baseline > 0.0)) stack.relative.reset();
  }
  return found;
}

Table table_of(const std::vector<Stack>& stacks) {
  Table table{.kind = "findings shares", .head = {""}, .has_name_heads = true};
  for (const Stack& stack : stacks) table.head.push_back(stack.bar);
  for (const std::string& label : stack_labels(stacks)) {
    std::vector<Cell> row{{label}};
    bool has_any = false;
    for (const Stack& stack : stacks) {
      const StackPart* const part = part_of(stack, label);
      const bool is_shown = part != nullptr && part->is_resolved;
      row.push_back({is_shown ? share_text(*part) : ""});
      has_any |= is_shown;
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Block> notes_of(const std::vector<Stack>& stacks) {
  std::vector<Block> notes;
  for (const std::string& remark : remarks_of(stacks)) {
    notes.emplace_back(Prose{.text = "* " + remark, .ink = Ink::faint});
  }
  for (std::string& line : unresolved_lines(stacks)) {
    notes.emplace_back(Prose{.text = std::move(line), .ink = Ink::faint});
  }
  return notes;
}

std::vector<Block> shares_blocks(std::span<const Finding> findings) {
  std::vector<Block> blocks;
  const auto add = [&](std::string title, Table table, const std::vector<Stack>& stacks) {
    add_titled(std::move(title), std::move(table), blocks);
    for (Block& note : notes_of(stacks)) blocks.push_back(std::move(note));
  };
  for (const std::vector<Stack>& stacks : views_of(findings)) {
    const std::string title = view_title(stacks.front().view) + ", % of the time";
    Table table = table_of(stacks);
    std::vector<Cell> times{{"time"}};
    for (const Stack& stack : stacks) times.push_back({time_text(stack)});
    table.rows.insert(table.rows.begin(), std::move(times));
    add(title, std::move(table), stacks);
  }
  for (const Beside& beside : shares_beside) {
    const std::vector<Stack> shares = shares_called(beside.name, findings);
    if (!shares.empty()) add(std::string(beside.title), table_of(shares), shares);
  }
  return blocks;
}

namespace {

constexpr std::string_view letters = "#cdMDSb.fu?";
static_assert(letters.size() == known_categories.size());

/// Returns a letter for each category. Unknown categories have unused capital letters, then '?'.
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

/// Returns the number of cells of each share, `cells` in total, by the largest-remainder method. A
/// small share may have no cell.
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
  std::ranges::stable_sort(rest, [](const auto& a, const auto& b) { return a.first > b.first; });
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

void add_cells(const Stack& stack, int cells, const Marks& marks, std::vector<Span>& spans) {
  const std::vector<int> given = cells_of(categories_of(stack, marks.labels), cells);
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] > 0) spans.push_back(span_of(k, given[k], marks));
  }
}

struct Margin {
  int name{0};
  int time{0};
};

/// Returns the time of a bar. Cycles have no unit in the text, since the heading names it.
std::string short_time(const Stack& stack) {
  return stack.time ? quantity_text(*stack.time, stack.time_unit) : std::string();
}

std::string heading_of(const Stack& stack) {
  return view_title(stack.view) + ", % of the time" +
         (stack.time_unit == "cycles" ? "; times in cycles" : "") +
         (stack.baseline.empty() ? "" : "; bar lengths show times relative to " + stack.baseline);
}

/// Returns the length of a bar in cells, at least 1; the longest bar has `cells` cells.
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

/// Adds the shares as a table; the whole form also has remarks on the shares.
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
