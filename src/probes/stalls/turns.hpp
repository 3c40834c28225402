// SPDX-License-Identifier: Apache-2.0
// How long the loops of cl/stalls.cl are. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

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

/// How long a launch is to take, and how many iterations it may have.
struct Length {
  std::uint64_t target_ns{0};
  std::uint64_t few{1};
  std::uint64_t most{1};
  bool begins_cold{false};  ///< the start of a launch is long beside a few iterations
};

/// As many iterations as take so long, when so many of them took what the sample says.
inline std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t count,
                                    const Sample& sample) {
  // An event that says less than this of what the host waited is none of the launch.
  constexpr std::uint64_t min_share = 16;
  const std::uint64_t event_ns = sample.event_ns.value_or(0);
  const std::uint64_t taken_ns = event_ns > sample.host_ns / min_share ? event_ns : sample.host_ns;
  return taken_ns == 0 ? count : target_ns * count / taken_ns;
}

/// As many iterations as make a launch so long. Of a few the start of the launch and loads into
/// caches that begin empty may be most: on an H200 launches of a kernel that waits for little were
/// a fifth as long as they were to be, and 1.3 % of the time of the kernel that waits was taken for
/// what no cause explains.
inline std::uint64_t fitting_iterations(const Length& length,
                                        const std::function<Sample(std::uint64_t)>& run) {
  const auto fitted_to = [&](std::uint64_t count) {
    return std::clamp(iterations_for(length.target_ns, count, run(count)), length.few,
                      std::max(length.few, length.most));
  };
  const std::uint64_t first = fitted_to(length.few);
  return length.begins_cold && first > length.few ? fitted_to(first) : first;
}

}  // namespace clprobe::stalls
