// SPDX-License-Identifier: Apache-2.0
// Pages of `clprobe explain`, parsed by cmark.
#include "present/api/explain.hpp"

#include <cmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/api/text.hpp"

namespace clprobe {
namespace report {
namespace {

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using Node = std::unique_ptr<cmark_node, FreeNode>;

struct FreeIterator {
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};

Node parse_page(std::string_view page) {
  return Node(cmark_parse_document(page.data(), page.size(), CMARK_OPT_VALIDATE_UTF8));
}

std::vector<cmark_node*> nodes_in(cmark_node* root) {
  const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(root));
  std::vector<cmark_node*> nodes;
  for (cmark_event_type event = cmark_iter_next(iterator.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(iterator.get())) {
    if (event == CMARK_EVENT_ENTER) nodes.push_back(cmark_iter_get_node(iterator.get()));
  }
  return nodes;
}

std::vector<cmark_node*> children_of(cmark_node* node) {
  std::vector<cmark_node*> children;
  for (cmark_node* each = cmark_node_first_child(node); each != nullptr;
       each = cmark_node_next(each)) {
    children.push_back(each);
  }
  return children;
}

/// Returns the text of a node. Markup is removed, except the backquotes of code; line ends are
/// kept.
std::string words_of(cmark_node* node) {
  std::string words;
  for (cmark_node* const part : nodes_in(node)) {
    const cmark_node_type type = cmark_node_get_type(part);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) words += '\n';
    const char* const text = cmark_node_get_literal(part);
    if (text == nullptr) continue;
    const std::string_view quote = type == CMARK_NODE_CODE ? "`" : "";
    words.append(quote).append(text).append(quote);
  }
  return words;
}

constexpr int max_width = 100;
constexpr int min_width = 20;  // minimum width of a page; words do not fit into a narrower one
constexpr int margin = 2;      // indents text, so that headings stand out without colour

/// Returns the words on one line; line ends become spaces.
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

/// Returns the cells of a table "| a | b |" without the line of dashes; empty for a paragraph that
/// is not a table. `words`: text of a paragraph, since CommonMark parses a table as a paragraph.
Rows table_in(std::string_view words) {
  const std::vector<std::string> lines = split(words, '\n');
  const auto is_row = [](const std::string& line) {
    return line.size() > 1 && line.starts_with('|') && line.ends_with('|');
  };
  if (lines.size() < 2 || !std::ranges::all_of(lines, is_row)) return {};
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

/// Returns the widths of the columns. A column is as wide as its longest cell, but the widest
/// columns shrink until the table fits into `width`.
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
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= 1) break;
    --*widest;
  }
  return widths;
}

class TextPage {
 public:
  explicit TextPage(const PageStyle& style)
      : width_(std::clamp(style.width, min_width, max_width)), has_colour_(style.has_colour) {}

  void add_heading(std::string_view words) {
    add_empty_line();
    for (const std::string& line : wrap(one_line(words), width_)) {
      text_ += has_colour_ ? fmt::format("\x1b[1m{}\x1b[0m\n", line) : line + "\n";
    }
  }

  void add_paragraph(std::string_view words) { add_wrapped(words, margin); }
  void add_item(std::string_view words) { add_wrapped(words, margin, "- "); }

  /// Adds blocks, separated by empty lines except after headings.
  void add_blocks(std::span<cmark_node* const> blocks) {
    for (cmark_node* const block : blocks) {
      const bool is_below_heading =
          cmark_node_previous(block) != nullptr &&
          cmark_node_get_type(cmark_node_previous(block)) == CMARK_NODE_HEADING;
      if (!is_below_heading) add_empty_line();
      add_block(block, margin);
    }
  }

  [[nodiscard]] std::string text() const { return text_; }

 private:
  /// Adds an empty line, unless the page is empty or ends with an empty line.
  void add_empty_line() {
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
  }

  /// Adds words, wrapped. The first line begins with `first`; further lines are aligned with the
  /// text after `first`.
  void add_wrapped(std::string_view words, int indent, std::string_view first = "") {
    const int left = indent + display_width(first);
    std::string before = fmt::format("{:{}}{}", "", indent, first);
    for (const std::string& line : wrap(one_line(words), width_ - left)) {
      text_ += fmt::format("{}{}\n", before, line);
      before = fmt::format("{:{}}", "", left);
    }
  }

  void add_block(cmark_node* block, int indent) {
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
      case CMARK_NODE_HTML_BLOCK:  // HTML comments
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

  void add_list(cmark_node* list, int indent) {
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
      if (cmark_node_get_list_tight(list) == 0 && cmark_node_next(item) != nullptr) {
        add_empty_line();
      }
    }
  }

  void add_code(cmark_node* block, int indent) {
    for (const std::string& line : split(cmark_node_get_literal(block), '\n')) {
      if (!line.empty()) text_ += fmt::format("{:{}}{}", "", indent + 2, printable(line));
      text_ += '\n';
    }
    text_.pop_back();  // removes the line end after the code block
  }

  void add_table(std::string_view words, int indent) {
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

  int width_;
  bool has_colour_;
  std::string text_{};
};

/// Returns the first sentence. It ends at a full stop that is followed by a space and then a
/// capital, a backquote, a bracket or a dash.
std::string first_sentence(std::string_view words) {
  for (std::size_t at = words.find(". "); at != std::string_view::npos;
       at = words.find(". ", at + 1)) {
    const char next = words[at + 2];
    const bool begins = (next >= 'A' && next <= 'Z') || next == '`' || next == '(' || next == '-';
    if (begins) return std::string(words.substr(0, at + 1));
  }
  return std::string(words);
}

/// Returns the bold words at the beginning of a list item, without a full stop; empty if the item
/// does not begin with bold words.
std::string bold_beginning(cmark_node* item) {
  cmark_node* const paragraph = cmark_node_first_child(item);
  cmark_node* const bold = paragraph == nullptr ? nullptr : cmark_node_first_child(paragraph);
  if (bold == nullptr || cmark_node_get_type(bold) != CMARK_NODE_STRONG) return {};
  std::string words = one_line(words_of(bold));
  if (words.ends_with('.')) words.pop_back();
  return words;
}

/// Adds the short form of a list to the page: the items' bold beginnings on a line, and the first
/// sentence of each other item.
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
  const bool has_list = std::ranges::any_of(blocks, is_list);
  for (cmark_node* const block : blocks) {
    if (is_list(block)) add_short_list(page, block);
    if (has_list || cmark_node_get_type(block) != CMARK_NODE_PARAGRAPH) continue;
    page.add_paragraph(first_sentence(one_line(words_of(block))));
  }
}

struct FreeText {
  void operator()(char* text) const { cmark_get_default_mem_allocator()->free(text); }
};

void replace(cmark_node* node, Node other) {
  if (cmark_node_replace(node, other.get()) == 0) return;
  static_cast<void>(other.release());  // owned by the tree
  cmark_node_free(node);
}

/// Replaces a node of HTML by a node of text, since the renderer omits HTML.
void show_html(cmark_node* node) {
  const bool is_block = cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK;
  Node shown(cmark_node_new(is_block ? CMARK_NODE_CODE_BLOCK : CMARK_NODE_TEXT));
  cmark_node_set_literal(shown.get(), cmark_node_get_literal(node));
  replace(node, std::move(shown));
}

void lower(cmark_node* heading) {
  constexpr int steps = 2;
  constexpr int lowest = 6;
  const int level = cmark_node_get_heading_level(heading) + steps;
  cmark_node_set_heading_level(heading, level < lowest ? level : lowest);
}

constexpr int term_level = 3;

bool is_term(cmark_node* block) {
  return cmark_node_get_type(block) == CMARK_NODE_HEADING &&
         cmark_node_get_heading_level(block) == term_level;
}

std::vector<std::string> split_at_commas(std::string_view words) {
  std::vector<std::string> names = split(words, ',');
  for (std::string& name : names) name = trimmed(name);
  return names;
}

/// Returns the words of a heading, followed by the names in a paragraph "Also: a, b." below the
/// heading.
std::vector<std::string> names_of(cmark_node* heading) {
  constexpr std::string_view mark = "Also: ";
  std::string words = words_of(heading);
  cmark_node* const next = cmark_node_next(heading);
  const std::string also = next == nullptr ? "" : printable(words_of(next));
  if (also.starts_with(mark)) {
    words += "," + also.substr(mark.size(), also.size() - mark.size() - 1);
  }
  return split_at_commas(words);
}

/// Returns the form of a word that is_same_word() compares: "not seen" for "Not-seen:", "unit" for
/// "a unit" and "units".
std::string normalised(std::string_view word) {
  if (word.starts_with("a ")) word.remove_prefix(2);
  std::string form;
  for (const char letter : word) {
    if (std::string_view("`,:?.").find(letter) != std::string_view::npos) continue;
    const bool is_space = letter == '-' || letter == '_' || letter == ' ';
    if (is_space && (form.empty() || form.back() == ' ')) continue;
    form += is_space ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (form.ends_with(' ')) form.pop_back();
  constexpr std::string_view bound = " at least";
  if (form.ends_with(bound)) form.resize(form.size() - bound.size());
  if (form.size() > 2 && form.ends_with('s') && !form.ends_with("ss")) form.pop_back();
  return form;
}

bool has_word(const std::vector<std::string>& names, std::string_view word) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return is_same_word(name, word); });
}

}  // namespace

std::string html_of_explanation(std::string_view page) {
  const Node document = parse_page(page);
  if (cmark_node* const title = cmark_node_first_child(document.get());
      title != nullptr && cmark_node_get_type(title) == CMARK_NODE_HEADING) {
    cmark_node_free(title);
  }
  for (cmark_node* const node : nodes_in(document.get())) {
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_HEADING:
        lower(node);
        break;
      case CMARK_NODE_HTML_BLOCK:
      case CMARK_NODE_HTML_INLINE:
        show_html(node);
        break;
      default:
        break;
    }
  }
  const std::unique_ptr<char, FreeText> html(cmark_render_html(document.get(), CMARK_OPT_DEFAULT));
  return html.get();
}

std::string_view section_of(std::string_view page, std::string_view heading) {
  const std::string line = fmt::format("\n## {}\n", heading);
  const std::size_t start = page.find(line);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = page.substr(start + 1);
  return rest.substr(0, rest.find("\n## "));
}

std::string question_of(std::string_view page) {
  const Node document = parse_page(page);
  cmark_node* node = cmark_node_first_child(document.get());
  while (node != nullptr && cmark_node_get_type(node) != CMARK_NODE_PARAGRAPH) {
    node = cmark_node_next(node);
  }
  if (node == nullptr) return {};
  std::string question = one_line(words_of(node));
  std::erase(question, '`');
  return question;
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
    const bool is_shown = contains(sections, words);
    if (i != 0 && !is_shown) continue;
    text.add_heading(words);
    if (i == 0) continue;
    std::size_t end = i + 1;
    while (end < blocks.size() && cmark_node_get_type(blocks[end]) != CMARK_NODE_HEADING) ++end;
    report::add_short_section(text, std::span(blocks).subspan(i + 1, end - i - 1));
  }
  return text.text();
}

bool is_same_word(std::string_view a, std::string_view b) {
  return report::normalised(a) == report::normalised(b);
}

std::vector<std::vector<std::string>> terms_in(std::string_view glossary) {
  const report::Node document = report::parse_page(glossary);
  std::vector<std::vector<std::string>> terms;
  for (cmark_node* const block : report::children_of(document.get())) {
    if (report::is_term(block)) terms.push_back(report::names_of(block));
  }
  return terms;
}

std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style) {
  const report::Node document = report::parse_page(glossary);
  const std::vector<cmark_node*> blocks = report::children_of(document.get());
  const auto heading = std::ranges::find_if(blocks, [&](cmark_node* block) {
    return report::is_term(block) && report::has_word(report::names_of(block), term);
  });
  if (heading == blocks.end()) return std::nullopt;
  const auto end = std::find_if(heading + 1, blocks.end(), [](cmark_node* block) {
    return cmark_node_get_type(block) == CMARK_NODE_HEADING;
  });
  report::TextPage text(style);
  text.add_blocks(std::vector<cmark_node*>(heading, end));
  return text.text();
}

std::vector<std::string> finding_texts(std::string_view page, std::string_view word) {
  const std::string code = "`" + report::normalised(word) + "`";
  const report::Node document = report::parse_page(page);
  std::vector<std::string> texts;
  bool is_inside = false;
  for (cmark_node* const block : report::children_of(document.get())) {
    const cmark_node_type type = cmark_node_get_type(block);
    if (type == CMARK_NODE_HEADING) is_inside = report::words_of(block) == "What is found";
    if (!is_inside || type != CMARK_NODE_LIST) continue;
    for (cmark_node* const item : report::children_of(block)) {
      const std::string words = printable(report::words_of(item));
      const std::string head = words.substr(0, words.find(':'));
      // A word also matches the names after "With `-v`", which are findings that only -v shows.
      const bool is_named = report::has_word(report::split_at_commas(head), word) ||
                            head.find(code) != std::string::npos ||
                            words.find(code, words.find("With `-v`")) != std::string::npos;
      if (is_named) texts.push_back(words);
    }
  }
  return texts;
}

std::vector<std::string> method_texts(std::string_view page, std::string_view word) {
  const std::string family(word.substr(0, word.find_last_not_of("0123456789") + 1));
  const report::Node document = report::parse_page(page);
  std::vector<std::string> texts;
  const auto add = [&](cmark_node* block) {
    for (cmark_node* const node : report::nodes_in(block)) {
      const char* const literal = cmark_node_get_literal(node);
      if (literal == nullptr) continue;
      const std::string_view text(literal);
      if (cmark_node_get_type(node) != CMARK_NODE_CODE) {
        if (text.find_first_of(":.") != std::string_view::npos) return;
      } else if (is_same_word(text, word) || is_same_word(text, family + "N")) {
        texts.push_back(printable(report::words_of(block)));
        return;
      }
    }
  };
  for (cmark_node* const block : report::children_of(document.get())) {
    if (cmark_node_get_type(block) == CMARK_NODE_PARAGRAPH) add(block);
    if (cmark_node_get_type(block) != CMARK_NODE_LIST) continue;
    for (cmark_node* const item : report::children_of(block)) add(item);
  }
  return texts;
}

}  // namespace clprobe
