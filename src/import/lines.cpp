// SPDX-License-Identifier: Apache-2.0
#include "import/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "clprobe/run.hpp"
#include "text/api/text.hpp"

namespace clprobe::import {

std::optional<double> positive_number(std::string_view text) {
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || rest != last || !std::isfinite(value) || !(value > 0.0)) {
    return std::nullopt;
  }
  return value;
}

std::string excerpt(std::string_view text) {
  constexpr int max_columns = 43;
  constexpr std::size_t max_bytes = 176;  // more than these columns; a line may be the whole file
  return cut_to_width(printable_ascii(text.substr(0, max_bytes)), max_columns, "...");
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*') return numbers;
    if (pattern[i] == ' ') {
      const bool parts_number = i > 0 && pattern[i - 1] == '#' && i + 1 < pattern.size() &&
                                (pattern[i + 1] == '#' || pattern[i + 1] == '*');
      const std::size_t blanks = std::min(line.find_first_not_of(", \t"), line.size());
      if (blanks == 0 && parts_number) return std::nullopt;
      line.remove_prefix(blanks);
    } else if (pattern[i] == '#') {
      double number = 0.0;
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
      if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
      numbers.push_back(number);
    } else {
      if (!line.starts_with(pattern[i])) return std::nullopt;
      line.remove_prefix(1);
    }
  }
  return line.empty() ? std::optional(std::move(numbers)) : std::nullopt;
}

bool has_line(const Document& document, bool (*is_it)(std::string_view)) {
  for (Lines lines(document.text); lines.next();) {
    if (is_it(lines.line())) return true;
  }
  return false;
}

std::string plain_text(std::string_view text) {
  struct Sign {
    std::string_view utf_8;
    std::string_view ascii;
  };
  constexpr std::array signs{Sign{"\xc2\xb5", "u"},     Sign{"\xce\xbc", "u"},
                             Sign{"\xe2\x80\x93", "-"}, Sign{"\xe2\x80\x94", "-"},
                             Sign{"\xc2\xa0", " "},     Sign{"\xe2\x80\xaf", " "},
                             Sign{"\xe2\x80\x89", " "}};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const sign = std::ranges::find_if(
        signs, [&](const Sign& each) { return text.substr(at).starts_with(each.utf_8); });
    if (sign == signs.end()) {
      plain += text[at++];
      continue;
    }
    at += sign->utf_8.size();
    const bool is_in_number = sign->ascii == " " && !plain.empty() && is_digit(plain.back()) &&
                              at < text.size() && is_digit(text[at]);
    if (!is_in_number) plain += sign->ascii;
  }
  return plain;
}

bool is_prose(std::string_view line) {
  constexpr std::ptrdiff_t min_letters = 5;
  return std::ranges::count_if(line, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         }) >= min_letters;
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const std::size_t size = std::min(rest_.find('\n'), rest_.size());
  line_ = trimmed(rest_.substr(0, size));
  rest_.remove_prefix(std::min(size + 1, rest_.size()));
  ++number_;
  return true;
}

void Lines::refuse(std::string_view problem) const {
  throw RunFormatError(fmt::format("line {}: {}", number_, problem));
}

void Lines::refuse_instead_of(std::string_view expected) const {
  refuse(fmt::format("expected {}, found '{}'", expected, excerpt(line_)));
}

}  // namespace clprobe::import
