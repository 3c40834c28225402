// SPDX-License-Identifier: Apache-2.0
// The first jump of one Thread-Latency curve; a piece of find_spikes (outstanding.hpp).
#pragma once

#include "clprobe/outstanding.hpp"

namespace clprobe {

/// Without the lower bounds, which need all curves of a target.
CurveFinding find_spike(const ThreadLatencyCurve& curve, int sub_group);

}  // namespace clprobe
