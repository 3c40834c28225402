// SPDX-License-Identifier: Apache-2.0
// The card on a page of a fixed width.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/card.hpp"
#include "report/page.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

/// A topic, and its text in lines.
struct CardEntry {
  std::string topic{};
  std::string text{};  ///< empty: it may not be shortened
  std::vector<std::string> lines{};
  Ink ink{Ink::plain};
};

constexpr int indent = 1;
constexpr int gap = 2;
constexpr std::string_view seen_topic = "not seen";
constexpr std::string_view caution_topic = "warnings";

std::string_view mark_of(const Page& page) { return page.is_unicode() ? "…" : "..."; }

int text_width(const Page& page, int topic_width) {
  return page.width() - indent - topic_width - gap;
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// As many of a list as fit into a line, and how many more there are. The first stands whole.
std::vector<std::string> list_in(const std::vector<std::string>& parts, int width) {
  std::string text = joined(parts);
  for (std::size_t left = 1; left < parts.size() && display_width(text) > width; ++left) {
    const std::vector<std::string> first(parts.begin(),
                                         parts.end() - static_cast<std::ptrdiff_t>(left));
    text = fmt::format("{}, {} more", joined(first), left);
  }
  return wrap(text, width);
}

std::vector<std::string> shown(const Page& page, const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (const std::string& each : texts) all.push_back(page.show(each));
  return all;
}

CardEntry list_entry(std::string_view topic, const std::vector<std::string>& parts, Ink ink,
                     int width) {
  return {.topic = std::string(topic), .lines = list_in(parts, width), .ink = ink};
}

/// Columns of the topics: of the widest one, but at most a third of the page.
int topic_width_of(const Page& page, const DeviceCard& card) {
  int width = display_width(caution_topic);
  for (const CardLine& line : card.lines) {
    width = std::max(width, display_width(page.show(line.topic)));
  }
  return std::min(width, page.width() / 3);
}

/// Each in as many lines as it takes. Of what was not seen, and of the kinds of warnings, as many
/// as fit into a line.
std::vector<CardEntry> entries_of(const Page& page, const DeviceCard& card, bool has_warnings) {
  const std::string_view mark = mark_of(page);
  const int topic_width = topic_width_of(page, card);
  const int width = text_width(page, topic_width);
  std::vector<CardEntry> entries;
  for (const CardLine& each : card.lines) {
    const std::string text = page.show(each.text);
    entries.push_back({.topic = cut_to_width(page.show(each.topic), topic_width, mark),
                       .text = text,
                       .lines = wrap(text, width)});
  }
  if (!card.failures.empty()) {
    entries.push_back(list_entry("not done", {page.show(card.failures)}, Ink::failure, width));
  }
  const std::vector<std::string> unseen = shown(page, card.unseen);
  if (!unseen.empty()) entries.push_back(list_entry(seen_topic, unseen, Ink::plain, width));
  const std::vector<std::string> warnings =
      has_warnings ? shown(page, card.warnings) : std::vector<std::string>{};
  if (!warnings.empty()) {
    entries.push_back(list_entry(caution_topic, warnings, Ink::caution, width));
  }
  return entries;
}

/// As much of a text as fits into so many lines: it ends after a part of the list that it is, with
/// its parentheses closed; after a word where its parts are long.
std::vector<std::string> shorten(const std::string& text, std::size_t max_lines, int width,
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
    if (lines.size() > max_lines) break;
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

/// Shortens the longest texts by lines until all fit into so many, or have one each.
void fit(std::vector<CardEntry>& entries, std::size_t room, const Page& page, int topic_width) {
  const auto count = [&] {
    std::size_t lines = 0;
    for (const CardEntry& each : entries) lines += each.lines.size();
    return lines;
  };
  while (count() > room) {
    // A list is as short as it can be, and has no text.
    const auto lines_of = [](const CardEntry& each) {
      return each.text.empty() ? 0 : each.lines.size();
    };
    const auto longest = std::max_element(
        entries.begin(), entries.end(),
        [&](const CardEntry& a, const CardEntry& b) { return lines_of(a) < lines_of(b); });
    if (longest == entries.end() || lines_of(*longest) < 2) return;
    longest->lines = shorten(longest->text, longest->lines.size() - 1,
                             text_width(page, topic_width), mark_of(page));
  }
}

constexpr std::size_t max_lines = 16;
constexpr int usual_width = 80;
/// So many levels stand on a card whatever else does.
constexpr std::size_t min_levels = 3;

/// The latencies' intervals that are shown.
enum class Intervals { all, wide, none };

/// How long the words for a level are.
enum class Words { whole, brief, none };

/// What of the levels is shown: the less, the narrower.
struct Detail {
  Words words{Words::whole};
  Intervals intervals{Intervals::all};
  bool has_brackets{true};
  bool has_cycles{true};
  bool has_columns{true};
};

/// What goes first is what costs a reader least: long words, then intervals that say little more
/// than the digits of the latency do.
constexpr std::array details{
    Detail{},
    Detail{Words::brief},
    Detail{Words::brief, Intervals::wide},
    Detail{Words::brief, Intervals::wide, false},
    Detail{Words::brief, Intervals::none, false},
    Detail{Words::brief, Intervals::none, false, false},
    Detail{Words::brief, Intervals::none, false, false, false},
    Detail{Words::none, Intervals::none, false, false, false},
};

struct Levels {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
};

std::string_view series_of(const DeviceLevel& level) { return level.own.latency.series; }

/// Of each series the first ones and the last one, which is memory.
std::vector<DeviceLevel> shown_levels(std::vector<DeviceLevel> levels, std::size_t room) {
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

/// Runs of one device differ by less, so that such an interval is no news.
bool is_wide(const Finding& latency) {
  constexpr double worth_telling = 0.05;
  if (!latency.value || !latency.low || !latency.high) return false;
  const double value = *latency.value;
  return std::max(value - *latency.low, *latency.high - value) >= worth_telling * value;
}

/// The texts that such a detail shows; the others are empty.
LevelTexts shown_texts(const DeviceLevel& level, const Detail& detail) {
  LevelTexts texts = texts_of(level.own);
  const bool is_shown = detail.intervals == Intervals::all ||
                        (detail.intervals == Intervals::wide && is_wide(level.own.latency));
  if (!is_shown) texts.interval.clear();
  if (!detail.has_brackets) texts.bracket.clear();
  if (!detail.has_cycles) texts.cycles.clear();
  return texts;
}

std::string word_of(const DeviceLevel& level, const Detail& detail) {
  if (detail.words == Words::none) return {};
  const bool is_brief = detail.words == Words::brief && !level.own.short_what.empty();
  return is_brief ? level.own.short_what : level.own.what;
}

/// Its columns are those in which some level has a text, and those of others' where there is room.
class Layout {
 public:
  Layout(const Page& page, const std::vector<DeviceLevel>& levels,
         const std::vector<std::string>& titles, const Detail& detail)
      : page_(page), detail_(detail) {
    for (const DeviceLevel& each : levels) {
      const LevelTexts texts = shown_texts(each, detail);
      has_intervals_ |= !texts.interval.empty();
      has_cycles_ |= !texts.cycles.empty();
      has_brackets_ |= !texts.bracket.empty();
    }
    add_columns(titles);
    for (const DeviceLevel& each : levels) table_.rows.push_back(row_of(each));
  }

  [[nodiscard]] Levels table() && { return std::move(table_); }

 private:
  void add_columns(const std::vector<std::string>& titles) {
    std::vector<Column>& columns = table_.columns;
    columns = {{}, {"latency", true, 2}};
    if (has_intervals_) columns.push_back({"", false, 1});
    if (has_cycles_) columns.push_back({"cycles", true, 2});
    columns.push_back({"capacity", true, 2});
    if (has_brackets_) columns.push_back({"", false, 1});
    if (detail_.has_columns) {
      for (const std::string& title : titles) columns.push_back({page_.show(title), true, 2});
    }
    if (detail_.words != Words::none) columns.push_back({"", false, 2});
  }

  /// A level's note takes the place of what other columns have nothing for: its name says what it
  /// is.
  [[nodiscard]] Row row_of(const DeviceLevel& level) const {
    const LevelTexts texts = shown_texts(level, detail_);
    Row row{{page_.show(level.own.name), page_.show(texts.latency)}, ""};
    if (has_intervals_) row.cells.push_back(page_.show(texts.interval));
    if (has_cycles_) row.cells.push_back(page_.show(texts.cycles));
    row.cells.push_back(page_.show(texts.capacity));
    const std::size_t until_capacity = row.cells.size();
    if (has_brackets_) row.cells.push_back(page_.show(texts.bracket));
    if (detail_.has_columns) {
      for (const std::string& each : level.columns) row.cells.push_back(page_.show(each));
    }
    if (detail_.words == Words::none) return row;
    if (level.note.empty()) {
      row.cells.push_back(page_.show(word_of(level, detail_)));
      return row;
    }
    while (row.cells.size() > until_capacity && row.cells.back().empty()) row.cells.pop_back();
    row.remark = page_.show(level.note);
    row.remark_ink = Ink::plain;
    row.remark_gap = 2;
    return row;
  }

  const Page& page_;
  Detail detail_;
  bool has_intervals_{false};
  bool has_cycles_{false};
  bool has_brackets_{false};
  Levels table_{};
};

/// Columns that a row's note has for itself.
int note_room(const Page& page, const Levels& table, const Row& row) {
  const auto cells = static_cast<std::ptrdiff_t>(row.cells.size());
  const std::vector<Column> before(table.columns.begin(), table.columns.begin() + cells);
  return page.width() - Page::table_width(before, table.rows, indent) - row.remark_gap;
}

bool fits(const Page& page, const Levels& table, const Detail& detail) {
  if (Page::table_width(table.columns, table.rows, indent) > page.width()) return false;
  // A note is cut before more than intervals goes for it.
  if (detail.intervals != Intervals::all) return true;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
    return display_width(row.remark) <= note_room(page, table, row);
  });
}

/// Each note in one line, so that the table has as many as it has levels.
void cut_notes(const Page& page, Levels& table) {
  for (Row& row : table.rows) {
    const int room = std::max(1, note_room(page, table, row));
    if (display_width(row.remark) <= room) continue;
    row.remark = shorten(row.remark, 1, room, page.is_unicode() ? "…" : "...").front();
  }
}

/// How many of them are shown.
std::size_t add_levels(Page& page, const DeviceCard& card, std::size_t room) {
  if (card.levels.empty()) return 0;
  const std::vector<DeviceLevel> levels = shown_levels(card.levels, room);
  for (const Detail& detail : details) {
    Levels table = Layout(page, levels, card.columns, detail).table();
    const bool is_last = detail.words == Words::none;
    if (!is_last && !fits(page, table, detail)) continue;
    cut_notes(page, table);
    page.table(table.columns, table.rows, indent);
    break;
  }
  return levels.size();
}

/// The name, and what fits beside it: in a line, in as many as it takes, or cut to one.
std::vector<std::vector<Span>> title_lines(const Page& page, const DeviceCard& card,
                                           bool is_one_line) {
  const std::string title = page.show(card.title);
  for (const std::string& each : {card.facts, card.short_facts}) {
    const std::string facts = page.show(each);
    if (display_width(title) + 2 + display_width(facts) <= page.width()) {
      return {{{title + "  ", Ink::heading}, {facts, Ink::faint}}};
    }
  }
  constexpr int least = 20;  // what is shorter says nothing
  const int left = page.width() - display_width(title) - 2;
  if (is_one_line && left >= least) {
    const std::string facts =
        shorten(page.show(card.short_facts), 1, left, page.is_unicode() ? "…" : "...").front();
    return {{{title + "  ", Ink::heading}, {facts, Ink::faint}}};
  }
  std::vector<std::vector<Span>> lines{{{title, Ink::heading}}};
  for (const std::string& each : wrap(page.show(card.facts), page.width() - indent)) {
    lines.push_back({{" " + each, Ink::faint}});
  }
  return lines;
}

/// What stands above and below the levels.
struct Rest {
  std::vector<std::vector<Span>> title{};
  std::vector<CardEntry> entries{};

  /// With each answer cut to a line; lists are as short as they can be.
  [[nodiscard]] std::size_t min_lines() const {
    std::size_t lines = title.size();
    for (const CardEntry& each : entries) lines += each.text.empty() ? each.lines.size() : 1;
    return lines;
  }
};

/// All facts of the device, where the levels and a line of each answer then have room.
Rest rest_of(const Page& page, const DeviceCard& card, bool has_warnings, std::size_t room) {
  Rest rest{title_lines(page, card, false), entries_of(page, card, has_warnings)};
  if (rest.min_lines() > room) rest.title = title_lines(page, card, true);
  return rest;
}

}  // namespace

std::size_t add_card(Page& page, const DeviceCard& card, bool has_warnings) {
  const std::size_t most = page.width() < usual_width ? 2 * max_lines : max_lines;
  const auto left = [&](std::size_t used) { return most > used ? most - used : 0; };
  const std::size_t header = card.levels.empty() ? 0 : 1;
  Rest rest = rest_of(page, card, has_warnings, left(card.levels.size() + header));
  for (const std::vector<Span>& line : rest.title) page.line(line);
  const std::size_t levels = add_levels(page, card, left(rest.min_lines() + header));
  const int topic_width = topic_width_of(page, card);
  fit(rest.entries, left(rest.title.size() + levels + header), page, topic_width);
  for (const CardEntry& entry : rest.entries) {
    std::string topic = entry.topic;
    for (const std::string& line : entry.lines) {
      page.line({{" " + pad_right(topic, topic_width) + "  ", Ink::faint}, {line, entry.ink}});
      topic.clear();
    }
  }
  return card.levels.size() - levels;
}

}  // namespace clprobe::report
