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

/// Returns a CSV cell as in RFC 4180. Text that a spreadsheet would run as a formula gets an
/// apostrophe in front.
std::string csv_cell(std::string_view raw);

/// Returns a CSV field: text as by csv_cell(), and nothing for an empty optional. A number has the
/// fewest digits that restore its exact value, independent of the locale.
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

/// Returns the end of an interval; nothing if the end is infinite, which CSV and JSON cannot
/// express.
inline std::optional<double> finite(double end) {
  return std::isfinite(end) ? std::optional(end) : std::nullopt;
}

/// Returns a CSV row with a line end.
template <typename... Fields>
std::string csv_line(const Fields&... fields) {
  std::string line;
  ((line += csv_field(fields), line += ','), ...);
  line.back() = '\n';
  return line;
}

/// Returns text escaped for Markdown, so that it begins no column, link, emphasis or tag.
std::string escape_markdown(std::string_view raw);

/// Returns a row of a Markdown table, "| a | b |", with a line end.
std::string markdown_row(const std::vector<std::string>& cells);
/// Returns the line below the titles of a Markdown table. It aligns the first `words_columns`
/// columns left and the other columns right.
std::string markdown_rule(std::size_t columns, std::size_t words_columns);

/// Returns the result of printable() with special characters as references, for the elements and
/// quoted attributes of HTML and XML.
std::string html_text(std::string_view text);

}  // namespace clprobe::report
