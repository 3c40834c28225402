// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include "clprobe/explain.hpp"
#include "report/common_mark.hpp"
#include "report/page_text.hpp"

namespace clprobe {
namespace {

constexpr int term_level = 3;

bool is_term(cmark_node* block) {
  return cmark_node_get_type(block) == CMARK_NODE_HEADING &&
         cmark_node_get_heading_level(block) == term_level;
}

std::vector<std::string> names_of(cmark_node* heading) {
  constexpr std::string_view separator = " / ";
  const std::string words = report::words_of(heading);
  std::vector<std::string> names;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + separator.size(), rest.size()));
  }
  return names;
}

/// The form in which terms are compared.
std::string normalised(std::string_view term) {
  std::string form;
  for (const char letter : term) {
    const bool is_space = letter == '-' || letter == '_' || letter == ' ';
    if (is_space && (form.empty() || form.back() == ' ')) continue;
    form += is_space ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (form.ends_with(' ')) form.pop_back();
  if (form.size() > 3 && form.ends_with('s') && !form.ends_with("ss")) form.pop_back();
  return form;
}

}  // namespace

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
    if (!is_term(block)) return false;
    const std::vector<std::string> names = names_of(block);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return normalised(name) == normalised(term);
    });
  });
  if (heading == blocks.end()) return std::nullopt;
  const auto end = std::find_if(heading + 1, blocks.end(), [](cmark_node* block) {
    return cmark_node_get_type(block) == CMARK_NODE_HEADING;
  });
  report::TextPage text(style);
  text.add_blocks(std::vector<cmark_node*>(heading, end));
  return text.text();
}

}  // namespace clprobe
