// SPDX-License-Identifier: Apache-2.0
// How long a probe is likely to take, for those who wait.
#pragma once

#include "clprobe/budget.hpp"

namespace clprobe {

/// Whether a budget is a limit that nobody means to reach, as of a probe that has each point once.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// In seconds: the budget, which probes use up; of a limit, what a probe with few points takes.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

}  // namespace clprobe
