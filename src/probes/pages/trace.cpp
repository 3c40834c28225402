// SPDX-License-Identifier: Apache-2.0
#include "probes/pages/pages.hpp"
#include "probes/shared/ring_trace.hpp"

namespace clprobe::pages {

SimulatedWork trace(const simulator::Machine& machine, const Point& point) {
  return trace_ring(machine, point);
}

}  // namespace clprobe::pages
