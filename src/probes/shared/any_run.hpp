// SPDX-License-Identifier: Apache-2.0
// Intervals of what depends on the host's state.
#pragma once

#include <algorithm>

#include "clprobe/statistics.hpp"

namespace clprobe {

/// Of what the host does itself: its state differs more between runs of a machine than within one.
/// In five runs with an H200 start-ups of transfers went from 8.3 to 10.6 us, pageable transfers
/// from 6.8 to 10.1 GB/s, and in seven a launch in a queue from 3.6 to 5.3 us.
inline constexpr double host_share = 0.2;

/// An interval that holds at least so large a share of the value on both sides of it.
inline Interval of_any_run(const Interval& interval, double value, double share = host_share) {
  return {std::min(interval.low, (1.0 - share) * value),
          std::max(interval.high, (1.0 + share) * value)};
}

}  // namespace clprobe
