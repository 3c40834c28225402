// SPDX-License-Identifier: Apache-2.0
// Every way in which cl/stalls.cl may be built.
#pragma once

#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::stalls {

/// For compilers of devices that are not here.
std::vector<KernelVariant> variants();

}  // namespace clprobe::stalls
