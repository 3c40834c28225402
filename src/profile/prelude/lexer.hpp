// SPDX-License-Identifier: Apache-2.0
// Tokens of OpenCL C, and the functions that the instrumentation replaces. Accepts any bytes: other
// text gives meaningless tokens.
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
  std::string_view text{};  ///< text without continued line ends
  std::size_t begin{0};     ///< position in the original text, in bytes
  std::size_t end{0};
  /// Distance in tokens to the partner of a bracket, negative to an opening bracket; otherwise 0.
  std::ptrdiff_t to_partner{0};
  bool is_conditional{false};  ///< true between an #if and its #endif

  [[nodiscard]] bool is(std::string_view what) const {
    return kind != TokenKind::quoted && text == what;
  }
};

using Tokens = std::span<const Token>;

struct Macro {
  std::string_view name{};
  bool takes_arguments{false};
  bool is_conditional{false};  ///< true between an #if and its #endif
  std::vector<std::string_view> parameters{};
  std::vector<Token> body{};
};

struct Lexed {
  /// Text that the tokens refer to.
  std::shared_ptr<const std::string> text{};
  std::vector<Token> code{};  ///< tokens of all branches of #if, without preprocessor lines
  std::vector<Macro> macros{};
  std::vector<Token> pragmas{};  ///< tokens after #pragma
};

/// Splits a text into tokens, in time linear in its size.
Lexed lex(std::string_view text);

/// Returns the position of the closing bracket for `open`; `tokens.size()` if there is none.
/// Brackets nested deeper than 200 have no partner; compilers accept 256.
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

/// Work-item functions that cl/prelude.clh replaces.
inline constexpr std::array<std::string_view, 5> renamed{
    "get_group_id", "get_global_id", "get_global_offset", "get_global_linear_id", "get_work_dim"};
/// Work-item functions that an entry (cl/entry.clh) replaces in addition.
inline constexpr std::array<std::string_view, 2> renamed_by_entry{"get_num_groups",
                                                                  "get_global_size"};

/// Special functions, for which GPUs have a separate unit. Functions of two arguments are last.
/// Division by `/` does not count.
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
