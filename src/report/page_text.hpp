// SPDX-License-Identifier: Apache-2.0
// Blocks of CommonMark as lines of a terminal.
#pragma once

#include <cmark.h>

#include <span>
#include <string>
#include <string_view>

#include "clprobe/explain.hpp"

namespace clprobe::report {

class TextPage {
 public:
  explicit TextPage(const PageStyle& style);

  void add_heading(std::string_view words);
  /// Blocks one below the other, with an empty line between two, but not between short items.
  void add_blocks(std::span<cmark_node* const> blocks);
  void add_paragraph(std::string_view words);
  void add_item(std::string_view words);
  /// At most one, and none at the beginning.
  void add_empty_line();
  [[nodiscard]] std::string text() const { return text_; }

 private:
  void add_block(cmark_node* block, int indent);
  void add_list(cmark_node* list, int indent);
  void add_code(cmark_node* block, int indent);
  void add_table(std::string_view words, int indent);
  /// The first line behind `first`, the others as far to the right.
  void add_wrapped(std::string_view words, int indent, std::string_view first = "");

  int width_;
  bool has_colour_;
  std::string text_{};
};

}  // namespace clprobe::report
