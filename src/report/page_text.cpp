// SPDX-License-Identifier: Apache-2.0
#include "report/page_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "report/common_mark.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace report {
namespace {

constexpr int max_width = 100;
constexpr int min_width = 20;  // narrower, a table has no room for its words
constexpr int margin = 2;      // headings stand out without colour, too

/// Line ends become spaces, too.
std::string one_line(std::string_view words) { return printable(words); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

using Rows = std::vector<std::vector<std::string>>;

/// The cells of lines "| a | b |", without the line of dashes; nothing where these are no table,
/// which CommonMark knows as a paragraph.
Rows table_in(std::string_view words) {
  const std::vector<std::string> lines = split(words, '\n');
  const auto is_row = [](const std::string& line) {
    return line.size() > 1 && line.starts_with('|') && line.ends_with('|');
  };
  if (lines.size() < 2 || !std::all_of(lines.begin(), lines.end(), is_row)) return {};
  if (lines[1].find_first_not_of("|-: ") != std::string::npos) return {};
  Rows rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 1) continue;
    const std::string_view inside = std::string_view(lines[i]).substr(1, lines[i].size() - 2);
    rows.emplace_back();
    for (const std::string& cell : split(inside, '|')) rows.back().emplace_back(trimmed(cell));
  }
  return rows;
}

/// As wide as their longest cells, the widest ones less where that is more than `width` in all.
std::vector<int> widths_of(const Rows& rows, int width) {
  constexpr int gap = 2;
  std::vector<int> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  int room = width - gap * (static_cast<int>(widths.size()) - 1);
  for (const int each : widths) room -= each;
  for (; room < 0; ++room) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= 1) break;
    --*widest;
  }
  return widths;
}

/// The first sentence: up to a full stop before a capital, a backquote or the end.
std::string first_sentence(std::string_view words) {
  for (std::size_t at = words.find(". "); at != std::string_view::npos;
       at = words.find(". ", at + 1)) {
    const char next = words[at + 2];
    const bool begins = (next >= 'A' && next <= 'Z') || next == '`' || next == '(' || next == '-';
    if (begins) return std::string(words.substr(0, at + 1));
  }
  return std::string(words);
}

/// The words in bold with which an item begins, without their full stop; empty where it does not.
std::string bold_beginning(cmark_node* item) {
  cmark_node* const paragraph = cmark_node_first_child(item);
  cmark_node* const bold = paragraph == nullptr ? nullptr : cmark_node_first_child(paragraph);
  if (bold == nullptr || cmark_node_get_type(bold) != CMARK_NODE_STRONG) return {};
  std::string words = one_line(words_of(bold));
  if (words.ends_with('.')) words.pop_back();
  return words;
}

/// A list in short: a line of its bold words, or the first sentences of its items.
void add_short_list(TextPage& page, cmark_node* list) {
  std::string bold;
  std::vector<std::string> sentences;
  for (cmark_node* const item : children_of(list)) {
    const std::string words = bold_beginning(item);
    if (!words.empty()) bold += fmt::format("{}{}", bold.empty() ? "" : "; ", words);
    cmark_node* const first = cmark_node_first_child(item);
    if (words.empty() && first != nullptr) {
      sentences.push_back(first_sentence(one_line(words_of(first))));
    }
  }
  if (!bold.empty()) page.add_paragraph(bold + ".");
  for (const std::string& sentence : sentences) page.add_item(sentence);
}

void add_short_section(TextPage& page, std::span<cmark_node* const> blocks) {
  const auto is_list = [](cmark_node* block) {
    return cmark_node_get_type(block) == CMARK_NODE_LIST;
  };
  const bool has_list = std::any_of(blocks.begin(), blocks.end(), is_list);
  for (cmark_node* const block : blocks) {
    if (is_list(block)) add_short_list(page, block);
    if (has_list || cmark_node_get_type(block) != CMARK_NODE_PARAGRAPH) continue;
    page.add_paragraph(first_sentence(one_line(words_of(block))));
  }
}

}  // namespace

TextPage::TextPage(const PageStyle& style)
    : width_(std::clamp(style.width, min_width, max_width)), has_colour_(style.has_colour) {}

void TextPage::add_empty_line() {
  if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
}

void TextPage::add_heading(std::string_view words) {
  add_empty_line();
  for (const std::string& line : wrap(one_line(words), width_)) {
    text_ += has_colour_ ? fmt::format("\x1b[1m{}\x1b[0m\n", line) : line + "\n";
  }
}

void TextPage::add_paragraph(std::string_view words) { add_wrapped(words, margin); }

void TextPage::add_item(std::string_view words) { add_wrapped(words, margin, "- "); }

void TextPage::add_blocks(std::span<cmark_node* const> blocks) {
  for (cmark_node* const block : blocks) {
    const bool is_below_heading =
        cmark_node_previous(block) != nullptr &&
        cmark_node_get_type(cmark_node_previous(block)) == CMARK_NODE_HEADING;
    if (!is_below_heading) add_empty_line();
    add_block(block, margin);
  }
}

void TextPage::add_wrapped(std::string_view words, int indent, std::string_view first) {
  const int left = indent + display_width(first);
  std::string before = fmt::format("{:{}}{}", "", indent, first);
  for (const std::string& line : wrap(one_line(words), width_ - left)) {
    text_ += fmt::format("{}{}\n", before, line);
    before = fmt::format("{:{}}", "", left);
  }
}

void TextPage::add_block(cmark_node* block, int indent) {
  switch (cmark_node_get_type(block)) {
    case CMARK_NODE_HEADING:
      add_heading(words_of(block));
      break;
    case CMARK_NODE_LIST:
      add_list(block, indent);
      break;
    case CMARK_NODE_CODE_BLOCK:
      add_code(block, indent);
      break;
    case CMARK_NODE_BLOCK_QUOTE:
      for (cmark_node* const each : children_of(block)) add_block(each, indent + 2);
      break;
    case CMARK_NODE_HTML_BLOCK:  // comments
      break;
    default:
      const std::string words = words_of(block);
      if (table_in(words).empty()) {
        add_wrapped(words, indent);
      } else {
        add_table(words, indent);
      }
      break;
  }
}

void TextPage::add_list(cmark_node* list, int indent) {
  const bool is_numbered = cmark_node_get_list_type(list) == CMARK_ORDERED_LIST;
  int number = cmark_node_get_list_start(list);
  for (cmark_node* const item : children_of(list)) {
    const std::string mark = is_numbered ? fmt::format("{}. ", number++) : "- ";
    const int inside = indent + static_cast<int>(mark.size());
    bool is_first = true;
    for (cmark_node* const block : children_of(item)) {
      const bool is_text = cmark_node_get_type(block) == CMARK_NODE_PARAGRAPH;
      if (is_first && is_text) {
        add_wrapped(words_of(block), indent, mark);
      } else {
        if (cmark_node_get_type(block) != CMARK_NODE_LIST) add_empty_line();
        add_block(block, inside);
      }
      is_first = false;
    }
    if (cmark_node_get_list_tight(list) == 0 && cmark_node_next(item) != nullptr) add_empty_line();
  }
}

void TextPage::add_code(cmark_node* block, int indent) {
  for (const std::string& line : split(cmark_node_get_literal(block), '\n')) {
    if (!line.empty()) text_ += fmt::format("{:{}}{}", "", indent + 2, printable(line));
    text_ += '\n';
  }
  text_.pop_back();  // behind the last line stands an end of line
}

void TextPage::add_table(std::string_view words, int indent) {
  const Rows rows = table_in(words);
  const std::vector<int> widths = widths_of(rows, width_ - indent);
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(wrap(row[i], widths[i]));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::string shown = fmt::format("{:{}}", "", indent);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = line < cells[i].size() ? cells[i][line] : std::string();
        shown += pad_right(cell, widths[i]) + (i + 1 < cells.size() ? "  " : "");
      }
      text_ += shown.substr(0, shown.find_last_not_of(' ') + 1) + "\n";
    }
  }
}

}  // namespace report

std::string page_text(std::string_view page, const PageStyle& style) {
  const report::Node document = report::parse_page(page);
  report::TextPage text(style);
  text.add_blocks(report::children_of(document.get()));
  return text.text();
}

std::string short_page_text(std::string_view page, const PageStyle& style) {
  constexpr std::array<std::string_view, 2> sections{"What is found", "What can fool it"};
  const report::Node document = report::parse_page(page);
  const std::vector<cmark_node*> blocks = report::children_of(document.get());
  report::TextPage text(style);
  bool has_question = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string words = report::words_of(blocks[i]);
    if (cmark_node_get_type(blocks[i]) != CMARK_NODE_HEADING) {
      if (!has_question) text.add_paragraph(words);
      has_question = true;
      continue;
    }
    const bool is_shown = std::find(sections.begin(), sections.end(), words) != sections.end();
    if (i != 0 && !is_shown) continue;
    text.add_heading(words);
    if (i == 0) continue;
    std::size_t end = i + 1;
    while (end < blocks.size() && cmark_node_get_type(blocks[end]) != CMARK_NODE_HEADING) ++end;
    report::add_short_section(text, std::span(blocks).subspan(i + 1, end - i - 1));
  }
  return text.text();
}

}  // namespace clprobe
