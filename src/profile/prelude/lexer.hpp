// SPDX-License-Identifier: Apache-2.0
// Lexer of OpenCL C, and the names of functions that the instrumentation replaces. The lexer
// accepts any bytes, but text in another language gives meaningless tokens.
#pragma once

#include <array>
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
  std::string_view text{};  ///< text of the token without continued line ends
  std::size_t begin{0};     ///< position in the original text, in bytes
  std::size_t end{0};
  /// Distance in tokens to the matching bracket; negative for a closing bracket, 0 for other
  /// tokens.
  std::ptrdiff_t to_partner{0};
  bool is_conditional{false};  ///< true if the token stands between an #if and its #endif

  [[nodiscard]] bool is(std::string_view what) const {
    return kind != TokenKind::quoted && text == what;
  }
};

using Tokens = std::span<const Token>;

struct Macro {
  std::string_view name{};
  bool takes_arguments{false};
  bool is_conditional{false};  ///< true if the definition stands between an #if and its #endif
  std::vector<std::string_view> parameters{};
  std::vector<Token> body{};
};

struct Lexed {
  /// Text that the string views of the tokens refer to.
  std::shared_ptr<const std::string> text{};
  std::vector<Token> code{};  ///< tokens of all branches of #if, without preprocessor lines
  std::vector<Macro> macros{};
  std::vector<Token> pragmas{};  ///< tokens of all pragmas, without #pragma itself
};

/// Returns the tokens of a text. The time is linear in the size of the text.
Lexed lex(std::string_view text);

/// Returns the index of the bracket that closes the bracket at index `open`; `tokens.size()` if
/// there is none. Brackets nested deeper than 200 levels have no partner, although compilers accept
/// 256 levels.
std::size_t closing_bracket(Tokens tokens, std::size_t open);

/// Returns the definitions of the build options -D as lines of #define.
std::string definitions_in(std::string_view options);

/// True if `word` is a type, a qualifier or another keyword.
bool is_keyword(std::string_view word);

/// Returns the first word of `expression` that is neither a type nor a qualifier: `a` in `&((global
/// int*)a)[i]`.
std::string_view find_root(Tokens expression);

/// True if `word` may be the name of an atomic function.
bool is_atomic(std::string_view word);

/// True if `token` is a keyword that a condition in parentheses follows.
bool has_condition(const Token& token);

/// True if `tokens` contains at least one of the words or signs in `words`.
bool has_any(Tokens tokens, std::initializer_list<std::string_view> words);

/// Work-item functions that cl/prelude.clh replaces.
inline constexpr std::array<std::string_view, 5> renamed{
    "get_group_id", "get_global_id", "get_global_offset", "get_global_linear_id", "get_work_dim"};
/// Work-item functions that cl/entry.clh replaces in addition to `renamed`.
inline constexpr std::array<std::string_view, 2> renamed_by_entry{"get_num_groups",
                                                                  "get_global_size"};

/// Special functions, which GPUs compute in a separate unit. Functions with two arguments are at
/// the end. Division by `/` is not included.
inline constexpr std::array<std::string_view, 41> special_functions{
    "sin",         "cos",          "tan",         "exp",           "exp2",         "exp10",
    "log",         "log2",         "log10",       "sqrt",          "rsqrt",        "native_sin",
    "native_cos",  "native_tan",   "native_exp",  "native_exp2",   "native_exp10", "native_log",
    "native_log2", "native_log10", "native_sqrt", "native_rsqrt",  "half_sin",     "half_cos",
    "half_tan",    "half_exp",     "half_exp2",   "half_exp10",    "half_log",     "half_log2",
    "half_log10",  "half_sqrt",    "half_rsqrt",  "native_recip",  "half_recip",   "pow",
    "powr",        "native_powr",  "half_powr",   "native_divide", "half_divide"};

inline constexpr std::size_t functions_of_two = 6;

}  // namespace clprobe::prelude
