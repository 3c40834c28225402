// SPDX-License-Identifier: Apache-2.0
#include "report/stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "report/findings.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

struct ViewTitle {
  std::string_view view;
  std::string_view title;
};

constexpr std::array view_titles{
    ViewTitle{stack_view_gsi, "one cause per cycle (GSI)"},
    ViewTitle{stack_view_all_causes, "all causes at once, each cycle shared among them"},
    ViewTitle{stack_view_shapley, "what taking causes away saves, in the mean over all orders"},
    ViewTitle{stack_view_clock, "what clocks in the kernel say"},
};

struct Beside {
  std::string_view name;
  std::string_view title;
};

constexpr std::array shares_beside{
    Beside{stack_first_name, "largest cause; % of what saves time"},
    Beside{stack_absorbed_name, "noise absorbed; % of the time in which what it needs is free"},
    Beside{stack_interaction_name,
           "two causes together: above 0 they overlap, below 0 one does what the other does; % of "
           "the time"},
};

struct Letter {
  std::string_view category;
  char letter;
};

constexpr std::array letters{
    Letter{"no stall", '#'},
    Letter{"compute structural", 'c'},
    Letter{"compute data", 'd'},
    Letter{"memory structural", 'M'},
    Letter{"memory data", 'D'},
    Letter{"synchronization", 'S'},
    Letter{"control", 'b'},
    Letter{"idle", '.'},
    Letter{"end-of-kernel flush", 'f'},
    Letter{stack_remainder, 'u'},
};

std::vector<std::string> category_names(std::span<const std::string> labels) {
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::string_view category = stack_category(label);
    if (names.empty() || names.back() != category) names.emplace_back(category);
  }
  return names;
}

/// A letter for each, of which no two are alike: for what GSI has no name for, A, B, C, ...
std::string letters_of(const std::vector<std::string>& categories) {
  std::string chosen;
  char next = 'A';
  for (const std::string& category : categories) {
    const auto* const found = std::find_if(letters.begin(), letters.end(), [&](const Letter& each) {
      return each.category == category;
    });
    if (found != letters.end()) {
      chosen += found->letter;
      continue;
    }
    const auto is_taken = [](char letter) {
      return std::any_of(letters.begin(), letters.end(),
                         [&](const Letter& each) { return each.letter == letter; });
    };
    while (is_taken(next) && next < 'Z') ++next;
    chosen += next < 'Z' ? next++ : '?';
  }
  return chosen;
}

/// So many cells for each share that they add up to `cells`, by the largest remainders. What is
/// more than nothing and has no cell is left to the table.
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

void draw_legend(Page& page, const std::vector<std::string>& categories, const std::string& marks) {
  std::vector<Span> spans;
  int used = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const std::string text = fmt::format(" {}", page.show(categories[i]));
    const int width = 3 + display_width(text);
    if (used > 0 && used + width > page.width()) {
      page.line(spans);
      spans.clear();
      used = 0;
    }
    spans.push_back({used == 0 ? " " : "  "});
    spans.push_back({std::string(1, marks[i]), Ink::first_series, static_cast<int>(i)});
    spans.push_back({text, Ink::faint});
    used += width;
  }
  page.line(spans);
}

/// How wide the columns before the bars are.
struct Margin {
  int number{0};
  int name{0};
  int time{0};
};

/// Cycles without their unit, which stands above the bars.
std::string short_time(const Stack& stack) {
  return stack.time ? quantity_text(*stack.time, stack.time_unit) : std::string();
}

std::string heading_of(const Stack& stack) {
  return view_title(stack.view) + (stack.time_unit == "cycles" ? "; times in cycles" : "");
}

Margin margin_of(const Page& page, const std::vector<Stack>& stacks) {
  Margin margin;
  constexpr int narrowest_bar = 20;
  margin.number = static_cast<int>(fmt::format("{}", stacks.size()).size());
  for (const Stack& stack : stacks) {
    margin.name = std::max(margin.name, display_width(page.show(stack.bar)));
    margin.time = std::max(margin.time, display_width(page.show(short_time(stack))));
  }
  const int room = page.width() - margin.number - margin.time - narrowest_bar - 6;
  margin.name = std::max(1, std::min(margin.name, room));
  return margin;
}

void draw_bars(Page& page, const std::vector<Stack>& stacks, const std::vector<std::string>& labels,
               const std::string& marks) {
  const Margin margin = margin_of(page, stacks);
  const int before = margin.number + margin.name + margin.time + 6;
  const int cells = std::max(1, page.width() - before);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::string number = fmt::format("{}", i + 1);
    const std::string name = cut_to_width(page.show(stacks[i].bar), margin.name, page.show("…"));
    std::vector<Span> spans{
        {" " + pad_left(number, margin.number) + " ", Ink::faint},
        {pad_right(name, margin.name) + "  "},
        {pad_left(page.show(short_time(stacks[i])), margin.time) + " ", Ink::faint}};
    if (!stacks[i].is_whole) {
      spans.push_back({page.show(no_bar), Ink::faint});
      page.line(spans);
      continue;
    }
    const std::vector<int> given = cells_of(categories_of(stacks[i], labels), cells);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (given[k] == 0) continue;
      spans.push_back({std::string(static_cast<std::size_t>(given[k]), marks[k]), Ink::first_series,
                       static_cast<int>(k)});
    }
    page.line(spans);
  }
}

std::string cell_text(const Stack& stack, const std::string& label) {
  const StackPart* const part = part_of(stack, label);
  return part == nullptr || !part->is_resolved ? "" : share_text(*part);
}

/// The number of each bar in the first view that has it, above its column.
std::vector<std::string> numbers_of(const std::vector<Stack>& shares,
                                    const std::vector<std::vector<Stack>>& views) {
  const auto number_of = [&](const Stack& share) {
    for (const std::vector<Stack>& view : views) {
      const auto found = std::find_if(view.begin(), view.end(),
                                      [&](const Stack& each) { return each.bar == share.bar; });
      if (found != view.end()) return fmt::format("{}", found - view.begin() + 1);
    }
    return share.bar;
  };
  std::vector<std::string> numbers(shares.size());
  std::transform(shares.begin(), shares.end(), numbers.begin(), number_of);
  return numbers;
}

bool has_resolved_part(const Stack& stack) {
  return std::any_of(stack.parts.begin(), stack.parts.end(),
                     [](const StackPart& part) { return part.is_resolved; });
}

bool is_empty_row(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin() + 1, cells.end(),
                     [](const std::string& cell) { return cell.empty(); });
}

/// As many bars as fit beside the labels, then the next ones below. Of shares that are not resolved
/// there are neither rows nor columns.
void draw_table(Page& page, const std::vector<Stack>& all, const std::vector<std::string>& labels,
                const std::vector<std::string>& all_numbers) {
  std::vector<Stack> stacks;
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!has_resolved_part(all[i])) continue;
    stacks.push_back(all[i]);
    numbers.push_back(all_numbers[i]);
  }
  for (std::size_t first = 0; first < stacks.size();) {
    std::vector<Column> columns{{"%"}};
    std::vector<Row> rows(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) rows[i].cells = {page.show(labels[i])};
    std::size_t last = first;
    for (; last < stacks.size(); ++last) {
      std::vector<Column> wider = columns;
      wider.push_back({page.show(numbers[last]), true, 1});
      std::vector<Row> longer = rows;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        longer[i].cells.push_back(page.show(cell_text(stacks[last], labels[i])));
      }
      const bool fits = Page::table_width(wider, longer, 1) <= page.width();
      if (!fits && last > first) break;
      columns = std::move(wider);
      rows = std::move(longer);
    }
    std::erase_if(rows, [](const Row& row) { return is_empty_row(row.cells); });
    if (first > 0) page.blank();
    page.table(columns, rows, 1);
    first = last;
  }
}

void draw_remarks(Page& page, const std::vector<Stack>& stacks) {
  for (const std::string& remark : remarks_of(stacks)) {
    page.prose(" * ", page.show(remark), Ink::faint);
  }
  for (const std::string& line : unresolved_lines(stacks)) {
    page.prose(" ", page.show(line), Ink::faint);
  }
}

ShareTable table_of(std::string title, const std::vector<Stack>& stacks) {
  ShareTable table{.title = std::move(title), .head = {""}};
  for (const Stack& stack : stacks) table.head.push_back(stack.bar);
  for (const std::string& label : stack_labels(stacks)) {
    std::vector<std::string> row{label};
    for (const Stack& stack : stacks) row.push_back(cell_text(stack, label));
    if (!is_empty_row(row)) table.rows.push_back(std::move(row));
  }
  for (const std::string& remark : remarks_of(stacks)) table.remarks.push_back("* " + remark);
  for (std::string& line : unresolved_lines(stacks)) table.remarks.push_back(std::move(line));
  return table;
}

}  // namespace

std::vector<Finding> without_stacks(std::span<const Finding> findings) {
  std::vector<Finding> others;
  for (const Finding& finding : findings) {
    if (is_told_by_label(finding)) continue;
    const bool is_time = finding.name == stack_time_name &&
                         std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
                           return is_stack_part(each) && each.series == finding.series;
                         });
    if (!is_time) others.push_back(finding);
  }
  return others;
}

std::string view_title(std::string_view view) {
  const auto* const found = std::find_if(view_titles.begin(), view_titles.end(),
                                         [&](const ViewTitle& each) { return each.view == view; });
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
  const auto found = std::find_if(stack.parts.begin(), stack.parts.end(),
                                  [&](const StackPart& each) { return each.label == label; });
  return found == stack.parts.end() ? nullptr : &*found;
}

std::string time_text(const Stack& stack) {
  if (!stack.time) return {};
  const std::string text = quantity_text(*stack.time, stack.time_unit);
  return stack.time_unit == "cycles" ? text + " cycles" : text;
}

std::vector<std::string> remarks_of(std::span<const Stack> stacks) {
  std::vector<std::string> remarks;
  for (const Stack& stack : stacks) {
    for (const StackPart& part : stack.parts) {
      const bool is_new = part.is_resolved && !part.reason.empty() &&
                          std::find(remarks.begin(), remarks.end(), part.reason) == remarks.end();
      if (is_new) remarks.push_back(part.reason);
    }
  }
  return remarks;
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

void draw_stacks(Page& page, std::span<const Finding> findings, Form form) {
  bool is_first = true;
  const std::vector<std::vector<Stack>> views = views_of(findings);
  for (const std::vector<Stack>& stacks : views) {
    const std::vector<std::string> labels = stack_labels(stacks);
    const std::vector<std::string> categories = category_names(labels);
    const std::string marks = letters_of(categories);
    if (!is_first) page.blank();
    if (form != Form::brief) page.prose(" ", page.show(heading_of(stacks.front())), Ink::plain);
    draw_bars(page, stacks, labels, marks);
    draw_legend(page, categories, marks);
    if (form == Form::brief) return;
    page.blank();
    draw_table(page, stacks, labels, numbers_of(stacks, {stacks}));
    if (form == Form::usual) return;
    draw_remarks(page, stacks);
    is_first = false;
  }
  if (form != Form::whole) return;
  for (const Beside& beside : shares_beside) {
    const std::vector<Stack> shares = shares_called(beside.name, findings);
    if (shares.empty()) continue;
    page.blank();
    page.prose(" ", page.show(beside.title), Ink::plain);
    draw_table(page, shares, stack_labels(shares), numbers_of(shares, views));
    draw_remarks(page, shares);
  }
}

std::vector<ShareTable> share_tables(std::span<const Finding> findings) {
  std::vector<ShareTable> tables;
  for (const std::vector<Stack>& stacks : views_of(findings)) {
    tables.push_back(table_of(view_title(stacks.front().view) + ", % of the time", stacks));
    std::vector<std::string> times{"time"};
    for (const Stack& stack : stacks) times.push_back(time_text(stack));
    tables.back().rows.insert(tables.back().rows.begin(), std::move(times));
  }
  for (const Beside& beside : shares_beside) {
    const std::vector<Stack> shares = shares_called(beside.name, findings);
    if (!shares.empty()) tables.push_back(table_of(std::string(beside.title), shares));
  }
  return tables;
}

}  // namespace clprobe::report
