// SPDX-License-Identifier: Apache-2.0
#include "prelude/memory_names.hpp"

#include <algorithm>

#include "prelude/words.hpp"

namespace clprobe::prelude {
namespace {

/// The names that a declaration declares: the last word before each of these signs.
void add_names(Tokens declaration, std::set<std::string_view>& names) {
  std::string_view last;
  bool is_value = false;
  int depth = 0;
  for (const Token& token : declaration) {
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (depth == 0 && token.is(",")) is_value = false;
    const bool ends_name = token.is("[") || token.is("=") || token.is(",");
    if (ends_name && !last.empty()) {
      names.insert(last);
      last = {};
    }
    if (depth == 0 && token.is("=")) is_value = true;
    if (depth == 0 && !is_value && token.kind == TokenKind::word && !is_keyword(token.text)) {
      last = token.text;
    }
    if (token.is(")") || token.is("}") || token.is("]")) --depth;
  }
  if (!last.empty()) names.insert(last);
}

void add_declaration(Tokens declaration, MemoryNames& names) {
  if (has_any(declaration, {"local", "__local"})) add_names(declaration, names.local);
  if (has_any(declaration, {"volatile"}) && has_any(declaration, {"global", "__global"})) {
    add_names(declaration, names.volatile_global);
  }
}

/// Statements, each once: what a brace or a semicolon ends.
void add_statements(Tokens body, MemoryNames& names) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= body.size(); ++i) {
    const bool ends = i == body.size() || body[i].is(";") || body[i].is("{") || body[i].is("}");
    if (!ends) continue;
    const Tokens statement = body.subspan(begin, i - begin);
    begin = i + 1;
    // Qualifiers stand first. Behind an opening parenthesis they belong to a cast, or to a loop.
    const auto parenthesis =
        std::find_if(statement.begin(), statement.end(),
                     [](const Token& token) { return token.is("(") || token.is("="); });
    const Tokens head = statement.first(static_cast<std::size_t>(parenthesis - statement.begin()));
    if (has_any(head, {"local", "__local", "volatile"})) add_declaration(statement, names);
    if (!statement.empty() && statement[0].is("for") && statement.size() > 2) {
      add_declaration(statement.subspan(2), names);
    }
  }
}

/// Whether the name at `i` is loaded from or stored to: a pointer alone is handed on.
bool is_dereferenced(Tokens body, std::size_t i) {
  const bool is_indexed = i + 1 < body.size() && (body[i + 1].is("[") || body[i + 1].is("->"));
  return is_indexed || (i > 0 && body[i - 1].is("*"));
}

/// Behind the call of an atomic that begins at `i`; `i` where there is none.
std::size_t behind_atomic(Tokens body, std::size_t i) {
  if (!is_atomic(body[i].text) || i + 1 >= body.size() || !body[i + 1].is("(")) return i;
  const std::size_t close = closing_bracket(body, i + 1);
  return close == body.size() ? i : close + 1;
}

/// (volatile global int*): what a cast at `i` is to.
bool is_volatile_cast(Tokens body, std::size_t i) {
  if (!body[i].is("(")) return false;
  for (std::size_t j = i + 1; j < body.size() && j < i + 10; ++j) {
    if (body[j].is(")")) {
      return body[j - 1].is("*") && has_any(body.subspan(i, j - i), {"volatile"});
    }
    if (body[j].kind != TokenKind::word && !body[j].is("*")) return false;
  }
  return false;
}

}  // namespace

MemoryNames find_memory_names(const Reach& reach) {
  MemoryNames names;
  for (const Part& part : reach.parts()) {
    for (const Tokens parameter : split_arguments(part.signature)) {
      add_declaration(parameter, names);
    }
    add_statements(part.body, names);
  }
  return names;
}

std::optional<std::string_view> find_volatile_access(const Reach& reach, const MemoryNames& names) {
  for (const Part& part : reach.parts()) {
    const Tokens body = part.body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (const std::size_t behind = behind_atomic(body, i); behind != i) {
        i = behind - 1;
        continue;
      }
      if (is_volatile_cast(body, i) &&
          !has_any(body.subspan(i, std::min<std::size_t>(8, body.size() - i)),
                   {"local", "__local"})) {
        return "the target of a pointer cast";
      }
      if (names.volatile_global.contains(body[i].text) && is_dereferenced(body, i)) {
        return body[i].text;
      }
    }
  }
  return std::nullopt;
}

}  // namespace clprobe::prelude
