// SPDX-License-Identifier: Apache-2.0
// Pages of `clprobe explain`, which are CommonMark, as text for a terminal or as parts of an HTML
// page. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

struct PageStyle {
  int width{80};           ///< columns; at most 100 are used, since longer lines are hard to read
  bool has_colour{false};  ///< true: headings are bold
};

/// Returns a whole page: headings at the margin, other text indented, tables in columns.
std::string page_text(std::string_view page, const PageStyle& style);

/// Returns the heading, the first paragraph, and of the sections "What is found" and "What can fool
/// it" the first sentence of each item. Items that begin with bold words are reduced to these
/// words.
std::string short_page_text(std::string_view page, const PageStyle& style);

/// True if two words differ only in case, punctuation, "a", a plural's "s" and "at least".
bool is_same_word(std::string_view a, std::string_view b);

/// Returns the terms of a glossary in its order: each heading of the third level, with the names of
/// a paragraph "Also: a, b." below it.
std::vector<std::vector<std::string>> terms_in(std::string_view glossary);

/// Returns the glossary's entry of a term, by any of its names; nothing for an unknown term.
std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style);

/// Returns items of the section "What is found" that explain `word`: "capacity: the working set
/// ...".
std::vector<std::string> finding_texts(std::string_view page, std::string_view word);

}  // namespace clprobe

namespace clprobe::report {

/// Returns a page of `clprobe explain` as HTML, without its first heading, since the surrounding
/// page has one; other headings are two levels lower. HTML in the page is shown as text, and links
/// cannot run scripts.
std::string html_of_explanation(std::string_view page);

/// Returns the section of a page with this heading, up to the next heading of its level; empty if
/// there is none.
std::string_view section_of(std::string_view page, std::string_view heading);

/// Returns the text of the page's first paragraph: the question.
std::string question_of(std::string_view page);

}  // namespace clprobe::report
