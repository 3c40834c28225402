// SPDX-License-Identifier: Apache-2.0
#include "probes/line/line.hpp"
#include "probes/shared/ring_trace.hpp"

namespace clprobe::line {

SimulatedWork trace(const simulator::Machine& machine, const Point& point) {
  return trace_ring(machine, point);
}

}  // namespace clprobe::line
