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
  int width{80};  ///< width in columns; at most 100 are used, since longer lines are hard to read
  bool has_colour{false};  ///< true: headings are bold
};

/// Returns a whole page as text for a terminal. Headings begin at the margin, other text is
/// indented, and tables have aligned columns.
std::string page_text(std::string_view page, const PageStyle& style);

/// Returns the short form of a page: the heading, the first paragraph, and the items of the
/// sections "What is found" and "What can fool it". Each item is reduced to its first sentence, or
/// to the bold words with which it begins.
std::string short_page_text(std::string_view page, const PageStyle& style);

/// True if two words differ at most in case, punctuation, the article "a", the plural "s" and "at
/// least".
bool is_same_word(std::string_view a, std::string_view b);

/// Returns the terms of a glossary, in order, with their synonyms: each heading of the third level,
/// followed by the names in a paragraph "Also: a, b." below the heading.
std::vector<std::vector<std::string>> terms_in(std::string_view glossary);

/// Returns the glossary's definition of a term or one of its synonyms; nothing for an unknown term.
std::optional<std::string> term_text(std::string_view glossary, std::string_view term,
                                     const PageStyle& style);

/// Returns the items of the page's section "What is found" that explain `word`, such as "capacity:
/// the working set ...".
std::vector<std::string> finding_texts(std::string_view page, std::string_view word);

/// Returns the items and paragraphs of the page whose first clause names `word`, or its family
/// ("cache-xN" for "cache-x4"), as code.
std::vector<std::string> method_texts(std::string_view page, std::string_view word);

}  // namespace clprobe

namespace clprobe::report {

/// Returns a page of `clprobe explain` as HTML for a section of a report. The first heading is
/// omitted, since the section has a heading, and other headings are two levels lower. HTML tags in
/// the page are shown as text, and links cannot run scripts.
std::string html_of_explanation(std::string_view page);

/// Returns the section of a page with this heading, up to the next heading of the same level; empty
/// if the page has no such section.
std::string_view section_of(std::string_view page, std::string_view heading);

/// Returns the page's first paragraph, which is the question that the probe answers.
std::string question_of(std::string_view page);

}  // namespace clprobe::report
