// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "clprobe/embedded.hpp"
#include "clprobe/prelude.hpp"
#include "prelude/special.hpp"

namespace clprobe::prelude {
namespace {

/// In place of each special function a multiplication.
std::string cheap_functions() {
  std::string text;
  for (std::size_t i = 0; i < special_functions.size(); ++i) {
    const bool is_of_two = i + functions_of_two >= special_functions.size();
    text += fmt::format("#undef {0}\n#define {0}({1}) CLP_CHEAP{2}({1})\n", special_functions.at(i),
                        is_of_two ? "x, y" : "x", is_of_two ? "_2" : "");
  }
  return text;
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

}  // namespace clprobe::prelude
