// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "clprobe/simulated.hpp"

namespace clprobe {

/// Fills in what `work.given` stands for: the share of its first `work.units` units, and
/// its witness.
/// Throws DeviceError where it is not among the traces.
void run_given(SimulatedWork& work, const std::vector<AskedTrace>& traces,
               const simulator::Machine& machine);

}  // namespace clprobe
