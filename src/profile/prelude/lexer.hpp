// SPDX-License-Identifier: Apache-2.0
// Splits OpenCL C into tokens. Accepts any bytes: other text gives meaningless tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::prelude {

enum class TokenKind : std::uint8_t { word, number, quoted, sign };

struct Token {
  TokenKind kind{TokenKind::sign};
  std::string_view text{};  ///< without continued line ends
  std::size_t begin{0};     ///< in the original text, in bytes
  std::size_t end{0};
  /// Distance in tokens to the partner of a bracket, negative to an opening one; else 0.
  std::ptrdiff_t to_partner{0};
  bool is_conditional{false};  ///< between an #if and its #endif

  [[nodiscard]] bool is(std::string_view what) const {
    return kind != TokenKind::quoted && text == what;
  }
};

using Tokens = std::span<const Token>;

struct Macro {
  std::string_view name{};
  bool takes_arguments{false};
  bool is_conditional{false};  ///< between an #if and its #endif
  std::vector<std::string_view> parameters{};
  std::vector<Token> body{};
};

struct Lexed {
  /// The text into which the tokens point.
  std::shared_ptr<const std::string> text{};
  std::vector<Token> code{};  ///< all branches of #if, without preprocessor lines
  std::vector<Macro> macros{};
  std::vector<Token> pragmas{};  ///< tokens after #pragma
};

/// Linear in the size of `text`.
Lexed lex(std::string_view text);

/// Returns the place of the bracket that closes the one at `open`; `tokens.size()` if these tokens
/// have none. Brackets nested deeper than 200 have no partner; compilers accept 256.
std::size_t closing_bracket(Tokens tokens, std::size_t open);

/// Returns the options -D of a build as lines of #define.
std::string definitions_in(std::string_view options);

/// True for a type, a qualifier or a keyword.
bool is_keyword(std::string_view word);

/// Returns the first word that is neither a type nor a qualifier: `a` in `&((global int*)a)[i]`.
std::string_view find_root(Tokens expression);

/// True if the word may be the name of an atomic.
bool is_atomic(std::string_view word);

/// True if a condition in parentheses follows the token.
bool has_condition(const Token& token);

/// True if one of the words or signs is among the tokens.
bool has_any(Tokens tokens, std::initializer_list<std::string_view> words);

}  // namespace clprobe::prelude
