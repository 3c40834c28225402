// SPDX-License-Identifier: Apache-2.0
// The functions of a text, found by their brackets.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "prelude/lexer.hpp"

namespace clprobe::prelude {

/// Places in the tokens of the text.
struct Function {
  std::string_view name{};
  bool is_kernel{false};
  bool may_be_kernel{false};  ///< it is, or has a qualifier that only a macro elsewhere explains
  std::size_t begin{0};       ///< of the declaration: attributes and qualifiers
  std::size_t parameters_open{0};  ///< the parenthesis
  std::size_t parameters_close{0};
  std::size_t body_open{0};  ///< the brace
  std::size_t body_close{0};
};

/// Those with a body. Where brackets do not match, in one branch of an #if for instance, nothing
/// from there on is found.
std::vector<Function> find_functions(const Lexed& lexed);

/// Where commas part what is between two brackets: the ranges between them.
std::vector<Tokens> split_arguments(Tokens between);

}  // namespace clprobe::prelude
