// SPDX-License-Identifier: Apache-2.0
// What makes the latency rise from one level to the next.
#include <algorithm>

#include "clprobe/levels.hpp"

namespace clprobe {

StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page) {
  // Near enough to mean this step, far enough to be beyond the knee itself.
  constexpr double nearest = 1.4;
  constexpr double farthest = 4.0;
  std::vector<double> below;
  std::vector<double> above;
  for (const CurvePoint& point : one_node_per_page) {
    const double ratio = point.working_set_bytes / step_bytes;
    if (ratio >= 1.0 / farthest && ratio <= 1.0 / nearest) below.push_back(point.latency);
    if (ratio >= nearest && ratio <= farthest) above.push_back(point.latency);
  }
  if (!(after > before) || below.size() < 2 || above.size() < 2) return StepKind::unknown;
  const double rise = (median(above) - median(below)) / (after - before);
  if (rise >= 0.5 && rise <= 2.0) return StepKind::translation;
  return rise <= 0.2 ? StepKind::cache : StepKind::unknown;
}

bool may_be_halves(const Level& here, const Level& next, double largest_bytes) {
  // The way to the far half costs about as much as the near one: 1.8 to 2 times the latency on
  // NVIDIA's A100 to H200.
  constexpr double max_ratio = 3.0;
  if (!here.capacity || next.latency > max_ratio * here.latency) return false;
  // Not measured far enough to see the whole end.
  if (!next.capacity) return largest_bytes < 2.0 * here.capacity->high;
  return next.capacity->low <= 2.0 * here.capacity->high &&
         next.capacity->high >= 2.0 * here.capacity->low;
}

std::string_view to_word(StepKind kind) {
  switch (kind) {
    case StepKind::cache:
      return "cache";
    case StepKind::cache_or_far:
      return "cache-or-far";
    case StepKind::translation:
      return "translation";
    case StepKind::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace clprobe
