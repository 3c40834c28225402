// SPDX-License-Identifier: Apache-2.0
// One line of a trace as words and fields, and what is said of a line that cannot be.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "clprobe/trace_file.hpp"

namespace clprobe::simulator {

/// An upper end that is none.
inline constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

/// A word of the file in a message: in ASCII, cut where it is long.
inline std::string shown(std::string_view word) {
  constexpr std::size_t max_letters = 40;
  std::string text = "'";
  for (const char letter : word.substr(0, max_letters)) {
    text += letter > ' ' && letter <= '~' ? letter : '?';
  }
  return text + (word.size() > max_letters ? "...'" : "'");
}

/// "0x1000" or "4096", from `least` to `most`; nothing for all else.
inline std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t least,
                                                 std::uint64_t most) {
  constexpr int decimal = 10;
  constexpr int hexadecimal = 16;
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), last, number, is_hexadecimal ? hexadecimal : decimal);
  if (error != std::errc{} || rest != last || number < least || number > most) return std::nullopt;
  return number;
}

/// A line's words, each taken once; what is left over is a mistake.
class TraceLine {
 public:
  /// Of the file's text without its end, and its number in it.
  TraceLine(std::string_view text, std::size_t number) : number_(number) {
    constexpr std::string_view blanks = " \t\r";
    text = text.substr(0, text.find('#'));
    for (std::size_t at = 0;;) {
      at = text.find_first_not_of(blanks, at);
      if (at == std::string_view::npos) break;
      const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
      words_.push_back(text.substr(at, end - at));
      at = end;
    }
    is_taken_.resize(words_.size());
    if (!is_taken_.empty()) is_taken_[0] = true;
  }

  /// Throws TraceFileError with the line's number.
  [[noreturn]] void refuse(const std::string& problem) const {
    throw TraceFileError(fmt::format("line {}: {}", number_, problem));
  }

  [[nodiscard]] bool is_empty() const { return words_.empty(); }
  /// The first word, which says what the line is.
  [[nodiscard]] std::string_view kind() const { return words_.front(); }

  /// The next word that is no field. `what` it should be: "a register, r0 to r63".
  std::string_view take_word(std::string_view what) {
    if (!has_word()) refuse(fmt::format("expected {} after '{}'", what, kind()));
    is_taken_[next_] = true;
    return words_[next_];
  }
  std::uint64_t take_number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    const std::string_view word = take_word(what);
    if (const auto number = whole_number(word, least, most)) return *number;
    refuse(fmt::format("expected {} from {} to {}, found {}", what, least, most, shown(word)));
  }
  /// Whether there is one.
  bool has_word() {
    while (next_ < words_.size() &&
           (is_taken_[next_] || words_[next_].find('=') != std::string_view::npos)) {
      ++next_;
    }
    return next_ < words_.size();
  }
  /// Whether this word stands there: "skips_l1".
  bool take_flag(std::string_view name) {
    const auto found = std::find(words_.begin(), words_.end(), name);
    if (found == words_.end()) return false;
    is_taken_[static_cast<std::size_t>(found - words_.begin())] = true;
    return true;
  }
  /// What stands behind "name=".
  std::optional<std::string_view> take_field(std::string_view name) {
    std::optional<std::string_view> value;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      const bool is_it =
          word.size() > name.size() && word[name.size()] == '=' && word.starts_with(name);
      if (!is_it || is_taken_[i]) continue;
      if (value) refuse(fmt::format("{}= is given twice: leave one out", name));
      is_taken_[i] = true;
      value = word.substr(name.size() + 1);
    }
    return value;
  }
  std::string_view need_field(std::string_view name) {
    if (const auto value = take_field(name)) return *value;
    refuse(fmt::format("expected {}= after '{}'", name, kind()));
  }
  std::uint64_t need_number(std::string_view name, std::uint64_t least, std::uint64_t most) {
    return number_in(name, need_field(name), least, most);
  }
  std::uint64_t number_or(std::string_view name, std::uint64_t usual, std::uint64_t least,
                          std::uint64_t most) {
    const auto value = take_field(name);
    return value ? number_in(name, *value, least, most) : usual;
  }
  std::uint64_t number_in(std::string_view name, std::string_view value, std::uint64_t least,
                          std::uint64_t most) const {
    if (const auto number = whole_number(value, least, most)) return *number;
    if (least == 0 && most == std::numeric_limits<std::uint64_t>::max()) {
      refuse(fmt::format("{}= expects a whole number, found {}", name, shown(value)));
    }
    refuse(fmt::format("{}= expects a whole number from {} to {}, found {}", name, least, most,
                       shown(value)));
  }
  /// Throws where something was not taken.
  void end() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (is_taken_[i]) continue;
      refuse(fmt::format("{} is not allowed after {}", shown(words_[i]), shown(kind())));
    }
  }

 private:
  std::size_t number_;
  std::vector<std::string_view> words_{};
  std::vector<bool> is_taken_{};
  /// Before it is no word to take. A hostile line has millions of words: none is passed twice.
  std::size_t next_{0};
};

/// The parts of a comma list, which may be empty.
inline std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace clprobe::simulator
