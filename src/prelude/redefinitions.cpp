// SPDX-License-Identifier: Apache-2.0
// Definitions of a program's own that would take the place of ours.
#include <algorithm>

#include "clprobe/prelude.hpp"
#include "includes/directives.hpp"
#include "includes/letters.hpp"
#include "prelude/renamed.hpp"

namespace clprobe::prelude {
namespace {

bool is_renamed(std::string_view name) {
  return std::find(renamed.begin(), renamed.end(), name) != renamed.end() ||
         std::find(renamed_by_entry.begin(), renamed_by_entry.end(), name) !=
             renamed_by_entry.end();
}

}  // namespace

std::string without_redefinitions(std::string_view text) {
  std::string kept;
  std::size_t begin = 0;
  for (const includes::Directive& each : includes::scan(text).directives) {
    if (each.name != "define" && each.name != "undef") continue;
    const std::string_view name = includes::first_word(each.rest);
    if (!is_renamed(name)) continue;
    kept += text.substr(begin, each.begin - begin);
    kept += "#error the program defines ";
    kept += name;
    kept += " itself";
    kept.append(each.last_line - each.first_line, '\n');
    begin = each.end;
  }
  kept += text.substr(begin);
  return kept;
}

}  // namespace clprobe::prelude
