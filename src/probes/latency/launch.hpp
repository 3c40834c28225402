// SPDX-License-Identifier: Apache-2.0
// A chase as the engine runs it: on a device (launch.cpp), and on the simulator (trace.cpp).
#pragma once

#include "clprobe/probe.hpp"

namespace clprobe::latency {

/// Prepares rings that share one store, one cycle and their small buffers.
Preparer open(Session& session);

/// The same chase for the simulator: the ring was walked once before, then `iterations` of `unroll`
/// hops. Throws Unsupported for memories that no machine has.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::latency
