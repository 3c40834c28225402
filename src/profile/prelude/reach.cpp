// SPDX-License-Identifier: Apache-2.0
#include "profile/prelude/reach.hpp"

#include <algorithm>
#include <optional>

namespace clprobe::prelude {
namespace {

/// Function, with positions as indices of tokens in the text.
struct Function {
  std::string_view name{};
  bool is_kernel{false};
  bool may_be_kernel{false};  ///< true for a kernel, or if a qualifier may be a macro for `kernel`
  std::size_t begin{0};       ///< start of the declaration, including attributes and qualifiers
  std::size_t parameters_open{0};  ///< opening parenthesis of the parameters
  std::size_t parameters_close{0};
  std::size_t body_open{0};  ///< opening brace of the body
  std::size_t body_close{0};
};

/// Returns the words that declare a kernel: `kernel`, `__kernel`, and macros that expand to either
/// word (hashcat's KERNEL_FQ).
std::set<std::string_view> kernel_qualifiers(const Lexed& lexed) {
  std::set<std::string_view> qualifiers{"kernel", "__kernel"};
  // Each pass finds macros that expand to macros of the previous pass. Four passes suffice in
  // practice.
  for (int depth = 0; depth < 4; ++depth) {
    for (const Macro& macro : lexed.macros) {
      const bool is_one =
          std::any_of(macro.body.begin(), macro.body.end(), [&](const Token& token) {
            return token.kind == TokenKind::word && qualifiers.contains(token.text);
          });
      if (is_one && !macro.takes_arguments) qualifiers.insert(macro.name);
    }
  }
  return qualifiers;
}

/// Returns the function whose body opens at `brace`, as in NAME ( ... ) ATTRIBUTES {. Returns
/// nothing if no function precedes the brace.
std::optional<Function> function_before(Tokens code, std::size_t begin, std::size_t brace) {
  std::size_t close = brace;
  while (close > begin + 2 && code[close - 1].is(")")) {
    --close;
    const std::size_t open = close - static_cast<std::size_t>(-code[close].to_partner);
    const bool is_named = open != close && open > begin && code[open - 1].kind == TokenKind::word;
    if (!is_named) return std::nullopt;
    if (!code[open - 1].is("__attribute__")) {
      return Function{.name = code[open - 1].text,
                      .begin = begin,
                      .parameters_open = open,
                      .parameters_close = close,
                      .body_open = brace};
    }
    close = open - 1;
  }
  return std::nullopt;
}

std::string joined(Tokens tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_apart = i > 0 && tokens[i].begin != tokens[i - 1].end;
    text += (is_apart ? " " : "");
    text += tokens[i].text;
  }
  return text;
}

/// Returns the name of a parameter, which is the last word: `a` in `global float* restrict a[4]`.
std::string name_of(Tokens parameter) {
  std::string name;
  for (const Token& token : parameter) {
    if (token.is("[") || token.is("__attribute__")) break;
    if (token.is("(")) return "";  // a macro with arguments makes the parameter
    if (token.kind == TokenKind::word) name = token.text;
  }
  return parameter.size() > 1 ? name : "";
}

std::vector<Parameter> parameters_of(Tokens between) {
  std::vector<Parameter> parameters;
  for (const Tokens parameter : split_arguments(between)) {
    parameters.push_back({.text = joined(parameter), .name = name_of(parameter)});
  }
  if (parameters.size() == 1 && parameters[0].text == "void") parameters.clear();
  return parameters;
}

/// Returns the functions with a body. The search stops at the first brackets that do not match, for
/// instance because branches of #if contain different brackets.
std::vector<Function> find_functions(const Lexed& lexed) {
  const Tokens code = lexed.code;
  const std::set<std::string_view> qualifiers = kernel_qualifiers(lexed);
  std::vector<Function> functions;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    // The braces of `extern "C" {` do not enclose a function's body. Only C++ compilers read these
    // braces.
    const bool is_linkage = i >= 2 && code[i].is("{") && code[i - 2].is("extern") &&
                            code[i - 1].kind == TokenKind::quoted;
    if (is_linkage || code[i].is(";") || code[i].is("}")) begin = i + 1;
    if (is_linkage || !code[i].is("{")) continue;
    std::optional<Function> function = function_before(code, begin, i);
    const std::size_t close = closing_bracket(code, i);
    if (close == code.size()) break;
    i = close;
    if (!function) continue;
    function->body_close = close;
    const Tokens declared = code.subspan(begin, function->parameters_open - 1 - begin);
    function->is_kernel = std::any_of(declared.begin(), declared.end(), [&](const Token& token) {
      return token.kind == TokenKind::word && qualifiers.contains(token.text);
    });
    function->may_be_kernel = function->is_kernel ||
                              std::any_of(declared.begin(), declared.end(), [](const Token& token) {
                                return token.kind == TokenKind::word && !is_keyword(token.text);
                              });
    functions.push_back(*function);
    begin = close + 1;
  }
  return functions;
}

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
          // A macro can write through each of its parameters, because the compiler inserts the
          // arguments themselves.
          .are_pointers = std::vector<bool>(macro.parameters.size(), true)};
}

}  // namespace

std::vector<Tokens> split_arguments(Tokens between) {
  std::vector<Tokens> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < between.size(); ++i) {
    if (between[i].is("(") || between[i].is("[") || between[i].is("{")) ++depth;
    if (between[i].is(")") || between[i].is("]") || between[i].is("}")) --depth;
    if (depth != 0 || !between[i].is(",")) continue;
    parts.push_back(between.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (!between.empty()) parts.push_back(between.subspan(begin));
  return parts;
}

Reach::Reach(const Program& program, std::string_view kernel) {
  texts_.reserve(1 + program.sources.size());
  texts_.push_back(lex(definitions_in(program.options)));
  for (const std::string& text : program.sources) texts_.push_back(lex(text));
  bool is_there = false;
  for (const Lexed& lexed : texts_) {
    add_type_names(lexed.code);
    for (const Function& function : find_functions(lexed)) {
      // The requested function counts as a kernel even if its qualifier has an unknown name.
      is_there = is_there || (function.may_be_kernel && function.name == kernel);
      known_.emplace(function.name, part_of(lexed, function));
    }
    for (const Macro& macro : lexed.macros) known_.emplace(macro.name, part_of(macro));
  }
  if (!is_there) return;
  visit(kernel);
  bool reaches_all = false;
  // The loop uses an index, because visits may add elements to `parts_`.
  for (std::size_t i = 0; i != parts_.size(); ++i) {  // NOLINT(modernize-loop-convert)
    const Part part = parts_[i];
    for (const Tokens tokens : {part.signature, part.body}) {
      for (const Token& token : tokens) {
        if (token.kind == TokenKind::word) visit(token.text);
        // The operator ## can make any name, so the kernel may reach all functions and macros.
        if (!token.is("##") || reaches_all) continue;
        reaches_all = true;
        for (const auto& each : known_) visit(each.first);
      }
    }
  }
}

const Part* Reach::reached(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? nullptr : &parts_[found->second];
}

void Reach::add_type_names(Tokens code) {
  bool is_typedef = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].is("typedef")) is_typedef = true;
    if (!is_typedef || !code[i].is(";")) continue;
    // Members of a struct in a typedef count as types as well. The result is too many casts rather
    // than too few.
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
  if (begin == end || !indices_.emplace(name, parts_.size()).second) return;
  for (auto each = begin; each != end; ++each) parts_.push_back(each->second);
}

std::vector<KernelPosition> find_kernels(std::string_view text, std::string_view kernel) {
  const Lexed lexed = lex(text);
  const Tokens code = lexed.code;
  std::vector<KernelPosition> kernels;
  for (const Function& function : find_functions(lexed)) {
    const bool is_launched = function.may_be_kernel && function.name == kernel;
    if (!function.is_kernel && !is_launched) continue;
    const std::size_t first = function.parameters_open + 1;
    kernels.push_back(
        {.name = std::string(function.name),
         .parameters = parameters_of(code.subspan(first, function.parameters_close - first)),
         .parameters_begin = code[function.parameters_open].end,
         .parameters_end = code[function.parameters_close].begin,
         .body_begin = code[function.body_open].end,
         .body_end = code[function.body_close].begin});
  }
  return kernels;
}

}  // namespace clprobe::prelude
