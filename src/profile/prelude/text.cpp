// SPDX-License-Identifier: Apache-2.0
// Makes the texts that go before a program's text, changes the program's text, and makes launches
// of a kernel with an entry.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profile/api/prelude.hpp"
#include "profile/includes/scan.hpp"
#include "profile/prelude/names.hpp"
#include "text/api/embedded.hpp"

namespace clprobe::prelude {
namespace {

/// Returns macros that replace each special function by a multiplication.
std::string cheap_functions() {
  std::string text;
  for (std::size_t i = 0; i < special_functions.size(); ++i) {
    const bool is_of_two = i + functions_of_two >= special_functions.size();
    text += fmt::format("#undef {0}\n#define {0}({1}) CLP_CHEAP{2}({1})\n", special_functions.at(i),
                        is_of_two ? "x, y" : "x", is_of_two ? "_2" : "");
  }
  return text;
}

bool is_renamed(std::string_view name) {
  return std::find(renamed.begin(), renamed.end(), name) != renamed.end() ||
         std::find(renamed_by_entry.begin(), renamed_by_entry.end(), name) !=
             renamed_by_entry.end();
}

}  // namespace

std::string prelude_text(const Switches& switches) {
  std::string lanes = "#define CLP_LANES 0\n";
  if (switches.lanes) {
    const LaneMasks& masks = *switches.lanes;
    lanes = fmt::format(
        "#define CLP_LANES 1\n#define CLP_LANES_0 {}u\n#define CLP_LANES_1 {}u\n"
        "#define CLP_LANES_2 {}u\n",
        masks[0], masks[1], masks[2]);
  }
  const int fences = !switches.fences ? 0 : switches.assembly ? 2 : 1;
  return fmt::format(
      "#define CLP_BARRIERS {:d}\n#define CLP_ATOMICS {:d}\n#define CLP_FENCES {}\n"
      "#define CLP_FUNCTIONS {:d}\n{}{}{}#line 1\n",
      switches.barriers, switches.atomics, fences, switches.without_functions, lanes,
      embedded_file("prelude.clh"), switches.without_functions ? cheap_functions() : "");
}

std::uint64_t count_all_groups(const NdRange& launch) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  return groups[0] * groups[1] * groups[2];
}

std::string entry_text(const NdRange& launch) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.global.at(d) % launch.local.at(d) == 0) continue;
    throw SettingError(fmt::format("the launch's last groups in dimension {} are smaller", d));
  }
  // Each factor alone first: their product may be beyond 64 bits.
  constexpr std::uint64_t max_groups = std::numeric_limits<std::int32_t>::max();
  if (groups[0] > max_groups || groups[1] > max_groups / groups[0] ||
      groups[2] > max_groups / (groups[0] * groups[1])) {
    throw SettingError("the launch has too many groups");
  }
  return fmt::format(
      "#define CLP_GROUPS_0 {}u\n#define CLP_GROUPS_1 {}u\n#define CLP_GROUPS_2 {}u\n"
      "{}#line 1\n",
      groups[0], groups[1], groups[2], embedded_file("entry.clh"));
}

std::string with_entry(std::string_view text, std::string_view kernel) {
  std::string entered;
  std::size_t begin = 0;
  const auto copy_up_to = [&](std::size_t end) {
    entered += text.substr(begin, end - begin);
    begin = end;
  };
  for (const KernelPlace& each : find_kernels(text, kernel)) {
    if (each.name != kernel) continue;
    copy_up_to(each.parameters_end);
    entered += " CLP_PARAMETERS";
    copy_up_to(each.body_begin);
    entered += " CLP_ENTER ";
  }
  copy_up_to(text.size());
  return entered;
}

NdRange range_of_groups(const NdRange& launch, std::uint64_t groups) {
  NdRange some = launch;
  some.global = launch.local;
  some.global[0] = groups * launch.local[0];
  return some;
}

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
