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

/// True if two words are the same but for case, punctuation, "a", a plural's "s" and "at least".
bool is_same_word(std::string_view a, std::string_view b);

/// The words that a glossary explains, in its order: each heading of the third level, and the other
/// names that a paragraph "Also: a, b." below it lists.
std::vector<std::vector<std::string>> terms_in(std::string_view glossary);

/// The glossary's entry of a term, by any of its names; nothing where it has no such term.
std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style);

/// The items of a page's section "What is found" of that name: "capacity: the working set ...".
std::vector<std::string> finding_texts(std::string_view page, std::string_view word);

}  // namespace clprobe

namespace clprobe::report {

/// A page of `clprobe explain` as HTML. Its first heading is left out, since the page around it has
/// one, and the others are two steps lower. HTML in it is shown as text, and a link leads to no
/// script.
std::string html_of_explanation(std::string_view page);

/// The section of a page with this heading, up to the next one of its rank; empty where the page
/// has none.
std::string_view section_of(std::string_view page, std::string_view heading);

/// The text of the first paragraph of such a page: the question.
std::string question_of(std::string_view page);

}  // namespace clprobe::report
