// SPDX-License-Identifier: Apache-2.0
// One line of a trace as words and fields, and what is said of a line that cannot be.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/trace_file.hpp"

namespace clprobe::simulator {

/// An upper end that is none.
inline constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

/// A word of the file in a message: in ASCII, cut where it is long.
std::string shown(std::string_view word);

/// "0x1000" or "4096", from `least` to `most`; nothing for all else.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t least,
                                          std::uint64_t most);

/// A line's words, each taken once; what is left over is a mistake.
class TraceLine {
 public:
  /// Of the file's text without its end, and its number in it.
  TraceLine(std::string_view text, std::size_t number);

  /// Throws TraceFileError with the line's number.
  [[noreturn]] void refuse(const std::string& problem) const;

  [[nodiscard]] bool is_empty() const { return words_.empty(); }
  /// The first word, which says what the line is.
  [[nodiscard]] std::string_view kind() const { return words_.front(); }

  /// The next word that is no field. `what` it should be: "a register, r0 to r63".
  std::string_view take_word(std::string_view what);
  std::uint64_t take_number(std::string_view what, std::uint64_t least, std::uint64_t most);
  /// Whether there is one.
  bool has_word();
  /// Whether this word stands there: "skips_l1".
  bool take_flag(std::string_view name);
  /// What stands behind "name=".
  std::optional<std::string_view> take_field(std::string_view name);
  std::string_view need_field(std::string_view name);
  std::uint64_t need_number(std::string_view name, std::uint64_t least, std::uint64_t most);
  std::uint64_t number_or(std::string_view name, std::uint64_t usual, std::uint64_t least,
                          std::uint64_t most);
  std::uint64_t number_in(std::string_view name, std::string_view value, std::uint64_t least,
                          std::uint64_t most) const;
  /// Throws where something was not taken.
  void end() const;

 private:
  std::size_t number_;
  std::vector<std::string_view> words_{};
  std::vector<bool> is_taken_{};
  /// Before it is no word to take. A hostile line has millions of words: none is passed twice.
  std::size_t next_{0};
};

/// The parts of a comma list, which may be empty.
std::vector<std::string_view> comma_parts(std::string_view text);

}  // namespace clprobe::simulator
