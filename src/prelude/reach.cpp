// SPDX-License-Identifier: Apache-2.0
#include "prelude/reach.hpp"

#include <algorithm>

#include "prelude/words.hpp"

namespace clprobe::prelude {
namespace {

std::string_view last_word(Tokens parameter) {
  std::string_view word;
  for (const Token& token : parameter) {
    if (token.is("[")) break;
    if (token.kind == TokenKind::word) word = token.text;
  }
  return word;
}

Part part_of(const Lexed& lexed, const Function& function) {
  const Tokens code = lexed.code;
  const std::size_t signature = function.parameters_open + 1;
  const std::size_t body = function.body_open + 1;
  Part part{.name = function.name,
            .is_conditional = code[function.parameters_open].is_conditional,
            .signature = code.subspan(signature, function.parameters_close - signature),
            .body = code.subspan(body, function.body_close - body)};
  for (const Tokens parameter : split_arguments(part.signature)) {
    part.parameters.push_back(last_word(parameter));
    part.are_pointers.push_back(has_any(parameter, {"*", "["}));
  }
  return part;
}

Part part_of(const Macro& macro) {
  return {.name = macro.name,
          .is_macro = true,
          .is_conditional = macro.is_conditional,
          .body = macro.body,
          .parameters = macro.parameters,
          // Its parameters are the arguments themselves.
          .are_pointers = std::vector<bool>(macro.parameters.size(), true)};
}

}  // namespace

Reach::Reach(const Program& program, std::string_view kernel) {
  add_text(definitions_in(program.options));
  for (const auto& [name, text] : program.headers) add_text(text);
  for (const std::string& text : program.sources) add_text(text);
  bool is_there = false;
  for (const Lexed& lexed : texts_) {
    add_type_names(lexed.code);
    for (const Function& function : find_functions(lexed)) {
      // Whatever its qualifier is called: the launch says that this is a kernel.
      is_there = is_there || (function.may_be_kernel && function.name == kernel);
      known_.emplace(function.name, part_of(lexed, function));
    }
    for (const Macro& macro : lexed.macros) known_.emplace(macro.name, part_of(macro));
  }
  if (!is_there) return;
  visit(kernel);
  bool reaches_all = false;
  // Each visit may add parts.
  for (std::size_t i = 0; i != parts_.size(); ++i) {  // NOLINT(modernize-loop-convert)
    const Part part = parts_[i];
    for (const Tokens tokens : {part.signature, part.body}) {
      for (const Token& token : tokens) {
        if (token.kind == TokenKind::word) visit(token.text);
        // Names may come out of it that stand nowhere: it reaches everything.
        if (!token.is("##") || reaches_all) continue;
        reaches_all = true;
        for (const auto& each : known_) visit(each.first);
      }
    }
  }
}

const Part* Reach::reached(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &parts_[found->second];
}

void Reach::add_text(std::string_view text) { texts_.push_back(lex(text)); }

void Reach::add_type_names(Tokens code) {
  bool is_typedef = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].is("typedef")) is_typedef = true;
    if (!is_typedef || !code[i].is(";")) continue;
    // Members of a struct are taken for types as well, which errs on the side of more casts.
    if (code[i - 1].kind == TokenKind::word) type_names_.insert(code[i - 1].text);
    const bool is_end = i + 1 == code.size() || !code[i + 1].is("}");
    if (is_end && code[i - 1].kind == TokenKind::word) is_typedef = false;
  }
}

bool Reach::is_type(std::string_view name) const {
  return is_keyword(name) || name.ends_with("_t") || type_names_.contains(name) || defines(name);
}

bool Reach::defines_always(std::string_view name) const {
  const auto [begin, end] = known_.equal_range(name);
  return std::any_of(begin, end, [](const auto& each) { return !each.second.is_conditional; });
}

void Reach::visit(std::string_view name) {
  const auto [begin, end] = known_.equal_range(name);
  if (begin == end || !places_.emplace(name, parts_.size()).second) return;
  for (auto each = begin; each != end; ++each) parts_.push_back(each->second);
}

}  // namespace clprobe::prelude
