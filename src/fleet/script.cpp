// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "fleet/api/fleet.hpp"

namespace clprobe::fleet {

int script() { throw std::runtime_error("fleet script is not built yet"); }

}  // namespace clprobe::fleet
