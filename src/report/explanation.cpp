// SPDX-License-Identifier: Apache-2.0
#include "report/explanation.hpp"

#include <cmark.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "report/common_mark.hpp"

namespace clprobe::report {
namespace {

struct FreeText {
  void operator()(char* text) const { cmark_get_default_mem_allocator()->free(text); }
};

void replace(cmark_node* node, Node other) {
  if (cmark_node_replace(node, other.get()) == 0) return;
  static_cast<void>(other.release());  // the tree's from here on
  cmark_node_free(node);
}

/// HTML as the text that it is: the renderer would leave it out.
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
  std::string question;
  for (cmark_node* const part : nodes_in(node)) {
    const cmark_node_type type = cmark_node_get_type(part);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) question += ' ';
    if (const char* const text = cmark_node_get_literal(part)) question += text;
  }
  return question;
}

}  // namespace clprobe::report
