// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "fleet/api/fleet.hpp"

namespace clprobe::fleet {

int run() { throw std::runtime_error("fleet run is not built yet"); }

}  // namespace clprobe::fleet
