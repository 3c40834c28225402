// SPDX-License-Identifier: Apache-2.0
#include "present/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "present/api/page.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/side_by_side.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

void append(std::string& text, std::string_view separator, std::string_view more) {
  if (!text.empty() && !more.empty()) text += separator;
  text += more;
}

std::string facts_of(const Run& run) {
  const DeviceInfo& device = run.device;
  std::string facts = run.label.empty() ? "" : device.name;
  append(facts, ", ", units_text(device.compute_units, "compute unit"));
  if (device.timer != Timer::imported) append(facts, ", ", format_bytes(device.global_memory));
  if (!is_simulated(device) && !device.driver.empty()) {
    append(facts, ", ", "driver " + device.driver);
  }
  if (run.imported) append(facts, ", ", "imported from " + run.imported->tool);
  constexpr std::size_t date_size = 10;  // length of "2026-11-22"
  append(facts, ", ", run.started.substr(0, date_size));
  return facts;
}

std::string value_and_interval(const Finding& finding) {
  const std::string interval = interval_text(finding);
  return value_text(finding) + (interval.empty() ? "" : " " + interval);
}

/// Returns the headlines of a result, a line per series: "latency 4.05 ns ±0.1%, throughput 2
/// Gop/s".
std::vector<CardLine> headlines_of(const ProbeResult& result) {
  std::vector<CardLine> rows;
  const bool is_any = std::ranges::any_of(
      result.findings, [](const Finding& each) { return each.role == Role::headline; });
  // Imported findings have no roles, so all findings of a result without points are shown.
  const bool are_all = !is_any && result.points.empty();
  for (const Finding& finding : result.findings) {
    const bool is_shown = (are_all || finding.role == Role::headline) &&
                          !is_told_by_label(finding) && !value_text(finding).empty();
    if (!is_shown) continue;
    const std::string topic =
        finding.level ? fmt::format("{} {}", finding.series, *finding.level) : finding.series;
    auto row = std::ranges::find(rows, topic, &CardLine::topic);
    if (row == rows.end()) row = rows.insert(row, {topic, {}});
    append(row->text, ", ", fmt::format("{} {}", words(finding.name), value_and_interval(finding)));
  }
  return rows;
}

/// True if the result's probe defines contents of the card. Also true for stacked bars: their
/// shares describe kernels, so the card must not show them as headlines.
bool has_card(const ProbeResult& result) {
  const Card& card = result.card;
  return !stacks_in(result.findings).empty() || !card.levels.empty() || !card.columns.empty() ||
         !card.notes.empty() || !card.lines.empty() || !card.rows.empty() || !card.unseen.empty();
}

void add_status(DeviceCard& card, const ProbeResult& result) {
  const std::string name = words(result.probe);
  switch (result.status) {
    case Status::ok:
      return;
    case Status::unsupported:
    case Status::unobservable:
      card.unseen.push_back(result.reason.empty() ? name
                                                  : fmt::format("{}: {}", name, result.reason));
      return;
    case Status::failed:
    case Status::interrupted:
      append(card.failures, ", ", fmt::format("{} {}", name, to_word(result.status)));
      return;
  }
}

/// Returns the levels of the first series that has levels, derived from its findings.
std::vector<CardLevel> levels_of(const ProbeResult& result) {
  std::vector<CardLevel> levels;
  std::vector<int> numbers;
  const std::string* series = nullptr;
  for (const Finding& finding : result.findings) {
    if (!finding.level || (series != nullptr && finding.series != *series)) continue;
    series = &finding.series;
    const auto place = std::ranges::find(numbers, *finding.level);
    const auto i = static_cast<std::size_t>(place - numbers.begin());
    if (place == numbers.end()) {
      numbers.push_back(*finding.level);
      levels.push_back({.name = fmt::format("{} {}", finding.series, *finding.level)});
    }
    if (finding.unit == "seconds") levels[i].latency = finding;
    if (finding.unit == "cycles") levels[i].cycles = finding;
    if (finding.unit == "bytes") levels[i].capacity = finding;
    if (finding.unit.empty() && !finding.label.empty()) levels[i].what = words(finding.label);
  }
  std::erase_if(levels, [](const CardLevel& each) { return value_text(each.latency).empty(); });
  return levels;
}

/// Adds the headlines of a result to the card, except the headlines of levels.
void add_headlines(DeviceCard& card, const ProbeResult& result) {
  // Maximum number of series with a line; the remaining series are only counted.
  constexpr std::size_t max_series = 2;
  std::vector<CardLine> rows = headlines_of(result);
  for (const CardLevel& level : levels_of(result)) {
    std::erase_if(rows, [&](const CardLine& row) { return row.topic == level.name; });
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), max_series); ++i) {
    append(text, "; ", fmt::format("{}: {}", rows[i].topic, rows[i].text));
  }
  if (rows.size() > max_series) text += fmt::format("; and {} more", rows.size() - max_series);
  if (!text.empty()) card.lines.push_back({words(result.probe), std::move(text)});
}

void add_own(DeviceCard& card, const Card& own, bool is_imported) {
  card.lines.insert(card.lines.end(), own.lines.begin(), own.lines.end());
  for (const CardColumn& each : own.columns) {
    if (!each.is_shown) continue;
    if (!add_column(card, each) && !each.alone.text.empty()) card.lines.push_back(each.alone);
  }
  for (const CardNote& each : own.notes) {
    if (!add_note(card, each)) card.lines.push_back(each.alone);
  }
  // Findings that an imported run lacks are not listed, since another tool did not try to measure
  // them.
  if (is_imported) return;
  card.unseen.insert(card.unseen.end(), own.unseen.begin(), own.unseen.end());
}

void add_warnings(std::vector<std::string>& kinds, const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) {
    const std::string kind = brief_warning(warning.code);
    add_once(kinds, kind);
  }
}

struct Sizes {
  double from{0.0};
  double to{0.0};  ///< infinite if the level's end was not measured
};

/// Returns the range of a level's sizes; nothing if the end of the level or of the previous level
/// is unknown.
std::optional<Sizes> sizes_of(const std::vector<DeviceLevel>& levels, std::size_t i) {
  const CardLevel& level = levels[i].own;
  Sizes sizes;
  if (i > 0 && levels[i - 1].own.memory == level.memory) {
    const std::optional<double> before = levels[i - 1].own.capacity.value;
    if (!before) return std::nullopt;
    sizes.from = *before;
  }
  if (level.capacity.value) {
    sizes.to = *level.capacity.value;
  } else if (is_open(level.capacity)) {
    sizes.to = HUGE_VAL;
  } else {
    return std::nullopt;
  }
  return sizes;
}

/// Returns the number of doublings between two sizes; 0 if `to` is not larger.
double doublings(double from, double to) {
  const double low = std::max(from, 1.0);
  return to > low ? std::log2(to / low) : 0.0;
}

/// Returns the distance between the ends of a plateau and a level, in doublings; infinite for a
/// plateau without an end.
double distance_of_ends(const Sizes& level, const CardPlateau& plateau) {
  return plateau.is_open ? HUGE_VAL : std::abs(std::log2(level.to / plateau.to));
}

/// Returns the plateau that describes the level best; null if no plateau does. Among the plateaus
/// that cover at least `min_share` of the level, it is the one whose end is nearest to the level's
/// end. The plateau with the largest coverage would be wrong, since a smaller cache also serves a
/// part of slightly larger working sets. On an H200, whose L2 ends at 28.6 MiB, one of three runs
/// would have shown 13.0 TB/s for L2, from a plateau that ends at 2.58 MiB. A plateau whose end is
/// nearer to the end of the previous level does not describe the level either.
const CardPlateau* plateau_at(const Sizes& level, const std::vector<CardPlateau>& plateaus) {
  constexpr double min_share = 1.0 / 3.0;
  const double smallest = plateaus.front().from;
  const bool is_open_level = std::isinf(level.to);
  const CardPlateau* found = nullptr;
  std::optional<double> nearest;
  for (const CardPlateau& each : plateaus) {
    if (is_open_level && !each.is_open) continue;
    // An open plateau that begins inside the level is that of memory, and does not describe a
    // cache.
    if (!is_open_level && each.is_open && each.from > std::max(level.from, smallest)) continue;
    const double covered = doublings(std::max(level.from, each.from), std::min(level.to, each.to));
    const double whole =
        doublings(std::max(level.from, smallest), is_open_level ? each.to : level.to);
    if (covered <= 0.0 || covered < min_share * whole) continue;
    if (!is_open_level && !each.is_open && each.to * each.to < level.from * level.to) continue;
    const double distance = distance_of_ends(level, each);
    if (!nearest || distance < *nearest) {
      nearest = distance;
      found = &each;
    }
  }
  return found;
}

/// Decides whether uncertain levels are reaches of TLBs, from measured reaches. A level whose
/// capacity agrees with a reach is one. A level that lies within the smallest reach, or between
/// two reaches, is a cache.
void settle_levels(std::vector<DeviceLevel>& levels, const std::vector<Finding>& reaches) {
  // Time that translation adds to a curve of latency rises in steps of its sizes.
  constexpr double tolerance = 1.25;
  if (reaches.empty()) return;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CardLevel& level = levels[i].own;
    if (!level.may_be_tlb || !level.capacity.value) continue;
    const double low = level.capacity.low.value_or(*level.capacity.value) / tolerance;
    const double high = level.capacity.high.value_or(*level.capacity.value) * tolerance;
    const auto agrees = [&](const Finding& reach) {
      return reach.high && *reach.low <= high && *reach.high >= low;
    };
    const auto is_beyond = [&](const Finding& reach) { return *reach.low > high; };
    if (std::ranges::any_of(reaches, agrees)) {
      level.name = fmt::format("level {}", i + 1);
      level.what = "reach of a TLB";
      level.short_what = "TLB reach";
    } else if (std::ranges::any_of(reaches, is_beyond)) {
      std::erase(level.name, '?');
      level.what.clear();
      level.short_what.clear();
    } else {
      continue;
    }
    level.may_be_tlb = false;
  }
}

}  // namespace

DeviceCard card_of(const Run& run) {
  DeviceCard card{.title = name_of(run), .facts = facts_of(run)};
  if (run.interrupted) card.failures = "the run was interrupted";
  // The levels of all results are added first, since a column or note may belong to a level of a
  // later result.
  for (const ProbeResult& result : run.results) {
    for (const CardLevel& level : has_card(result) ? result.card.levels : levels_of(result)) {
      card.levels.push_back({.own = level});
    }
  }
  for (const ProbeResult& result : run.results) settle_levels(card.levels, result.card.reaches);
  add_warnings(card.warnings, run.warnings);
  for (const ProbeResult& result : run.results) {
    if (has_card(result)) {
      add_own(card, result.card, run.imported.has_value());
    } else {
      add_headlines(card, result);
    }
    add_status(card, result);
    add_warnings(card.warnings, result.warnings);
  }
  return card;
}

std::vector<CardLine> all_lines(const DeviceCard& card) {
  std::vector<CardLine> lines = card.lines;
  if (!card.failures.empty()) lines.push_back({"not done", card.failures});
  if (!card.unseen.empty()) {
    lines.push_back({"not seen", fmt::format("{}", fmt::join(card.unseen, ", "))});
  }
  if (!card.warnings.empty()) {
    lines.push_back({"warnings", fmt::format("{}", fmt::join(card.warnings, ", "))});
  }
  return lines;
}

std::vector<CardLine> short_rows(const ProbeResult& result) {
  return has_card(result) ? result.card.rows : headlines_of(result);
}

const CardPlateau* plateau_of(const DeviceCard& card, std::size_t level, const CardColumn& column) {
  const bool is_other = card.levels[level].own.memory != column.memory;
  if (is_other || column.plateaus.empty()) return nullptr;
  const std::optional<Sizes> sizes = sizes_of(card.levels, level);
  return sizes ? plateau_at(*sizes, column.plateaus) : nullptr;
}

bool add_column(DeviceCard& card, const CardColumn& column) {
  std::vector<std::string> texts(card.levels.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const CardPlateau* const plateau = plateau_of(card, i, column);
    if (plateau != nullptr) texts[i] = plateau->text;
  }
  const auto is_empty = [](const std::string& text) { return text.empty(); };
  if (std::ranges::all_of(texts, is_empty)) return false;
  card.columns.push_back(column.title);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    card.levels[i].columns.push_back(std::move(texts[i]));
  }
  return true;
}

bool add_note(DeviceCard& card, const CardNote& note) {
  const auto level = std::ranges::find_if(
      card.levels, [&](const DeviceLevel& each) { return each.own.memory == note.memory; });
  if (level == card.levels.end()) return false;
  if (!level->note.empty()) level->note += ", ";
  level->note += note.text;
  return true;
}

namespace {

/// Topic of the card with lines of text.
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

/// Returns as many parts as fit into a line, and the number of omitted parts. The first part is
/// always kept, and wrapped if necessary.
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

/// Returns the beginning of a text, in at most `max_lines` lines. It ends after a whole part of a
/// list, or after a word if the parts are long. Open parentheses are closed.
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

/// Returns the width of the widest topic, at most a third of the page's width.
int topic_width_of(const Page& page, const DeviceCard& card) {
  int width = display_width(caution_topic);
  for (const CardLine& line : card.lines) {
    width = std::max(width, display_width(page.show(line.topic)));
  }
  return std::min(width, page.width() / 3);
}

/// Maximum numbers of lines of a topic.
struct MaxLines {
  std::size_t list{1};
  std::size_t sentence{1};
};

/// Returns the card's topics, cut to `most` lines. Findings that could not be measured form a
/// single topic, and so do the kinds of warnings.
std::vector<CardEntry> entries_of(const Page& page, const DeviceCard& card, int topic_width,
                                  bool has_warnings, const MaxLines& most) {
  const std::string_view mark = mark_of(page);
  const int width = page.width() - indent - topic_width - gap;
  std::vector<CardEntry> entries;
  for (const CardLine& each : card.lines) {
    const std::string text = page.show(each.text);
    std::vector<std::string> lines = wrap(text, width);
    const std::size_t max_lines = each.is_sentence ? most.sentence : most.list;
    if (lines.size() > max_lines) lines = shorten(text, max_lines, width, mark);
    entries.push_back({cut_to_width(page.show(each.topic), topic_width, mark), std::move(lines)});
  }
  const auto add_list = [&](std::string_view topic, const std::vector<std::string>& parts,
                            Ink ink) {
    if (parts.empty()) return;
    std::vector<std::string> lines = list_in(shown(page, parts), width);
    if (lines.size() > most.list) {
      lines = shorten(joined(shown(page, parts)), most.list, width, mark);
    }
    entries.push_back({std::string(topic), std::move(lines), ink});
  };
  if (!card.failures.empty()) add_list("not done", {card.failures}, Ink::failure);
  add_list("not seen", card.unseen, Ink::plain);
  if (has_warnings) add_list(caution_topic, card.warnings, Ink::caution);
  return entries;
}

/// Returns the card's topics. Lists have at most two lines, and sentences six. If the card would
/// have more than 16 lines, so that no chart fits on the screen, both have at most two lines, or
/// one. On pages narrower than 80 columns, both have up to four lines.
std::vector<CardEntry> entries_that_fit(const Page& page, const DeviceCard& card, int topic_width,
                                        bool has_warnings, std::size_t title_lines) {
  constexpr int usual_width = 80;
  constexpr std::size_t max_card_lines = 16;
  if (page.width() < usual_width) return entries_of(page, card, topic_width, has_warnings, {4, 4});
  std::vector<CardEntry> entries;
  for (const MaxLines& most : {MaxLines{2, 6}, MaxLines{2, 2}, MaxLines{1, 1}}) {
    entries = entries_of(page, card, topic_width, has_warnings, most);
    std::size_t lines = title_lines + (card.levels.empty() ? 0 : 1 + card.levels.size());
    for (const CardEntry& each : entries) lines += each.lines.size();
    if (lines <= max_card_lines) break;
  }
  return entries;
}

/// Levels of detail, from the most to the least detailed. A page shows the first level that fits.
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

/// Returns the type of a level. In a column without a title, a note replaces the type, since the
/// level's name implies the type.
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

/// Returns the width that the row's cells leave for its note.
int note_room(const Page& page, const Layout& table, const Row& row) {
  const auto cells = static_cast<std::ptrdiff_t>(row.cells.size());
  const std::vector<Column> before(table.columns.begin(), table.columns.begin() + cells);
  return page.width() - Page::table_width(before, table.rows, indent) - row.remark_gap;
}

bool fits(const Page& page, const Layout& table, const LevelDetail& detail) {
  if (Page::table_width(table.columns, table.rows, indent) > page.width()) return false;
  // To make room for a note, only types are shortened and narrow intervals omitted; other details
  // are kept, and the note is cut.
  if (!detail.has_narrow) return true;
  return std::ranges::all_of(table.rows, [&](const Row& row) {
    return display_width(row.remark) <= note_room(page, table, row);
  });
}

/// Cuts each note to one line, so that the table has one line per level.
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

/// Adds the device's name, with the facts on the same line if they fit. Returns the number of
/// lines.
std::size_t add_title(Page& page, const DeviceCard& card) {
  const std::string title = page.show(card.title);
  std::string brief = card.facts;
  constexpr std::string_view left_out = "compute ";  // part of "132 compute units"
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
        // The text has no unit, since the column's title names the unit.
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
