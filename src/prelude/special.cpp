// SPDX-License-Identifier: Apache-2.0
#include "prelude/special.hpp"

#include <algorithm>

namespace clprobe::prelude {
namespace {

/// "membar.gl;", with its quotes: one instruction.
bool is_fence(std::string_view quoted) {
  if (quoted.size() < 2) return false;
  quoted = quoted.substr(1, quoted.size() - 2);
  const std::size_t begin = quoted.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  quoted.remove_prefix(begin);
  const bool is_named = quoted.starts_with("membar.") || quoted.starts_with("fence.");
  return is_named && quoted.find(';') >= quoted.size() - 1;
}

bool is_assembly(const Token& token) {
  return token.is("asm") || token.is("__asm") || token.is("__asm__");
}

/// Whether what stands between the parentheses behind the word at `i` is a fence alone.
bool is_fence_at(Tokens body, std::size_t i) {
  const auto is_qualifier = [](const Token& token) {
    return token.is("volatile") || token.is("__volatile__") || token.is("__volatile");
  };
  std::size_t open = i + 1;
  while (open < body.size() && is_qualifier(body[open])) ++open;
  if (open + 2 >= body.size() || !body[open].is("(")) return false;
  // Words side by side are one text.
  return body[open + 1].kind == TokenKind::quoted && is_fence(body[open + 1].text) &&
         body[open + 2].kind != TokenKind::quoted;
}

}  // namespace

FencesInAssembly find_fences_in_assembly(const Reach& reach) {
  FencesInAssembly found;
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 0; i < part.body.size(); ++i) {
      if (!is_assembly(part.body[i])) continue;
      const bool is_one = is_fence_at(part.body, i);
      found.is_any = found.is_any || is_one;
      found.are_all = found.are_all && is_one;
    }
  }
  return found;
}

}  // namespace clprobe::prelude
