// SPDX-License-Identifier: Apache-2.0
// Text of others in a page: shown, never run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::report {

/// Text as the contents of an element, or of an attribute in quotes: `printable`, with the
/// characters that mean something to HTML and XML written as references.
std::string html_text(std::string_view text);

/// JSON as the contents of a <script> of data: nothing in it can end the element or begin another.
std::string script_json(std::string_view json);

/// A page of `clprobe explain` as HTML: headings, lists, terms, paragraphs and code. Its first
/// heading is left out, since the page around it has one.
std::string html_of_explanation(std::string_view page);

/// The first paragraph of such a page: the question.
std::string question_of(std::string_view page);

/// `{{name}}` replaced by the value of that name; what a value contains is not looked at again.
/// Throws std::invalid_argument for a name that has no value.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace clprobe::report
