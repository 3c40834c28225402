// SPDX-License-Identifier: Apache-2.0
// Reader of a text's preprocessor lines, and of build options that concern headers. Accepts any
// bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::includes {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes beyond ASCII count as letters, since only compilers refuse names.
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

/// Text with continued lines joined, and the original positions of its parts.
struct Spliced {
  std::string text{};
  /// Pairs of a position in `text` and the number of bytes missing before it, in order.
  std::vector<std::pair<std::size_t, std::size_t>> gaps{{0, 0}};

  [[nodiscard]] std::size_t original(std::size_t position) const;
};

Spliced splice(std::string_view text);

/// Returns the end of the comment at `at`. Without a comment there, returns `at`; for an open
/// comment, a position beyond the text.
std::size_t comment_end(std::string_view text, std::size_t at);

/// Returns the end of the quotation at `at`: the closing quote, otherwise the end of the line.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// Line that begins with #, including its continuation lines.
struct Directive {
  std::size_t begin{0};  ///< position of the #, in bytes
  std::size_t end{0};    ///< position of the line end, or the size of the text
  std::size_t first_line{1};
  std::size_t last_line{1};
  std::string name{};        ///< name of the directive: "include"
  std::string rest{};        ///< trimmed text after the name, with a space for each comment
  bool follows_code{false};  ///< true if code is between the previous directive and this one
};

struct Scanned {
  std::vector<Directive> directives{};
  bool ends_with_code{false};  ///< true if code follows the last directive
  /// True if the text ends in an open comment or a continued line, which would include text that
  /// follows.
  bool is_open{false};
};

/// Finds the directives of a text, in time linear in its size.
Scanned scan(std::string_view text);

/// Build options that concern headers.
struct Options {
  std::vector<std::string> folders{};      ///< values of -I in their order
  std::vector<std::string> definitions{};  ///< values of -D as text after #define
};

Options read_options(std::string_view options);

}  // namespace clprobe::includes
