// SPDX-License-Identifier: Apache-2.0
// The card on a page of a fixed width.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/api/page.hpp"
#include "present/card.hpp"
#include "present/findings.hpp"
#include "present/side_by_side.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

/// A topic, and its text in lines.
struct CardEntry {
  std::string topic{};
  std::vector<std::string> lines{};
  Ink ink{Ink::plain};
};

constexpr int indent = table_indent;
constexpr int gap = 2;
constexpr std::string_view caution_topic = "warnings";

std::string_view mark_of(const Page& page) { return page.is_unicode() ? "…" : "..."; }

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The parts of a list that fit into a line, and the number of the others. The first part is never
/// cut.
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

/// Shortens a list to `max_lines` lines: it ends after a whole part, with parentheses closed, or
/// after a word where the parts are long.
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

/// Columns of the topics: of the widest one, but at most a third of the page.
int topic_width_of(const Page& page, const DeviceCard& card) {
  int width = display_width(caution_topic);
  for (const CardLine& line : card.lines) {
    width = std::max(width, display_width(page.show(line.topic)));
  }
  return std::min(width, page.width() / 3);
}

/// The card's answers, each in at most `max_lines` lines. Unseen findings and kinds of warnings
/// share one entry each.
std::vector<CardEntry> entries_of(const Page& page, const DeviceCard& card, int topic_width,
                                  bool has_warnings, std::size_t max_lines) {
  const std::string_view mark = mark_of(page);
  const int width = page.width() - indent - topic_width - gap;
  std::vector<CardEntry> entries;
  for (const CardLine& each : card.lines) {
    const std::string text = page.show(each.text);
    std::vector<std::string> lines = wrap(text, width);
    if (lines.size() > max_lines) lines = shorten(text, max_lines, width, mark);
    entries.push_back({cut_to_width(page.show(each.topic), topic_width, mark), std::move(lines)});
  }
  const auto add_list = [&](std::string_view topic, const std::vector<std::string>& parts,
                            Ink ink) {
    if (parts.empty()) return;
    std::vector<std::string> lines = list_in(shown(page, parts), width);
    if (lines.size() > max_lines) {
      lines = shorten(joined(shown(page, parts)), max_lines, width, mark);
    }
    entries.push_back({std::string(topic), std::move(lines), ink});
  };
  if (!card.failures.empty()) add_list("not done", {card.failures}, Ink::failure);
  add_list("not seen", card.unseen, Ink::plain);
  if (has_warnings) add_list(caution_topic, card.warnings, Ink::caution);
  return entries;
}

/// The answers in two lines each, or four on a narrow page; in one line each if a card would
/// otherwise leave no room for a chart on a usual screen.
std::vector<CardEntry> entries_that_fit(const Page& page, const DeviceCard& card, int topic_width,
                                        bool has_warnings, std::size_t title_lines) {
  constexpr int usual_width = 80;
  constexpr std::size_t max_card_lines = 16;
  const bool is_narrow = page.width() < usual_width;
  std::vector<CardEntry> entries =
      entries_of(page, card, topic_width, has_warnings, is_narrow ? 4 : 2);
  std::size_t lines = title_lines + (card.levels.empty() ? 0 : 1 + card.levels.size());
  for (const CardEntry& each : entries) lines += each.lines.size();
  if (is_narrow || lines <= max_card_lines) return entries;
  return entries_of(page, card, topic_width, has_warnings, 1);
}

/// The order in which parts are left out, those that a reader misses least first.
constexpr std::array details{
    LevelDetail{Words::whole},
    LevelDetail{Words::brief},
    LevelDetail{Words::brief, true, false},
    LevelDetail{Words::brief, true, false, false},
    LevelDetail{Words::brief, false, false, false},
    LevelDetail{Words::brief, false, false, false, false},
    LevelDetail{Words::brief, false, false, false, false, false},
    LevelDetail{Words::none, false, false, false, false, false},
};

/// The type of a level. Below no title a note takes its place: its name says what it is.
Cell type_of(const DeviceLevel& level, Words words) {
  const bool is_brief = words == Words::brief && !level.own.short_what.empty();
  const std::string& what = is_brief ? level.own.short_what : level.own.what;
  if (words == Words::title) {
    const bool has_both = !what.empty() && !level.note.empty();
    return {.reason = what + (has_both ? ": " : "") + level.note};
  }
  if (level.note.empty()) return {.text = what, .is_number = false};
  return {.reason = level.note, .is_remark = true};
}

/// Width that is left for a row's note.
int note_room(const Page& page, const Layout& table, const Row& row) {
  const auto cells = static_cast<std::ptrdiff_t>(row.cells.size());
  const std::vector<Column> before(table.columns.begin(), table.columns.begin() + cells);
  return page.width() - Page::table_width(before, table.rows, indent) - row.remark_gap;
}

bool fits(const Page& page, const Layout& table, const LevelDetail& detail) {
  if (Page::table_width(table.columns, table.rows, indent) > page.width()) return false;
  // A note is cut before more than intervals goes for it.
  if (!detail.has_narrow) return true;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
    return display_width(row.remark) <= note_room(page, table, row);
  });
}

/// Cuts each note to one line, so that the table has as many lines as levels.
void cut_notes(const Page& page, Layout& table) {
  for (Row& row : table.rows) {
    const int room = std::max(1, note_room(page, table, row));
    if (display_width(row.remark) <= room) continue;
    row.remark = shorten(row.remark, 1, room, page.is_unicode() ? "…" : "...").front();
  }
}

void add_levels(Page& page, const DeviceCard& card) {
  if (card.levels.empty()) return;
  for (const LevelDetail& detail : details) {
    Layout table = lay_out(page, levels_table(card, detail));
    for (Row& row : table.rows) {
      row.remark_ink = Ink::plain;
      row.remark_gap = row.remark.empty() ? 0 : gap;
    }
    const bool is_last = detail.words == Words::none;
    if (!is_last && !fits(page, table, detail)) continue;
    cut_notes(page, table);
    page.table(table.columns, table.rows, indent);
    return;
  }
}

/// Adds the name, with its facts in the same line if they fit. Returns the number of lines.
std::size_t add_title(Page& page, const DeviceCard& card) {
  const std::string title = page.show(card.title);
  std::string brief = card.facts;
  constexpr std::string_view left_out = "compute ";  // of "132 compute units"
  if (const std::size_t at = brief.find(left_out); at != std::string::npos) {
    brief.erase(at, left_out.size());
  }
  for (const std::string& facts : {page.show(card.facts), page.show(brief)}) {
    if (display_width(title) + 2 + display_width(facts) > page.width()) continue;
    page.line({{title + "  ", Ink::heading}, {facts, Ink::faint}});
    return 1;
  }
  page.line({{title, Ink::heading}});
  page.prose(" ", card.facts, Ink::faint);
  return 2;
}

}  // namespace

namespace {

bool is_narrow(const Finding& latency) {
  constexpr double worth_telling = 0.05;
  if (!latency.value || !latency.low || !latency.high) return true;
  const double value = *latency.value;
  return std::max(value - *latency.low, *latency.high - value) < worth_telling * value;
}

}  // namespace

Table levels_table(const DeviceCard& card, const LevelDetail& detail) {
  Table table{.title = "Levels of " + card.title,
              .head = {"level", "latency", "cycles", "capacity"}};
  if (detail.has_columns) {
    table.head.insert(table.head.end(), card.columns.begin(), card.columns.end());
  }
  if (detail.words != Words::none) {
    table.head.emplace_back(detail.words == Words::title ? "type" : "");
  }
  for (const DeviceLevel& level : card.levels) {
    const CardLevel& own = level.own;
    const std::string latency = value_text(own.latency);
    const bool has_interval =
        detail.has_intervals && (detail.has_narrow || !is_narrow(own.latency));
    std::vector<Cell> cells{
        {own.name},
        {latency.empty() ? "no plateau" : latency, has_interval ? interval_text(own.latency) : ""},
        // The column's title has the unit.
        {detail.has_cycles && own.cycles.value ? quantity_text(*own.cycles.value, own.cycles.unit)
                                               : ""},
        {shared_text(&own.capacity, ""), detail.has_brackets ? interval_text(own.capacity) : ""}};
    if (detail.has_columns) {
      for (const std::string& each : level.columns) cells.push_back({each});
    }
    if (detail.words != Words::none) cells.push_back(type_of(level, detail.words));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void add_card(Page& page, const DeviceCard& card, bool has_warnings) {
  const std::size_t title_lines = add_title(page, card);
  add_levels(page, card);
  const int topic_width = topic_width_of(page, card);
  for (const CardEntry& entry :
       entries_that_fit(page, card, topic_width, has_warnings, title_lines)) {
    std::string topic = entry.topic;
    for (const std::string& line : entry.lines) {
      page.line({{" " + pad_right(topic, topic_width) + "  ", Ink::faint}, {line, entry.ink}});
      topic.clear();
    }
  }
}

}  // namespace clprobe::report
