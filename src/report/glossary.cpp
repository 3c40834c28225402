// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include "clprobe/explain.hpp"
#include "report/common_mark.hpp"
#include "report/page_text.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace {

constexpr int term_level = 3;

bool is_term(cmark_node* block) {
  return cmark_node_get_type(block) == CMARK_NODE_HEADING &&
         cmark_node_get_heading_level(block) == term_level;
}

std::vector<std::string> split_at_commas(std::string_view words) {
  std::vector<std::string> names;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    names.emplace_back(trimmed(words.substr(0, end)));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return names;
}

/// The heading and the names that a paragraph "Also: a, b." below it lists.
std::vector<std::string> names_of(cmark_node* heading) {
  constexpr std::string_view mark = "Also: ";
  std::string words = report::words_of(heading);
  cmark_node* const next = cmark_node_next(heading);
  const std::string also = next == nullptr ? "" : printable(report::words_of(next));
  if (also.starts_with(mark)) {
    words += "," + also.substr(mark.size(), also.size() - mark.size() - 1);
  }
  return split_at_commas(words);
}

/// The form in which words are compared: "not seen" of "Not-seen:", "unit" of "a unit" and "units".
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
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_same_word(name, word); });
}

}  // namespace

bool is_same_word(std::string_view a, std::string_view b) { return normalised(a) == normalised(b); }

std::vector<std::vector<std::string>> terms_in(std::string_view glossary) {
  const report::Node document = report::parse_page(glossary);
  std::vector<std::vector<std::string>> terms;
  for (cmark_node* const block : report::children_of(document.get())) {
    if (is_term(block)) terms.push_back(names_of(block));
  }
  return terms;
}

std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style) {
  const report::Node document = report::parse_page(glossary);
  const std::vector<cmark_node*> blocks = report::children_of(document.get());
  const auto heading = std::find_if(blocks.begin(), blocks.end(), [&](cmark_node* block) {
    return is_term(block) && has_word(names_of(block), term);
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
  const std::string code = "`" + normalised(word) + "`";
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
      // "With `-v` also `cycles per lane`, ..." names what is seldom shown.
      const bool is_named = has_word(split_at_commas(head), word) ||
                            head.find(code) != std::string::npos ||
                            words.find(code, words.find("With `-v`")) != std::string::npos;
      if (is_named) texts.push_back(words);
    }
  }
  return texts;
}

}  // namespace clprobe
