// SPDX-License-Identifier: Apache-2.0
// What single words of OpenCL C are, whatever stands around them.
#pragma once

#include <initializer_list>
#include <string_view>

#include "prelude/lexer.hpp"

namespace clprobe::prelude {

/// Whether the word is a type's or a qualifier's, or a keyword.
bool is_keyword(std::string_view word);

/// The first word that is no type and no qualifier: of `&((global int*)a)[i]` that is `a`.
std::string_view find_root(Tokens expression);

/// Whether it may be the name of an atomic.
bool is_atomic(std::string_view word);

/// Whether a condition in parentheses stands behind it.
bool has_condition(const Token& token);

/// Whether one of the words, or signs, is among the tokens.
bool has_any(Tokens tokens, std::initializer_list<std::string_view> words);

}  // namespace clprobe::prelude
