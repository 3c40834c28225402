// SPDX-License-Identifier: Apache-2.0
#include "prelude/words.hpp"

#include <algorithm>
#include <array>

namespace clprobe::prelude {

bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 38> words{
      "global",     "__global",  "local",    "__local",  "constant", "__constant", "private",
      "__private",  "const",     "volatile", "restrict", "unsigned", "signed",     "struct",
      "union",      "void",      "bool",     "size_t",   "static",   "inline",     "return",
      "else",       "do",        "if",       "while",    "for",      "switch",     "case",
      "__restrict", "sizeof",    "goto",     "break",    "continue", "ptrdiff_t",  "uintptr_t",
      "generic",    "__generic", "enum"};
  if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  static constexpr std::array<std::string_view, 11> scalars{"char", "uchar", "short", "ushort",
                                                            "int",  "uint",  "long",  "ulong",
                                                            "half", "float", "double"};
  return std::any_of(scalars.begin(), scalars.end(), [&](std::string_view scalar) {
    if (!word.starts_with(scalar)) return false;
    const std::string_view width = word.substr(scalar.size());
    return std::all_of(width.begin(), width.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

std::string_view find_root(Tokens expression) {
  for (const Token& token : expression) {
    if (token.kind == TokenKind::word && !is_keyword(token.text)) return token.text;
  }
  return {};
}

bool is_atomic(std::string_view word) {
  return word.starts_with("atomic_") || word.starts_with("atom_");
}

bool has_condition(const Token& token) {
  return token.is("if") || token.is("while") || token.is("for");
}

bool has_any(Tokens tokens, std::initializer_list<std::string_view> words) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return token.is(word); });
  });
}

}  // namespace clprobe::prelude
