// SPDX-License-Identifier: Apache-2.0
// Functions and macros that a kernel can reach in the text of a program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/prelude/lexer.hpp"

namespace clprobe::prelude {

/// Function or macro of a program.
struct Part {
  std::string_view name{};
  bool is_macro{false};
  bool is_conditional{false};  ///< true if the definition stands between an #if and its #endif
  Tokens signature{};          ///< tokens between the parentheses of a function's declaration
  Tokens body{};  ///< tokens between the braces of a function, or the replacement of a macro
  std::vector<std::string_view> parameters{};
  /// True for each parameter through which the function or macro can write.
  std::vector<bool> are_pointers{};
};

/// Returns the arguments between two brackets: the tokens, split at the commas.
std::vector<Tokens> split_arguments(Tokens between);

class Reach {
 public:
  Reach(const Program& program, std::string_view kernel);

  /// Returns the kernel, followed by all functions and macros that the kernel can reach in any
  /// branch of #if. Empty if the program has no such kernel.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// True if the program defines a function or macro with this name, reached or not.
  [[nodiscard]] bool defines(std::string_view name) const { return known_.contains(name); }
  /// True if a definition of this name stands outside all #if.
  [[nodiscard]] bool defines_always(std::string_view name) const;
  /// True if this name in parentheses may be a cast: a keyword, a type, or a name of the program.
  [[nodiscard]] bool is_type(std::string_view name) const;
  [[nodiscard]] const Part* reached(std::string_view name) const;
  [[nodiscard]] const std::vector<Lexed>& texts() const { return texts_; }

 private:
  void add_type_names(Tokens code);
  void visit(std::string_view name);

  std::vector<Lexed> texts_{};
  std::multimap<std::string_view, Part> known_{};
  std::set<std::string_view> type_names_{};
  std::vector<Part> parts_{};
  /// Index in `parts_` of the first function or macro with each name.
  std::map<std::string_view, std::size_t> indices_{};
};

}  // namespace clprobe::prelude
