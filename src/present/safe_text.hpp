// SPDX-License-Identifier: Apache-2.0
// Escaping of text from drivers and files in formats with special characters.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace clprobe::report {

/// Returns a cell of CSV by RFC 4180; text that a spreadsheet would run as a formula begins with an
/// apostrophe.
std::string csv_cell(std::string_view raw);

/// Returns a field of CSV: text as in csv_cell(), a number with the shortest digits that restore
/// it, whatever the locale, and nothing for an empty optional.
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

/// Returns a row of CSV with its line end.
template <typename... Fields>
std::string csv_line(const Fields&... fields) {
  std::string line;
  ((line += csv_field(fields), line += ','), ...);
  line.back() = '\n';
  return line;
}

/// Returns Markdown in which the text opens no column, link, emphasis or tag.
std::string escape_markdown(std::string_view raw);

/// Returns a row "| a | b |" with its line end.
std::string markdown_row(const std::vector<std::string>& cells);
/// Returns the line below the titles: left-aligned for the first columns, right-aligned for values.
std::string markdown_rule(std::size_t columns, std::size_t words_columns);

/// Returns `printable` text with references for special characters, for HTML and XML elements and
/// quoted attributes.
std::string html_text(std::string_view text);

}  // namespace clprobe::report
