// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "clprobe/embedded.hpp"
#include "clprobe/prelude.hpp"

namespace clprobe::prelude {

std::string prelude_text(const Switches& switches) {
  return fmt::format("#define CLP_BARRIERS {:d}\n#define CLP_ATOMICS {:d}\n{}#line 1\n",
                     switches.barriers, switches.atomics, embedded_file("prelude.clh"));
}

}  // namespace clprobe::prelude
