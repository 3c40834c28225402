// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "clprobe/embedded.hpp"
#include "clprobe/prelude.hpp"

namespace clprobe::prelude {

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
      "#define CLP_FUNCTIONS {:d}\n{}{}#line 1\n",
      switches.barriers, switches.atomics, fences, switches.without_functions, lanes,
      embedded_file("prelude.clh"));
}

}  // namespace clprobe::prelude
