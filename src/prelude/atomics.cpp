// SPDX-License-Identifier: Apache-2.0
#include "prelude/atomics.hpp"

#include <algorithm>
#include <array>

#include "prelude/words.hpp"

namespace clprobe::prelude {
namespace {

constexpr std::array<std::string_view, 9> updates{"add", "sub", "inc", "dec", "and",
                                                  "or",  "xor", "min", "max"};

// Of OpenCL 2.0, as C11 has them: without "atomic_", and without "_explicit".
constexpr std::array<std::string_view, 7> typed_updates{
    "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "fetch_min", "fetch_max"};
// A flag that another group waits for is stored and loaded.
constexpr std::array<std::string_view, 10> exchanges{
    "xchg", "cmpxchg", "exchange", "compare_exchange_strong", "compare_exchange_weak",
    "load", "store",   "init",     "flag_test_and_set",       "flag_clear"};

template <typename Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

AtomicKind kind_of(std::string_view name) {
  constexpr std::string_view with_order = "_explicit";
  std::string_view operation = name.substr(name.find('_') + 1);
  if (is_among(updates, operation)) return AtomicKind::update;
  if (operation.ends_with(with_order)) operation.remove_suffix(with_order.size());
  if (is_among(typed_updates, operation)) return AtomicKind::typed_update;
  if (is_among(exchanges, operation)) return AtomicKind::exchange;
  return operation == "work_item_fence" ? AtomicKind::fence : AtomicKind::unknown;
}

/// Whether nothing is done with the value of the call between `name` and `close`: it is a
/// statement.
bool is_statement(Tokens body, std::size_t name, std::size_t close) {
  if (close + 1 >= body.size() || !body[close + 1].is(";") || name == 0) return false;
  const Token& before = body[name - 1];
  if (before.is(";") || before.is("{") || before.is("}") || before.is("else") || before.is("do")) {
    return true;
  }
  if (!before.is(")") || before.to_partner == 0) return false;
  // if (...), while (...), for (...), or (void).
  const std::size_t open = name - 1 - static_cast<std::size_t>(-before.to_partner);
  if (open >= name) return false;
  if (open + 3 == name && body[open + 1].is("void")) return true;
  return open > 0 && has_condition(body[open - 1]);
}

AtomicCall call_at(const Part& part, std::size_t i) {
  const Tokens body = part.body;
  AtomicCall call{.name = body[i].text, .kind = kind_of(body[i].text)};
  if (i + 1 >= body.size() || !body[i + 1].is("(")) return call;
  const std::size_t close = closing_bracket(body, i + 1);
  if (close == body.size()) return call;
  const std::vector<Tokens> arguments = split_arguments(body.subspan(i + 2, close - i - 2));
  if (!arguments.empty()) call.target = find_root(arguments[0]);
  // At the very beginning of a function's body nothing stands before a statement.
  const bool is_first = i == 0 && !part.is_macro;
  const bool ends = close + 1 < body.size() && body[close + 1].is(";");
  call.is_result_used = !(is_first && ends) && !is_statement(body, i, close);
  return call;
}

}  // namespace

std::vector<AtomicCall> find_atomics(const Reach& reach) {
  std::vector<AtomicCall> calls;
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 0; i < part.body.size(); ++i) {
      const Token& token = part.body[i];
      if (token.kind != TokenKind::word) continue;
      if (!is_atomic(token.text)) continue;
      const bool is_called = i + 1 < part.body.size() && part.body[i + 1].is("(");
      const bool is_built_in = kind_of(token.text) != AtomicKind::unknown;
      // A function of the program's own is reached itself; atomic_int is a type.
      if (is_built_in || (is_called && !reach.defines(token.text))) {
        calls.push_back(call_at(part, i));
      }
    }
  }
  return calls;
}

}  // namespace clprobe::prelude
