// SPDX-License-Identifier: Apache-2.0
// What of a program's text one of its kernels can run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/prelude.hpp"
#include "prelude/lexer.hpp"

namespace clprobe::prelude {

/// A function or a macro.
struct Part {
  std::string_view name{};
  bool is_macro{false};
  bool is_conditional{false};  ///< stands between an #if and its #endif
  Tokens signature{};          ///< between the parentheses of a function
  Tokens body{};               ///< between its braces; all that a macro stands for
  std::vector<std::string_view> parameters{};
  std::vector<bool> are_pointers{};  ///< whether the function can write by way of a parameter
};

/// Where commas part what is between two brackets: the ranges between them.
std::vector<Tokens> split_arguments(Tokens between);

class Reach {
 public:
  Reach(const Program& program, std::string_view kernel);

  /// The kernel, first, and what it can reach, in either branch of each #if. Empty where there is
  /// no such kernel.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// Functions and macros that the program has of this name, reached or not.
  [[nodiscard]] bool defines(std::string_view name) const { return known_.contains(name); }
  /// The same, in no branch that a compiler may leave out.
  [[nodiscard]] bool defines_always(std::string_view name) const;
  /// A keyword's, a macro's or one that typedef makes: a word in parentheses that is a cast.
  [[nodiscard]] bool is_type(std::string_view name) const;
  [[nodiscard]] const Part* reached(std::string_view name) const;
  [[nodiscard]] const std::vector<Lexed>& texts() const { return texts_; }

 private:
  void add_text(std::string_view text);
  void add_type_names(Tokens code);
  void visit(std::string_view name);

  std::vector<Lexed> texts_{};
  std::multimap<std::string_view, Part> known_{};
  std::set<std::string_view> type_names_{};
  std::vector<Part> parts_{};
  std::map<std::string_view, std::size_t> places_{};  ///< of the first part of a name
};

}  // namespace clprobe::prelude
