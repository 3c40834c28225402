// SPDX-License-Identifier: Apache-2.0
#include "present/safe_text.hpp"

#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

// Returns the text, with an apostrophe in front if a spreadsheet would run it as a formula: texts
// come from drivers and from files that may be hostile.
std::string without_formula(std::string text) {
  constexpr std::string_view starts_formula = "=+-@";
  const std::size_t first = text.find_first_not_of(' ');
  if (first != std::string::npos && starts_formula.find(text[first]) != std::string_view::npos) {
    text.insert(0, "'");
  }
  return text;
}

}  // namespace

std::string csv_cell(std::string_view raw) {
  std::string text = without_formula(printable(raw));
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string escape_markdown(std::string_view raw) {
  constexpr std::string_view special = "\\`*_[]<>|~#&";
  std::string shown;
  for (const char c : printable(raw)) {
    if (special.find(c) != std::string_view::npos) shown += '\\';
    shown += c;
  }
  return shown;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += ' ' + cell + " |";
  return row + '\n';
}

std::string markdown_rule(std::size_t columns, std::size_t words_columns) {
  std::string rule = "|";
  for (std::size_t i = 0; i < columns; ++i) rule += i < words_columns ? " :--- |" : " ---: |";
  return rule + '\n';
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace clprobe::report
