// SPDX-License-Identifier: Apache-2.0
// How long to measure, and how well.
#pragma once

#include <chrono>
#include <cstdint>

namespace clprobe {

/// How much effort a run may spend: fewer sizes and samples, or more.
enum class Effort { quick, normal, thorough };

struct Budget {
  std::chrono::duration<double> probe_time{14.0};  ///< without the first visit
  double relative_interval{0.01};                 ///< a point is done when its interval is narrower
  std::chrono::duration<double> least_time{0.0};  ///< few points are visited again until then
  int min_visits{2};                              ///< visits of a point, spread over the whole run
  int max_visits{5};
  int samples_per_visit{3};
  std::uint64_t seed{42};
};

/// What suits a probe that does not say otherwise.
Budget budget_for(Effort effort);

}  // namespace clprobe
