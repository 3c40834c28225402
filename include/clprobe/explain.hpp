// SPDX-License-Identifier: Apache-2.0
// The pages of `clprobe explain`, which are CommonMark, as text for a terminal. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

struct PageStyle {
  int width{80};           ///< columns; wrapped to at most 100, since longer lines are hard to read
  bool has_colour{false};  ///< headings are bold
};

/// A whole page: headings at the margin, all else indented, tables in columns.
std::string page_text(std::string_view page, const PageStyle& style);

/// The page's heading and first paragraph, and of its sections "What is found" and "What can fool
/// it" the first sentence of each item; of items that begin with a bold word these words alone.
std::string short_page_text(std::string_view page, const PageStyle& style);

/// The words that a glossary explains, in its order: its headings of the third level, of which
/// "in flight / requests in flight" has two that mean the same.
std::vector<std::vector<std::string>> terms_in(std::string_view glossary);

/// What the glossary says of a term; nothing where it has no such term. Upper case, hyphens,
/// underscores and a plural's "s" do not matter.
std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style);

}  // namespace clprobe
