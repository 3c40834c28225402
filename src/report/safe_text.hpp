// SPDX-License-Identifier: Apache-2.0
// Text from drivers and files inside formats that give some characters a meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe::report {

/// A cell of CSV by RFC 4180; what a spreadsheet would run as a formula begins with an apostrophe.
std::string csv_cell(std::string_view raw);

/// Markdown in which a driver's name opens no column, link, emphasis or tag.
std::string escape_markdown(std::string_view raw);

/// "| a | b |" and a line end.
std::string markdown_row(const std::vector<std::string>& cells);
/// The line below the titles: the first columns are words, the others values.
std::string markdown_rule(std::size_t columns, std::size_t words_columns);

/// Text as the contents of an element, or of an attribute in quotes: `printable`, with the
/// characters that mean something to HTML and XML written as references.
std::string html_text(std::string_view text);

}  // namespace clprobe::report
