// SPDX-License-Identifier: Apache-2.0
#include "profile/prelude/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace clprobe::prelude {
namespace {

/// True for built-in functions that may access memory, such as vload4, async_work_group_copy,
/// atomic_add and read_imagef.
bool may_reach_memory(std::string_view name) {
  return name.starts_with("vload") || name.starts_with("vstore") || name.starts_with("async_") ||
         name.starts_with("read_") || name.starts_with("write_") || is_atomic(name);
}

/// Returns the names of a function's parameters and of the variables that the function declares. A
/// name counts as declared if its first occurrence has the form `TYPE NAME`.
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

/// True if all parameters have built-in types and are not pointers. Other types are excluded,
/// because a type from typedef may be a pointer, and a struct may contain a pointer.
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

/// True if the function's own text is arithmetic. Adds to `needed` the called functions, which must
/// be arithmetic as well.
bool may_be_arithmetic(const Reach& reach, const Part& part, std::set<std::string_view>& needed) {
  // A macro that is not a number is excluded, because its meaning depends on the place of use.
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

/// Returns the arithmetic functions: functions that contain no load, store or loop. The result of
/// an arithmetic function depends only on the arguments of the call. Functions that the analysis
/// does not understand are left out.
std::set<std::string_view> find_arithmetic(const Reach& reach) {
  // Branches of #if may define several functions with one name. The name is arithmetic only if all
  // of the functions are.
  std::map<std::string_view, std::set<std::string_view>> candidates;
  std::set<std::string_view> others;
  for (const Part& part : reach.parts()) {
    if (!may_be_arithmetic(reach, part, candidates[part.name])) others.insert(part.name);
  }
  std::set<std::string_view> found;
  // Maximum number of passes. Each pass finds the callers of functions that previous passes found.
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

bool is_assignment(const Token& token) {
  static constexpr std::array<std::string_view, 11> signs{
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return token.kind == TokenKind::sign &&
         std::find(signs.begin(), signs.end(), token.text) != signs.end();
}

bool ends_statement(const Token& token) { return token.is(";") || token.is("{") || token.is("}"); }

/// True if the parentheses that close at `i` are a cast or a condition. A `*` after such
/// parentheses is a dereference, not a product.
bool is_cast_or_condition(const Reach& reach, Tokens tokens, std::size_t i) {
  const auto size = static_cast<std::size_t>(-tokens[i].to_partner);
  if (size == 0 || size > i) return true;
  const std::size_t open = i - size;
  if (open > 0 && has_condition(tokens[open - 1])) return true;
  if (tokens[i - 1].is("*")) return true;
  const Tokens inside = tokens.subspan(open + 1, size - 1);
  return std::all_of(inside.begin(), inside.end(), [&](const Token& token) {
    return token.kind == TokenKind::word && reach.is_type(token.text);
  });
}

/// True if the `*` at `i` is a load or a store, and neither a product nor part of a declaration.
bool is_dereference(const Reach& reach, Tokens tokens, std::size_t i) {
  if (!tokens[i].is("*")) return false;
  if (i == 0) return true;
  const Token& before = tokens[i - 1];
  if (before.is(")")) return is_cast_or_condition(reach, tokens, i - 1);
  if (before.is("return") || before.is("else") || before.is("do")) return true;
  return before.kind == TokenKind::sign && !before.is("]") && !before.is("*");
}

/// Left-hand side of an assignment: the assigned name, and whether the name is memory or a
/// variable.
struct Target {
  std::string_view root{};
  bool is_memory{false};
};

/// Reads the target from the parentheses that close before `i`, as in `*(p + i) = ...` or `MACRO(i)
/// = ...`. Returns the index where the target begins.
std::size_t skip_parentheses(Tokens tokens, std::size_t i, Target& target) {
  const auto size = static_cast<std::size_t>(-tokens[i - 1].to_partner);
  if (size == 0 || size > i - 1) return i;
  const std::size_t open = i - 1 - size;
  target.is_memory = true;
  target.root = find_root(tokens.subspan(open, size));
  const bool is_call =
      open > 0 && tokens[open - 1].kind == TokenKind::word && !is_keyword(tokens[open - 1].text);
  if (!is_call) return open;
  target.root = tokens[open - 1].text;
  return open - 1;
}

/// Returns the left-hand side of an assignment. The left-hand side ends before index `end`.
Target find_target(const Reach& reach, Tokens tokens, std::size_t end) {
  Target target;
  std::size_t i = end;
  while (i > 0) {
    const Token& token = tokens[i - 1];
    const auto size = static_cast<std::size_t>(-token.to_partner);
    if (token.is("]") && size > 0 && size < i) {
      target.is_memory = true;
      i -= 1 + size;
      continue;
    }
    if (token.is(")")) {
      i = skip_parentheses(tokens, i, target);
      break;
    }
    if (token.kind != TokenKind::word || is_keyword(token.text)) break;
    target.root = token.text;
    --i;
    const bool is_member = i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
    if (!is_member) break;
    target.is_memory = target.is_memory || tokens[i - 1].is("->");
    --i;
  }
  // The assignment `*p = ...` is a store, but the declaration `float *p = ...` is not.
  if (i > 0 && is_dereference(reach, tokens, i - 1)) target.is_memory = true;
  return target;
}

class Flow {
 public:
  Flow(const Reach& reach, std::set<std::string_view> memory,
       const std::set<std::string_view>& functions)
      : reach_(reach),
        arithmetic_(find_arithmetic(reach)),
        functions_(with_callers(functions)),
        memory_(std::move(memory)),
        values_(functions_) {}

  std::optional<std::string> run() {
    // Maximum number of passes. If assignments depend on assignments later in the text, each pass
    // propagates values by at least one assignment.
    constexpr int max_rounds = 60;
    for (int round = 0; round < max_rounds; ++round) {
      const std::size_t before = memory_.size() + values_.size();
      for (const Part& part : reach_.parts()) {
        // Arithmetic functions are skipped here, because each of their calls is judged by its
        // arguments.
        if (!arithmetic_.contains(part.name)) follow(part);
        if (!control_.empty()) return control_;
      }
      if (memory_.size() + values_.size() == before) return std::nullopt;
    }
    return "it is unclear which values determine addresses";
  }

 private:
  void follow(const Part& part) {
    const Tokens body = part.body;
    for (std::size_t i = 0; i < body.size() && control_.empty(); ++i) {
      if (is_assignment(body[i])) follow_assignment(body, i);
      if (body[i].is("[")) check(between(body, i), "an address");
      if (is_dereference(reach_, body, i)) check_dereference(body, i);
      if (body[i].kind != TokenKind::word) continue;
      if (values_.contains(body[i].text) && i + 1 < body.size() &&
          (body[i + 1].is("[") || body[i + 1].is("->"))) {
        decide(body[i].text, "an address");
      }
      if (body[i].is("return")) follow_return(part, i);
      if (i + 1 < body.size() && body[i + 1].is("(")) follow_parentheses(body, i);
    }
    if (part.is_macro && find_value(body)) values_.insert(part.name);
  }

  /// Returns `functions` together with the arithmetic functions that call one of them, directly or
  /// through other arithmetic functions.
  [[nodiscard]] std::set<std::string_view> with_callers(
      std::set<std::string_view> functions) const {
    const auto is_one = [&](const Token& token) {
      return token.kind == TokenKind::word && functions.contains(token.text);
    };
    for (std::size_t before = 0; before != functions.size();) {
      before = functions.size();
      for (const Part& part : reach_.parts()) {
        const bool calls_one = std::any_of(part.body.begin(), part.body.end(), is_one);
        if (calls_one && arithmetic_.contains(part.name)) functions.insert(part.name);
      }
    }
    return functions;
  }

  static Tokens between(Tokens tokens, std::size_t open) {
    const std::size_t close = closing_bracket(tokens, open);
    return close == tokens.size() ? tokens.subspan(open + 1)
                                  : tokens.subspan(open + 1, close - open - 1);
  }

  /// Returns the tokens from `begin` to the end of the statement or of the enclosing parentheses.
  /// For example, the step of a for-loop ends at the parenthesis before the loop's body.
  static Tokens statement_from(Tokens body, std::size_t begin) {
    std::size_t end = begin;
    const auto closes_before = [&](const Token& token) {
      return token.to_partner < 0 && static_cast<std::size_t>(-token.to_partner) > end - begin;
    };
    while (end < body.size() && !ends_statement(body[end]) && !closes_before(body[end])) ++end;
    return body.subspan(begin, end - begin);
  }

  /// Returns a name in `tokens` that has a tainted value; nothing if there is none.
  std::optional<std::string_view> find_value(Tokens tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::word) continue;
      const bool is_member = i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
      if (is_member) continue;
      if (values_.contains(tokens[i].text)) return tokens[i].text;
      if (memory_.contains(tokens[i].text) && is_loaded(tokens, i)) return tokens[i].text;
    }
    return std::nullopt;
  }

  /// True if the memory named at `i` is loaded. False if only the address is used.
  static bool is_loaded(Tokens tokens, std::size_t i) {
    if (i > 0 && tokens[i - 1].is("&")) {
      // In `a & b`, the sign & does not take an address.
      return i > 1 && (tokens[i - 2].kind != TokenKind::sign || tokens[i - 2].is(")") ||
                       tokens[i - 2].is("]"));
    }
    if (i + 1 < tokens.size()) {
      if (tokens[i + 1].is("[") || tokens[i + 1].is("->") || tokens[i + 1].is(".")) return true;
    }
    if (i == 0) return false;
    // An argument counts as loaded, because the called function may load from it.
    const bool is_argument = tokens[i - 1].is(",") || (i > 1 && tokens[i - 1].is("(") &&
                                                       tokens[i - 2].kind == TokenKind::word &&
                                                       !is_keyword(tokens[i - 2].text));
    return tokens[i - 1].is("*") || is_argument;
  }

  bool names_memory(Tokens tokens) const {
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
      return token.kind == TokenKind::word && memory_.contains(token.text);
    });
  }

  void decide(std::string_view name, std::string_view what) {
    if (control_.empty()) {
      control_ = fmt::format("a wrong value of {} would determine {}", name, what);
    }
  }

  void check(Tokens tokens, std::string_view what) {
    if (const auto name = find_value(tokens)) decide(*name, what);
  }

  void check_dereference(Tokens body, std::size_t star) {
    if (star + 1 >= body.size()) return;
    if (body[star + 1].is("(")) {
      check(between(body, star + 1), "an address");
    } else if (values_.contains(body[star + 1].text)) {
      decide(body[star + 1].text, "an address");
    }
  }

  void follow_assignment(Tokens body, std::size_t sign) {
    const Target target = find_target(reach_, body, sign);
    const Tokens value = statement_from(body, sign + 1);
    take(target, value);
  }

  void take(const Target& target, Tokens value) {
    if (target.root.empty()) return;
    if (find_value(value)) {
      taint(target);
    } else if (names_memory(value)) {
      memory_.insert(target.root);
    }
  }

  void taint(const Target& target) {
    (target.is_memory ? memory_ : values_).insert(target.root);
    const Part* const macro = reach_.reached(target.root);
    if (macro == nullptr || !macro->is_macro) return;
    const std::string_view root = find_root(macro->body);
    if (!root.empty()) memory_.insert(root);
  }

  void follow_return(const Part& part, std::size_t i) {
    const Tokens value = statement_from(part.body, i + 1);
    if (find_value(value)) values_.insert(part.name);
  }

  void follow_parentheses(Tokens body, std::size_t word) {
    const Tokens inside = between(body, word + 1);
    const Token& name = body[word];
    if (name.is("for") || name.is("while")) {
      check(inside, "how long a loop runs");
    } else if (name.is("if") || name.is("switch")) {
      if (find_value(inside)) follow_condition(body, word, *find_value(inside));
    } else if (!is_keyword(name.text)) {
      follow_call(name.text, split_arguments(inside));
    }
  }

  /// Taints the variables assigned in the branches of a condition with a tainted value, `name`. A
  /// jump in a branch (break, return) counts as a loop that the value determines.
  void follow_condition(Tokens body, std::size_t word, std::string_view name) {
    std::size_t i = closing_bracket(body, word + 1) + 1;
    while (i < body.size()) {
      Tokens statement;
      if (body[i].is("{")) {
        statement = between(body, i);
        i = closing_bracket(body, i) + 1;
      } else {
        statement = statement_from(body, i);
        i += statement.size() + 1;
      }
      follow_conditional(statement, name);
      if (i >= body.size() || !body[i].is("else")) return;
      ++i;
    }
  }

  void follow_conditional(Tokens statement, std::string_view name) {
    for (std::size_t i = 0; i < statement.size(); ++i) {
      const Token& token = statement[i];
      if (token.is("break") || token.is("continue") || token.is("return") || token.is("goto")) {
        decide(name, "how long a loop runs");
      }
      const bool steps = token.is("++") || token.is("--");
      if (!is_assignment(token) && !steps) continue;
      Target target = find_target(reach_, statement, i);
      if (steps && target.root.empty()) target.root = find_root(statement.subspan(i));
      if (!target.root.empty()) taint(target);
    }
  }

  void follow_call(std::string_view name, const std::vector<Tokens>& arguments) {
    if (arithmetic_.contains(name)) return;
    const Part* const callee = reach_.reached(name);
    if (callee == nullptr && values_.contains(name) && !functions_.contains(name)) {
      // `name` is a parameter of a macro that may stand for another macro. The other macro may
      // assign to its arguments.
      for (const Tokens& argument : arguments) values_.insert(find_root(argument));
    }
    if (callee == nullptr) {
      follow_built_in(name, arguments);
      return;
    }
    const std::size_t count = std::min(arguments.size(), callee->parameters.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view parameter = callee->parameters[i];
      if (parameter.empty()) continue;
      if (find_value(arguments[i])) values_.insert(parameter);
      if (names_memory(arguments[i])) memory_.insert(parameter);
      if (!callee->are_pointers[i]) continue;
      // The called function may have stored a tainted value through its pointer parameter.
      const std::string_view root = find_root(arguments[i]);
      const bool is_written = memory_.contains(parameter) && !names_memory(arguments[i]);
      if (!root.empty() && (is_written || (callee->is_macro && values_.contains(parameter)))) {
        values_.insert(root);
        memory_.insert(root);
      }
    }
  }

  /// Propagates tainted values through built-in functions: vload4(offset, pointer), vstore4(value,
  /// offset, pointer), read_imagef(image, position) and write_imagef(image, position, value). Other
  /// built-in functions are assumed to store to arguments that are addresses.
  void follow_built_in(std::string_view name, const std::vector<Tokens>& arguments) {
    if (name.starts_with("vload") && !arguments.empty()) {
      check(arguments[0], "an address");
      if (arguments.size() > 1 && names_memory(arguments[1])) values_.insert(name);
    }
    if (name.starts_with("vstore") && arguments.size() > 2) check(arguments[1], "an address");
    const bool draws = name.starts_with("write_image");
    if ((draws || name.starts_with("read_image")) && arguments.size() > 1) {
      // A sampler may stand between the image and the position. A sampler has no tainted value.
      check(arguments[draws ? 1 : arguments.size() - 1], "an address");
    }
    const bool copies = name.starts_with("async_") || name.starts_with("vstore") || draws;
    const bool is_any =
        std::any_of(arguments.begin(), arguments.end(), [&](const Tokens& argument) {
          return find_value(argument).has_value() || (copies && names_memory(argument));
        });
    if (!is_any) return;
    for (const Tokens& argument : arguments) {
      const bool is_address = !argument.empty() && argument[0].is("&");
      const bool is_stored_to =
          copies &&
          &argument == (name.starts_with("vstore") ? &arguments.back() : &arguments.front());
      const std::string_view root = find_root(argument);
      if (root.empty() || (!is_address && !is_stored_to)) continue;
      memory_.insert(root);
      if (is_address) values_.insert(root);
    }
  }

  const Reach& reach_;
  std::set<std::string_view> arithmetic_;
  std::set<std::string_view> functions_;  ///< functions that return tainted values
  std::set<std::string_view> memory_;     ///< names of memory with tainted contents
  /// Names of variables with values computed from tainted values.
  std::set<std::string_view> values_;
  std::string control_{};
};

/// Adds the names that a declaration declares. A declared name is the last word before `[`, `=`,
/// `,` or the end.
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

/// Adds the names in the declarations of a function's body. A statement ends at a brace or a
/// semicolon.
void add_statements(Tokens body, MemoryNames& names) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= body.size(); ++i) {
    const bool ends = i == body.size() || body[i].is(";") || body[i].is("{") || body[i].is("}");
    if (!ends) continue;
    const Tokens statement = body.subspan(begin, i - begin);
    begin = i + 1;
    // In a declaration, the qualifiers come before any parenthesis or `=`. Qualifiers after a
    // parenthesis belong to a cast or a for-loop.
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

/// True if the memory named at `i` is loaded or stored. False if only the pointer is used.
bool is_dereferenced(Tokens body, std::size_t i) {
  const bool is_indexed = i + 1 < body.size() && (body[i + 1].is("[") || body[i + 1].is("->"));
  return is_indexed || (i > 0 && body[i - 1].is("*"));
}

/// Returns the index after the call of an atomic function at `i`; `i` if there is no such call.
std::size_t behind_atomic(Tokens body, std::size_t i) {
  if (!is_atomic(body[i].text) || i + 1 >= body.size() || !body[i + 1].is("(")) return i;
  const std::size_t close = closing_bracket(body, i + 1);
  return close == body.size() ? i : close + 1;
}

/// True if a cast to a volatile pointer begins at `i`, such as (volatile global int*).
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

std::optional<std::string> find_control(const Reach& reach,
                                        const std::set<std::string_view>& memory,
                                        const std::set<std::string_view>& functions) {
  return Flow(reach, memory, functions).run();
}

std::set<std::string_view> find_written(const Reach& reach) {
  std::set<std::string_view> written;
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 0; i < part.body.size(); ++i) {
      if (part.body[i].text.starts_with("write_image") && i + 2 < part.body.size()) {
        written.insert(part.body[i + 2].text);
      }
      if (!is_assignment(part.body[i])) continue;
      const Target target = find_target(reach, part.body, i);
      if (target.is_memory && !target.root.empty()) written.insert(target.root);
    }
  }
  return written;
}

}  // namespace clprobe::prelude
