// SPDX-License-Identifier: Apache-2.0
// OpenCL C as tokens. Any bytes are taken: what is no OpenCL C gives tokens that mean nothing.
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
  std::string_view text{};  ///< without lines' continuations
  std::size_t begin{0};     ///< in the text that was read, in bytes
  std::size_t end{0};
  /// Of a bracket that has one: how many tokens behind it (before it) the other one is; else 0.
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
  /// What the tokens' texts are parts of.
  std::shared_ptr<const std::string> text{};
  std::vector<Token> code{};  ///< of all branches of #if, without preprocessor lines
  std::vector<Macro> macros{};
  std::vector<Token> pragmas{};  ///< what stands behind #pragma
};

/// Linear in the size of `text`.
Lexed lex(std::string_view text);

/// The place of the bracket that closes the one at `open`; `tokens.size()` where there is none
/// among these. Brackets in more than 200 others have none: compilers take 256.
std::size_t closing_bracket(Tokens tokens, std::size_t open);

/// A build's options -D as lines of #define.
std::string definitions_in(std::string_view options);

/// Whether the word is a type's or a qualifier's, or a keyword.
bool is_keyword(std::string_view word);

/// The first word that is no type and no qualifier: of `&((global int*)a)[i]` that is `a`.
std::string_view find_root(Tokens expression);

/// Whether it may be the name of an atomic.
bool is_atomic(std::string_view word);

/// Whether a condition in parentheses stands behind it.
bool has_condition(const Token& token);

/// Whether one of the words, or signs, is among the tokens.
bool has_any(Tokens tokens, std::initializer_list<std::string_view> words);

}  // namespace clprobe::prelude
