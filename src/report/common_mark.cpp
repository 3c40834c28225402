// SPDX-License-Identifier: Apache-2.0
#include "report/common_mark.hpp"

namespace clprobe::report {
namespace {

struct FreeIterator {
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};

}  // namespace

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

}  // namespace clprobe::report
