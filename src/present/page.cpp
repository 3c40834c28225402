// SPDX-License-Identifier: Apache-2.0
#include "present/api/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "present/blocks.hpp"
#include "present/findings.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

// Minimum width of a layout in columns. If a narrower page is requested, its lines are cut.
constexpr int min_layout_width = 32;
// Minimum width of remarks in columns; a narrower remark would be a column of single words.
constexpr int min_remark_width = 24;

std::string_view escape_of(const Span& span) {
  // Colours that are legible on both black and white, so without cyan, yellow and green.
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
  for (std::size_t row = height; row-- > 0;) {  // short titles are aligned with the last line
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

namespace {

/// Selected part of a table; narrow pages show a smaller part.
struct Part {
  bool has_first{true};  ///< true: first names are a column; false: lines above the rows
  std::size_t asides{
      0};  ///< number of interval or verdict columns that are shown, counted from the left
  std::size_t first{0};  ///< first shown column of values; `last` is the end of the range
  std::size_t last{0};
  int name_room{std::numeric_limits<int>::max()};  ///< maximum width of names in the column; wider
                                                   ///< names have lines of their own
};

int width_of(const Layout& layout) {
  return Page::table_width(layout.columns, layout.rows, table_indent);
}

std::string word_of(const Cell& cell) {
  const bool has_word = !cell.text.empty() || cell.is_remark || cell.reason.empty();
  return has_word ? cell.text : short_reason(cell.reason);
}

bool has_any(const Table& table, std::size_t column, std::string Cell::*part) {
  return std::ranges::any_of(table.rows,
                             [&](const auto& row) { return !(row[column].*part).empty(); });
}

bool is_number_column(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const auto& row) {
    return row[column].is_number && !row[column].text.empty();
  });
}

/// True for a column of level numbers, which is right-aligned.
bool is_of_levels(const Table& table, std::size_t column) {
  return std::ranges::all_of(table.rows, [&](const auto& row) {
    return row[column].text.find_first_not_of("0123456789+") == std::string::npos;
  });
}

class TableText {
 public:
  TableText(const Page& page, const Table& table) : page_(page), table_(table) {
    for (std::size_t i = table.names; i < table.head.size(); ++i) {
      asides_.push_back(has_any(table, i, &Cell::aside));
    }
  }

  [[nodiscard]] std::size_t values() const { return table_.head.size() - table_.names; }
  [[nodiscard]] std::size_t asides() const { return asides_before(values()); }

  [[nodiscard]] Layout lay_out(const Part& part) const {
    Layout layout;
    add_columns(part, layout);
    const std::string* series = nullptr;
    for (const std::vector<Cell>& row : table_.rows) {
      const bool is_piece = part.last - part.first < values();
      if ((is_piece || table_.is_of_devices) && !has_words(row, part)) continue;
      const std::string& name = row.front().text;
      const bool is_new = table_.names == 1 || series == nullptr || *series != name;
      series = &name;
      if (is_new && !part.has_first) {
        const Ink ink = table_.is_of_devices ? Ink::heading : Ink::faint;
        layout.rows.push_back({{}, page_.show(name), ink});
      }
      Row shown{{is_new && part.has_first ? page_.show(name) : ""}};
      for (std::size_t i = 1; i < table_.names; ++i) {
        if (has_any(table_, i, &Cell::text)) shown.cells.push_back(page_.show(row[i].text));
      }
      if (display_width(shown.cells.back()) > part.name_room) {
        const std::string lead(table_.names > 1 ? " " : "");
        layout.rows.push_back({{}, lead + shown.cells.back(), Ink::plain});
        shown.cells.back().clear();
      }
      add_values(row, part, shown);
      layout.rows.push_back(std::move(shown));
    }
    return layout;
  }

  /// Returns the maximum width of the names' column with which the layout fits into the page.
  [[nodiscard]] int name_room(const Layout& layout) const {
    int widest = 0;
    for (const std::vector<Cell>& row : table_.rows) {
      widest = std::max(widest, display_width(page_.show(row[table_.names - 1].text)));
    }
    return widest - std::max(0, width_of(layout) - page_.width());
  }

 private:
  [[nodiscard]] std::size_t asides_before(std::size_t value) const {
    const auto end = asides_.begin() + static_cast<std::ptrdiff_t>(value);
    return static_cast<std::size_t>(std::count(asides_.begin(), end, true));
  }

  [[nodiscard]] bool has_aside(std::size_t value, const Part& part) const {
    return asides_[value] && asides_before(value) < part.asides;
  }

  [[nodiscard]] bool is_column(std::size_t value) const {
    const std::size_t column = table_.names + value;
    return table_.is_of_devices || std::ranges::any_of(table_.rows, [&](const auto& row) {
             return !word_of(row[column]).empty();
           });
  }

  [[nodiscard]] std::string title_of(std::size_t column) const {
    std::string title = page_.show(table_.head[column]);
    if (!table_.is_of_devices && !table_.has_name_heads) return title;
    int width = 14;  // minimum width of a column
    for (std::string_view rest = title; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      width = std::max(width, display_width(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const auto& row : table_.rows) {
      width = std::max(width, display_width(page_.show(word_of(row[column]))));
    }
    return fmt::format("{}", fmt::join(wrap(title, width), "\n"));
  }

  void add_columns(const Part& part, Layout& layout) const {
    layout.columns.push_back({});
    for (std::size_t i = 1; i < table_.names; ++i) {
      if (has_any(table_, i, &Cell::text)) {
        layout.columns.push_back({"", is_of_levels(table_, i), 1});
      }
    }
    for (std::size_t value = part.first; value < part.last; ++value) {
      if (!is_column(value)) continue;
      const std::size_t column = table_.names + value;
      const bool is_number = table_.is_of_devices || is_number_column(table_, column);
      layout.columns.push_back({title_of(column), is_number, 2});
      if (has_aside(value, part)) layout.columns.push_back({"", false, 1});
    }
  }

  [[nodiscard]] bool has_words(const std::vector<Cell>& row, const Part& part) const {
    const auto cells = std::span(row).subspan(table_.names + part.first, part.last - part.first);
    return std::ranges::any_of(cells, [](const Cell& cell) { return !word_of(cell).empty(); });
  }

  /// Adds the values of a row. A word such as "not reached" goes into the column of asides, so that
  /// the column of numbers stays narrow. If no cell of the row has a text, the row's reason
  /// replaces the cells.
  void add_values(const std::vector<Cell>& row, const Part& part, Row& shown) const {
    const auto cells = std::span(row).subspan(table_.names);
    const bool has_text = table_.is_of_devices || has_text_in(cells);
    for (std::size_t value = part.first; value < part.last; ++value) {
      const Cell& cell = cells[value];
      if (!has_text && !cell.reason.empty()) {
        shown.remark = page_.show(cell.reason);
        return;
      }
      if (cell.is_remark) shown.remark = page_.show(cell.reason);
      if (!is_column(value)) continue;
      std::string word = word_of(cell);
      if (word.empty() && table_.is_of_devices) word = "·";
      const bool has_aside = this->has_aside(value, part);
      const bool is_below = has_aside && !cell.is_number && !table_.is_of_devices;
      const std::string aside = page_.show(is_below ? word : cell.aside);
      shown.inks.resize(shown.cells.size(), Ink::plain);
      shown.cells.push_back(is_below ? "" : page_.show(word));
      shown.inks.push_back(cell.aside.empty() ? cell.ink : Ink::plain);
      if (!has_aside) continue;
      shown.cells.push_back(aside);
      shown.inks.push_back(cell.ink);
    }
    while (!shown.remark.empty() && shown.cells.back().empty()) shown.cells.pop_back();
  }

  static bool has_text_in(std::span<const Cell> cells) {
    return std::ranges::any_of(cells, [](const Cell& cell) { return !cell.text.empty(); });
  }

  const Page& page_;
  const Table& table_;
  std::vector<bool> asides_{};  ///< true for columns of values with an aside
};

/// Reason that does not fit into its row, with the names of the rows that it applies to.
struct Note {
  std::string about{};   ///< such as "capacity not reached"
  std::string reason{};  ///< such as "the largest size that was measured is 1 GiB"
  std::vector<std::string> subjects{};
};

std::string names_in(const Table& table, const std::vector<Cell>& row) {
  std::string names = row.front().text;
  for (std::size_t i = 1; i < table.names; ++i) {
    if (!row[i].text.empty()) names += " " + row[i].text;
  }
  return names;
}

void add_notes(Page& page, const Table& table) {
  std::vector<Note> notes;
  for (const std::vector<Cell>& row : table.rows) {
    const auto cells = std::span(row).subspan(table.names);
    if (std::ranges::all_of(cells, [](const Cell& c) { return c.text.empty(); })) {
      continue;  // the row shows its reason
    }
    for (std::size_t i = table.names; i < row.size(); ++i) {
      if (row[i].reason.empty() || row[i].is_remark) continue;
      const std::string word = word_of(row[i]);
      std::string reason = row[i].reason;
      if (reason.starts_with(word + ": ")) reason.erase(0, word.size() + 2);
      const std::string about = table.head[i] + " " + word;
      auto note = std::ranges::find_if(
          notes, [&](const Note& each) { return each.about == about && each.reason == reason; });
      if (note == notes.end()) note = notes.insert(note, {about, reason, {}});
      note->subjects.push_back(names_in(table, row));
    }
  }
  for (const Note& note : notes) {
    page.prose(" ",
               fmt::format("{} ({}): {}", note.about, fmt::join(note.subjects, ", "), note.reason),
               Ink::faint);
  }
}

/// Adds the table in pieces below each other, each with as many columns as fit. Names take at most
/// two fifths of the page's width, and less if two columns of values would otherwise not fit.
void add_pieces(Page& page, const Table& table, const TableText& text) {
  const Ink titles = table.is_of_devices ? Ink::heading : Ink::faint;
  Part part{.has_first = table.names == 1, .asides = text.asides(), .last = text.values()};
  if (width_of(text.lay_out(part)) > page.width()) {
    part.name_room = page.width() * 2 / 5;
    part.last = std::min<std::size_t>(2, text.values());
    const int over = width_of(text.lay_out(part)) - page.width();
    part.name_room = std::max(1, part.name_room - std::max(0, over));
  }
  while (part.first < text.values()) {
    part.last = part.first + 1;
    Layout piece = text.lay_out(part);
    for (; part.last < text.values(); ++part.last) {
      Part more = part;
      ++more.last;
      Layout wider = text.lay_out(more);
      if (width_of(wider) > page.width()) break;
      piece = std::move(wider);
    }
    if (part.first > 0) page.blank();
    page.table(piece.columns, piece.rows, table_indent, titles);
    part.first = part.last;
  }
}

/// Returns a row in words: "time 1.00 ms ±5 %, lanes not known: some launches were not measured".
std::string sentence_of(const Table& table, const std::vector<Cell>& row) {
  std::vector<std::string> parts;
  for (std::size_t i = table.names; i < row.size(); ++i) {
    const std::string word = word_of(row[i]);
    if (word.empty() && row[i].reason.empty()) continue;
    std::string text = row[i].reason.starts_with(word) ? row[i].reason : word;
    if (!row[i].aside.empty()) text += " " + row[i].aside;
    if (!row[i].reason.empty() && text != row[i].reason) text += ": " + row[i].reason;
    parts.push_back(table.head[i] + " " + text);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// True for a table with so few rows that it is shown in words if it is too wide.
bool is_sentences(const Table& table) {
  constexpr std::size_t few = 3;
  return !table.is_of_devices && !table.has_name_heads && table.rows.size() <= few;
}

/// Adds the table in a single piece, with as many asides as fit; the whole form requires all
/// asides. Returns false, and adds nothing, if the table does not fit.
bool add_whole(Page& page, const Table& table, const TableText& text, Form form) {
  const std::size_t all = text.values();
  std::vector<Part> ladder{{true, text.asides(), 0, all}};
  for (std::size_t asides = text.asides() + 1; asides-- > 0;) {
    ladder.push_back({table.names == 1, asides, 0, all});
    if (form == Form::whole) break;
  }
  Part last = ladder.back();
  last.name_room = text.name_room(text.lay_out(last));
  if (table.names == 1 && last.name_room > 0) ladder.push_back(last);
  for (const Part& part : ladder) {
    const Layout layout = text.lay_out(part);
    if (width_of(layout) > page.width()) continue;
    page.table(layout.columns, layout.rows, table_indent);
    return true;
  }
  return false;
}

/// Returns the width of the widest lead among the list items with which `blocks` begins.
int lead_width(const Page& page, std::span<const Block> blocks) {
  int width = 0;
  for (const Block& block : blocks) {
    if (!is_item(block)) break;
    const auto& item = std::get<Prose>(block);
    if (!item.is_nested) width = std::max(width, display_width(page.show(item.lead)));
  }
  return width;
}

void add_prose(Page& page, const Prose& prose, int lead_width) {
  if (prose.is_paragraph) return page.prose("", prose.text, prose.ink);
  if (lead_width == 0) return page.prose(" ", prose.text, prose.ink);
  const std::string lead = prose.is_nested ? "" : page.show(prose.lead);
  page.prose(" " + pad_right(lead, lead_width) + "  ", prose.text, prose.ink);
}

}  // namespace

Layout lay_out(const Page& page, const Table& table) {
  const TableText text(page, table);
  return text.lay_out({true, text.asides(), 0, text.values()});
}

void add_table(Page& page, const Table& table, Form form) {
  const TableText text(page, table);
  if (table.is_of_devices || !add_whole(page, table, text, form)) {
    if (is_sentences(table)) {
      for (const std::vector<Cell>& row : table.rows) {
        page.prose(" " + page.show(names_in(table, row)) + ": ", page.show(sentence_of(table, row)),
                   Ink::plain);
      }
      return;
    }
    add_pieces(page, table, text);
  }
  if (form == Form::whole) add_notes(page, table);
}

void add_blocks(Page& page, std::span<const Block> blocks, Form form) {
  int width = 0;
  bool is_in_list = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool was_in_list = std::exchange(is_in_list, is_item(blocks[i]));
    if (is_in_list && !was_in_list) width = lead_width(page, blocks.subspan(i));
    if (const auto* const heading = std::get_if<Heading>(&blocks[i])) {
      page.blank();
      if (!heading->text.empty()) page.line({{page.show(heading->text), Ink::heading}});
    } else if (const auto* const table = std::get_if<Table>(&blocks[i])) {
      add_table(page, *table, form);
    } else {
      add_prose(page, std::get<Prose>(blocks[i]), width);
    }
  }
}

}  // namespace clprobe::report
