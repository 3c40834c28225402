// SPDX-License-Identifier: Apache-2.0
// Text, line by line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::import {

/// A finite number above 0 in fixed or scientific notation; nothing for anything else.
std::optional<double> positive_number(std::string_view text);

/// Its beginning, in printable ASCII, for messages.
std::string excerpt(std::string_view text);

/// The words between the separators, none of them empty.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);

/// The line as numbers above 0 with blanks or commas between them; nothing where it has anything
/// else.
std::optional<std::vector<double>> numbers_in(std::string_view line);

/// The text with UTF-8's micro signs, dashes and blanks as ASCII; a blank that parts the digits of
/// a number goes.
std::string plain_text(std::string_view text);

/// Whether the line is words for people: tools end with remarks, "65536 K would exceed ...".
bool is_prose(std::string_view line);

/// The lines of a text, trimmed, and their numbers from 1 on.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Goes to the next line; false behind the last.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] int number() const { return number_; }

  /// Throws RunFormatError: "line 3: PROBLEM".
  [[noreturn]] void refuse(std::string_view problem) const;
  /// Throws RunFormatError: "line 3: expected EXPECTED, found '...'".
  [[noreturn]] void refuse_instead_of(std::string_view expected) const;

 private:
  std::string_view rest_;
  std::string_view line_{};
  int number_{0};
};

}  // namespace clprobe::import
