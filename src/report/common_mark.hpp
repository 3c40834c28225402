// SPDX-License-Identifier: Apache-2.0
// cmark's trees, owned.
#pragma once

#include <cmark.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::report {

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using Node = std::unique_ptr<cmark_node, FreeNode>;

Node parse_page(std::string_view page);

/// The node and every one below it, in the order of the text.
std::vector<cmark_node*> nodes_in(cmark_node* root);

/// The nodes right below it.
std::vector<cmark_node*> children_of(cmark_node* node);

/// Its words without markup, but for the backquotes of code; lines end where the source's do.
std::string words_of(cmark_node* node);

}  // namespace clprobe::report
