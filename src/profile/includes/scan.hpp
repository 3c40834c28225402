// SPDX-License-Identifier: Apache-2.0
// Reader of the preprocessor lines of a text, and of the build options that concern headers.
// Accepts any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::includes {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes beyond ASCII count as letters, so that this reader never rejects a name; the compiler
// decides.
inline bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
inline bool continues_word(char c) { return starts_word(c) || is_digit(c); }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the word at the beginning of the text; empty if there is none.
inline std::string_view first_word(std::string_view text) {
  if (text.empty() || !starts_word(text.front())) return {};
  std::size_t size = 1;
  while (size < text.size() && continues_word(text[size])) ++size;
  return text.substr(0, size);
}

/// Text with continued lines joined, and a map from its positions to those of the original text.
struct Spliced {
  std::string text{};
  /// Pairs of a position in `text` and the number of removed bytes before that position, in
  /// ascending order.
  std::vector<std::pair<std::size_t, std::size_t>> gaps{{0, 0}};

  [[nodiscard]] std::size_t original(std::size_t position) const;
};

Spliced splice(std::string_view text);

/// Returns the position after the comment that begins at `at`. Returns `at` if there is no comment,
/// and a position beyond the text if the comment is not closed.
std::size_t comment_end(std::string_view text, std::size_t at);

/// Returns the position after the quotation that begins at `at`. A quotation without a closing
/// quote ends at the end of the line.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// Preprocessor line, which begins with #, including its continuation lines.
struct Directive {
  std::size_t begin{0};  ///< position of the #, in bytes
  std::size_t end{0};    ///< position of the line end in bytes, or the size of the text
  std::size_t first_line{1};
  std::size_t last_line{1};
  std::string name{};  ///< name of the directive, such as "include"
  std::string rest{};  ///< text after the name, trimmed, with a space in place of each comment
  /// True if code stands between the previous directive and this directive.
  bool follows_code{false};
};

struct Scanned {
  std::vector<Directive> directives{};
  bool ends_with_code{false};  ///< true if code follows the last directive
  /// True if the text ends in an unclosed comment or a continued line. Text appended to such a text
  /// would become part of the comment or the line.
  bool is_open{false};
};

/// Returns the directives of a text. The time is linear in the size of the text.
Scanned scan(std::string_view text);

/// Folders and macro definitions from build options.
struct Options {
  std::vector<std::string> folders{};      ///< values of -I, in the order of the options
  std::vector<std::string> definitions{};  ///< values of -D, in the form of the text after #define
};

Options read_options(std::string_view options);

}  // namespace clprobe::includes
