// SPDX-License-Identifier: Apache-2.0
// How long the loops of cl/stalls.cl are. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clprobe/run.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stalls {

/// Of a work-item, all loops together.
struct Turns {
  std::uint64_t first{0};       ///< before the iterations
  std::uint64_t iteration{1};   ///< of one iteration, with itself
  std::uint64_t iterations{1};  ///< of a launch, at most

  [[nodiscard]] std::uint64_t total() const { return first + iteration * iterations; }
};

/// As many iterations as leave all loops whole: where a driver may cut them the inner ones count,
/// too.
inline Turns fitted(const DeviceInfo& device, Turns turns) {
  turns.iterations = max_iterations;
  if (may_cut_loops(device)) {
    const std::uint64_t room = max_iterations - std::min(max_iterations, turns.first);
    turns.iterations = std::max<std::uint64_t>(1, room / turns.iteration);
  }
  return turns;
}

}  // namespace clprobe::stalls
