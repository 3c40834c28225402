// SPDX-License-Identifier: Apache-2.0
// Functions and macros that a kernel can reach in a program's text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/prelude/lexer.hpp"

namespace clprobe::prelude {

/// Function or macro.
struct Part {
  std::string_view name{};
  bool is_macro{false};
  bool is_conditional{false};  ///< true between an #if and its #endif
  Tokens signature{};          ///< tokens between the parentheses of a function
  Tokens body{};               ///< tokens between the braces; a macro's replacement
  std::vector<std::string_view> parameters{};
  /// True for each parameter through which the function can write.
  std::vector<bool> are_pointers{};
};

/// Splits the tokens between two brackets at the commas.
std::vector<Tokens> split_arguments(Tokens between);

class Reach {
 public:
  Reach(const Program& program, std::string_view kernel);

  /// Returns the kernel, first, and all parts that it can reach in any branch of #if. Empty without
  /// such a kernel.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// True if the program has a function or macro of this name, reached or not.
  [[nodiscard]] bool defines(std::string_view name) const { return known_.contains(name); }
  /// True if a definition of this name is outside all #if.
  [[nodiscard]] bool defines_always(std::string_view name) const;
  /// True for names that form a cast in parentheses: keywords, macros and names from typedef.
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
  std::map<std::string_view, std::size_t> indices_{};  ///< index of the first part of each name
};

}  // namespace clprobe::prelude
