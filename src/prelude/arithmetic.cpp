// SPDX-License-Identifier: Apache-2.0
#include "prelude/arithmetic.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "prelude/words.hpp"

namespace clprobe::prelude {
namespace {

/// vload4, async_work_group_copy, atomic_add, read_imagef.
bool may_reach_memory(std::string_view name) {
  return name.starts_with("vload") || name.starts_with("vstore") || name.starts_with("async_") ||
         name.starts_with("read_") || name.starts_with("write_") || is_atomic(name);
}

/// What it is given, and what it declares: `TYPE NAME` where the name is first met.
std::set<std::string_view> own_names(const Reach& reach, const Part& part) {
  std::set<std::string_view> own(part.parameters.begin(), part.parameters.end());
  std::set<std::string_view> met;
  for (std::size_t i = 0; i < part.body.size(); ++i) {
    const Token& token = part.body[i];
    if (token.kind != TokenKind::word || !met.insert(token.text).second || i == 0) continue;
    const Token& before = part.body[i - 1];
    const bool is_declared = before.kind == TokenKind::word && reach.is_type(before.text) &&
                             !before.is("return") && !before.is("else");
    if (is_declared) own.insert(token.text);
  }
  return own;
}

/// Whether all its parameters are of OpenCL's own types, and no pointers: what typedef makes may be
/// one, and what struct makes may hold one.
bool takes_numbers(const Part& part) {
  const bool has_pointer = std::find(part.are_pointers.begin(), part.are_pointers.end(), true) !=
                           part.are_pointers.end();
  if (has_pointer || has_any(part.signature, {"struct", "union"})) return false;
  return std::all_of(part.signature.begin(), part.signature.end(), [&](const Token& token) {
    const bool is_name = std::find(part.parameters.begin(), part.parameters.end(), token.text) !=
                         part.parameters.end();
    return token.kind != TokenKind::word || is_name || is_keyword(token.text);
  });
}

/// Whether the text alone allows it; the words that have to be arithmetic as well are left in
/// `needed`.
bool may_be_arithmetic(const Reach& reach, const Part& part, std::set<std::string_view>& needed) {
  // Of macros numbers alone: what others stand for depends on where.
  if (part.is_macro) {
    return std::all_of(part.body.begin(), part.body.end(),
                       [](const Token& token) { return token.kind == TokenKind::number; });
  }
  if (!takes_numbers(part)) return false;
  if (has_any(part.body, {"for", "while", "do", "goto", "asm", "static", "[", "->", "global",
                          "__global", "constant", "__constant", "local", "__local"})) {
    return false;
  }
  const std::set<std::string_view> own = own_names(reach, part);
  for (std::size_t i = 0; i < part.body.size(); ++i) {
    const Token& token = part.body[i];
    if (token.kind == TokenKind::quoted) return false;
    if (token.kind != TokenKind::word || own.contains(token.text)) continue;
    const bool is_member = i > 0 && part.body[i - 1].is(".");
    if (is_member || is_keyword(token.text)) continue;
    const bool is_call = i + 1 < part.body.size() && part.body[i + 1].is("(");
    if (reach.defines(token.text)) {
      needed.insert(token.text);
    } else if (!is_call || may_reach_memory(token.text)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::set<std::string_view> find_arithmetic(const Reach& reach) {
  // Of a name that has several, in the branches of #if, all have to be.
  std::map<std::string_view, std::set<std::string_view>> candidates;
  std::set<std::string_view> others;
  for (const Part& part : reach.parts()) {
    if (!may_be_arithmetic(reach, part, candidates[part.name])) others.insert(part.name);
  }
  std::set<std::string_view> found;
  // Those that others call come a round before these; deeper calls than this are not followed.
  constexpr int max_rounds = 16;
  for (int round = 0; round < max_rounds; ++round) {
    const std::size_t before = found.size();
    for (const auto& [name, needed] : candidates) {
      const bool is_other = others.contains(name) || !std::includes(found.begin(), found.end(),
                                                                    needed.begin(), needed.end());
      if (!is_other) found.insert(name);
    }
    if (found.size() == before) break;
  }
  return found;
}

}  // namespace clprobe::prelude
