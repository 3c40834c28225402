// SPDX-License-Identifier: Apache-2.0
#include "includes/guards.hpp"

#include "includes/letters.hpp"

namespace clprobe::includes {
namespace {

/// The macro without which a condition holds: of `#ifndef A`, `#if !defined A`, `#if !defined(A)`.
std::string_view unless_defined(const Directive& directive) {
  std::string_view rest = directive.rest;
  if (directive.name == "if") {
    if (rest.empty() || rest.front() != '!') return {};
    rest = trimmed(rest.substr(1));
    if (first_word(rest) != "defined") return {};
    rest = trimmed(rest.substr(std::string_view("defined").size()));
    if (!rest.empty() && rest.front() == '(' && rest.back() == ')') {
      rest = trimmed(rest.substr(1, rest.size() - 2));
    }
  } else if (directive.name != "ifndef") {
    return {};
  }
  return first_word(rest) == rest ? rest : std::string_view();
}

/// Whether the condition at the beginning is open to the last directive, and has one branch.
bool is_around_all(const std::vector<Directive>& directives) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& each = directives[i];
    if (is_if(each)) ++depth;
    const bool is_branch = each.name.starts_with("el");
    if (is_branch && depth == 1) return false;
    if (each.name == "endif" && depth > 0 && --depth == 0) return i + 1 == directives.size();
  }
  return false;
}

}  // namespace

bool is_if(const Directive& directive) {
  return directive.name == "if" || directive.name == "ifdef" || directive.name == "ifndef";
}

Guard find_guard(const Scanned& header) {
  Guard guard;
  const std::vector<Directive>& all = header.directives;
  std::size_t depth = 0;
  for (const Directive& each : all) {
    if (is_if(each)) ++depth;
    if (each.name == "endif" && depth > 0) --depth;
    if (depth == 0 && each.name == "pragma" && each.rest == "once") guard.is_once = true;
  }
  if (all.size() < 3 || header.ends_with_code) return guard;
  const std::string_view macro = unless_defined(all[0]);
  const bool is_defined_at_once = all[1].name == "define" && first_word(all[1].rest) == macro;
  const bool follows_code = all[0].follows_code || all[1].follows_code;
  if (!macro.empty() && is_defined_at_once && !follows_code && is_around_all(all)) {
    guard.macro = macro;
  }
  return guard;
}

void Definers::add(const Scanned& text) {
  std::set<std::string_view> names;
  for (const Directive& each : text.directives) {
    if (each.name == "define") names.insert(first_word(each.rest));
    if (each.name == "undef") undefined_.emplace(first_word(each.rest));
  }
  for (const std::string_view name : names) add_name(name);
}

void Definers::add_name(std::string_view name) { ++texts_[std::string(name)]; }

bool Definers::is_trusted(std::string_view macro) const {
  const auto found = texts_.find(macro);
  return found != texts_.end() && found->second == 1 && !undefined_.contains(macro);
}

}  // namespace clprobe::includes
