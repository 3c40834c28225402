// SPDX-License-Identifier: Apache-2.0
// The card on a page of a fixed width.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/card.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;
constexpr std::size_t max_lines = 18;
constexpr int usual_width = 80;
/// So many levels stand on a card whatever else does.
constexpr std::size_t min_levels = 3;

/// What of the levels is shown: the less, the narrower.
struct Detail {
  bool has_intervals{true};
  bool has_cycles{true};
  bool has_what{true};
};

struct Levels {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
};

/// "global" of "global 2".
std::string_view series_of(const CardLevel& level) {
  return std::string_view(level.name).substr(0, level.name.rfind(' '));
}

/// Of each series the first ones and the last one, which is memory.
std::vector<CardLevel> shown_levels(std::vector<CardLevel> levels, std::size_t room) {
  const auto is_between = [&](std::size_t i) {
    const std::string_view series = series_of(levels[i]);
    return series_of(levels[i - 1]) == series && series_of(levels[i + 1]) == series;
  };
  while (levels.size() > std::max(room, min_levels)) {
    std::size_t i = levels.size() - 2;
    while (i > 0 && !is_between(i)) --i;
    if (i == 0) i = levels.size() - 2;  // each is one of its ends
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return levels;
}

Levels lay_out(const Page& page, const std::vector<CardLevel>& levels, const Detail& detail) {
  Levels table;
  const auto has = [&](std::string LevelTexts::*part) {
    return std::any_of(levels.begin(), levels.end(),
                       [&](const CardLevel& each) { return !(texts_of(each).*part).empty(); });
  };
  const bool has_interval = detail.has_intervals && has(&LevelTexts::interval);
  const bool has_bracket = detail.has_intervals && has(&LevelTexts::bracket);
  const bool has_cycles = detail.has_cycles && has(&LevelTexts::cycles);
  table.columns = {{}, {"latency", true, 2}};
  if (has_interval) table.columns.push_back({"", false, 1});
  if (has_cycles) table.columns.push_back({"cycles", true, 2});
  table.columns.push_back({"capacity", true, 2});
  if (has_bracket) table.columns.push_back({"", false, 1});
  if (detail.has_what) table.columns.push_back({"", false, 2});
  for (const CardLevel& level : levels) {
    const LevelTexts texts = texts_of(level);
    Row row{{page.show(level.name), page.show(texts.latency)}, ""};
    if (has_interval) row.cells.push_back(page.show(texts.interval));
    if (has_cycles) row.cells.push_back(page.show(texts.cycles));
    row.cells.push_back(page.show(texts.capacity));
    if (has_bracket) row.cells.push_back(page.show(texts.bracket));
    if (detail.has_what) row.cells.push_back(page.show(level.what));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// How many lines it took.
std::size_t add_levels(Page& page, const std::vector<CardLevel>& all, std::size_t room) {
  if (all.empty()) return 0;
  const std::vector<CardLevel> levels = shown_levels(all, room);
  for (const Detail& detail :
       {Detail{}, Detail{.has_intervals = false},
        Detail{.has_intervals = false, .has_cycles = false}, Detail{false, false, false}}) {
    const Levels table = lay_out(page, levels, detail);
    const bool is_last = !detail.has_what;
    if (!is_last && Page::table_width(table.columns, table.rows, indent) > page.width()) continue;
    page.table(table.columns, table.rows, indent);
    break;
  }
  return levels.size() + 1;
}

/// A topic, and its text in lines.
struct Entry {
  std::string topic{};
  std::string text{};
  std::vector<std::string> lines{};
  Ink ink{Ink::plain};
};

/// Shortened to so many lines, after a part of the list that it is, with its parentheses closed;
/// after a word where its parts are long.
std::vector<std::string> shorten(const std::string& text, std::size_t most, int width,
                                 std::string_view mark) {
  std::vector<std::string> after_part;
  std::vector<std::string> after_word;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != ' ' || i == 0) continue;
    std::vector<std::string> lines =
        wrap(fmt::format("{} {}{}", text.substr(0, i), mark, depth > 0 ? ")" : ""), width);
    if (lines.size() > most) break;
    const bool is_part = text[i - 1] == ',' || text[i - 1] == ';';
    (is_part ? after_part : after_word) = std::move(lines);
  }
  const auto columns = [](const std::vector<std::string>& lines) {
    int sum = 0;
    for (const std::string& line : lines) sum += display_width(line);
    return sum;
  };
  if (2 * columns(after_part) >= columns(after_word)) after_word = std::move(after_part);
  if (!after_word.empty()) return after_word;
  return {cut_to_width(text, width, mark)};
}

/// Shortens the longest texts by lines until all fit.
void fit(std::vector<Entry>& entries, std::size_t room, int width, std::string_view mark) {
  const auto count = [&] {
    std::size_t lines = 0;
    for (const Entry& each : entries) lines += each.lines.size();
    return lines;
  };
  while (count() > room) {
    const auto longest = std::max_element(
        entries.begin(), entries.end(),
        [](const Entry& a, const Entry& b) { return a.lines.size() < b.lines.size(); });
    if (longest == entries.end() || longest->lines.size() < 2) return;
    longest->lines = shorten(longest->text, longest->lines.size() - 1, width, mark);
  }
}

void add_title(Page& page, const DeviceCard& card) {
  const std::string title = page.show(card.title);
  const std::string facts = page.show(card.facts);
  if (display_width(title) + display_width(facts) + 2 <= page.width()) {
    page.line({{title + "  ", Ink::heading}, {facts, Ink::faint}});
    return;
  }
  page.line({{title, Ink::heading}});
  const std::vector<std::string> lines = wrap(facts, page.width() - indent);
  for (const std::string& line : lines) page.line({{" " + line, Ink::faint}});
}

/// What follows the levels, before it is known how much room there is.
std::vector<Entry> entries_of(const Page& page, const DeviceCard& card, bool has_warnings,
                              int topic_width, std::string_view mark) {
  struct Line {
    CardLine line{};
    Ink ink{Ink::plain};
    bool is_one_line{false};  // however much it is
  };
  std::vector<Line> lines;
  for (const CardLine& each : card.lines) lines.push_back({each});
  lines.push_back({{"not done", card.failures}, Ink::failure, true});
  lines.push_back({{"not seen", card.unseen}, Ink::plain, true});
  if (has_warnings) lines.push_back({{"beware of", card.warnings}, Ink::caution, true});
  const int width = page.width() - indent - topic_width - 2;
  std::vector<Entry> entries;
  for (const Line& each : lines) {
    if (each.line.text.empty()) continue;
    const std::string text = page.show(each.line.text);
    std::vector<Entry> entry{{cut_to_width(page.show(each.line.topic), topic_width, mark), text,
                              wrap(text, width), each.ink}};
    if (each.is_one_line) fit(entry, 1, width, mark);
    entries.push_back(std::move(entry.front()));
  }
  return entries;
}

/// Of the widest topic, but at most a third of the page.
int topic_width_of(const Page& page, const DeviceCard& card) {
  int width = display_width("beware of");
  for (const CardLine& line : card.lines) {
    width = std::max(width, display_width(page.show(line.topic)));
  }
  return std::min(width, page.width() / 3);
}

}  // namespace

void add_card(Page& page, const DeviceCard& card, bool has_warnings) {
  const std::string_view mark = page.is_unicode() ? "…" : "...";
  const int topic_width = topic_width_of(page, card);
  std::vector<Entry> entries = entries_of(page, card, has_warnings, topic_width, mark);
  const std::size_t most = page.width() < usual_width ? 2 * max_lines : max_lines;
  const auto left = [&](std::size_t used) { return most > used ? most - used : 0; };
  // A long name takes a line of its own, and none of the hierarchy.
  add_title(page, card);
  std::size_t used = 1;
  used += add_levels(page, card.levels, left(used + 1 + entries.size()));
  fit(entries, left(used), page.width() - indent - topic_width - 2, mark);
  for (const Entry& entry : entries) {
    std::string topic = entry.topic;
    for (const std::string& line : entry.lines) {
      page.line({{" " + pad_right(topic, topic_width) + "  ", Ink::faint}, {line, entry.ink}});
      topic.clear();
    }
  }
}

}  // namespace clprobe::report
