// SPDX-License-Identifier: Apache-2.0
// Text from drivers and files inside formats that give some characters a meaning.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace clprobe::report {

/// A cell of CSV by RFC 4180; what a spreadsheet would run as a formula begins with an apostrophe.
std::string csv_cell(std::string_view raw);

/// A field of CSV: text as above, a number with the shortest digits that read back as the same one,
/// whatever the locale; an optional without a value is empty.
template <typename Field>
std::string csv_field(const Field& field) {
  if constexpr (std::is_convertible_v<Field, std::string_view>) {
    return csv_cell(field);
  } else if constexpr (std::is_arithmetic_v<Field>) {
    return fmt::format("{}", field);
  } else {
    return field ? csv_field(*field) : std::string();
  }
}

/// Returns a finite end of an interval; nothing for infinity, which CSV and JSON cannot express.
inline std::optional<double> finite(double end) {
  return std::isfinite(end) ? std::optional(end) : std::nullopt;
}

/// A row of CSV with its line end.
template <typename... Fields>
std::string csv_line(const Fields&... fields) {
  std::string line;
  ((line += csv_field(fields), line += ','), ...);
  line.back() = '\n';
  return line;
}

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
