// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "clprobe/prelude.hpp"
#include "prelude/functions.hpp"
#include "prelude/words.hpp"

namespace clprobe::prelude {
namespace {

/// `kernel`, and macros that stand for it (hashcat's KERNEL_FQ).
std::set<std::string_view> kernel_qualifiers(const Lexed& lexed) {
  std::set<std::string_view> qualifiers{"kernel", "__kernel"};
  // A macro that stands for such a macro may be defined before it. Nobody nests them deeper.
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

/// The function whose body opens at `brace`, if it is one: NAME ( ... ) ATTRIBUTES {
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

/// Its last word: of `global float* restrict a[4]` that is `a`.
std::string name_of(Tokens parameter) {
  std::string name;
  for (const Token& token : parameter) {
    if (token.is("[") || token.is("__attribute__")) break;
    if (token.is("(")) return "";  // a macro's arguments
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

std::vector<Function> find_functions(const Lexed& lexed) {
  const Tokens code = lexed.code;
  const std::set<std::string_view> qualifiers = kernel_qualifiers(lexed);
  std::vector<Function> functions;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    // `extern "C" {` for C++, which no compiler of OpenCL C reads: what is between is not inside.
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

std::vector<KernelPlace> find_kernels(std::string_view text, std::string_view kernel) {
  const Lexed lexed = lex(text);
  const Tokens code = lexed.code;
  std::vector<KernelPlace> kernels;
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
