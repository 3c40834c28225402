// SPDX-License-Identifier: Apache-2.0
// Memory levels from a latency curve.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe {

/// One point of a latency curve: the working set, and the time of one access in any unit.
struct CurvePoint {
  double working_set_bytes{0.0};
  double latency{0.0};
};

/// A capacity as a pointer chase sees it: `bytes` is the working set where 5 % of the accesses miss
/// (interpolated), `low` the last measured one that is surely before it, `high` the first measured
/// one where at least half of them miss.
struct Capacity {
  double bytes{0.0};
  double low{0.0};
  double high{0.0};
};

/// One plateau of the curve, nearest first.
struct Level {
  double latency{0.0};          ///< median of the plateau, in the curve's unit
  Interval latency_interval{};  ///< 95 %: of its points' median, and of that of each half of them
  Interval spread{};            ///< 5 % and 95 % quantile of its points
  /// Absent for the last level, unless the curve still rises behind it: then `high` and `bytes`
  /// rest on the last point's latency, which is less than that of the next level.
  std::optional<Capacity> capacity{};
  bool is_shelf{false};  ///< a gentle slope between two steep ones, no flat plateau
};

/// Splits the curve into flat and sloped pieces by optimal partitioning in (ln size, ln latency)
/// and keeps the plateaus. Source: the segmentation of docs/method.md. Points in any order; needs
/// at least 3, else no levels.
std::vector<Level> find_levels(std::span<const CurvePoint> points);

/// Finds levels as `find_levels` does, from times of a byte. Where these rise slowly, a part of
/// each working set hits a nearer cache: that is no level, while a latency that creeps
/// (translation) is one.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> points);

/// The smallest of the measured working sets that is surely faster than the first of `levels`,
/// where there is one: then a nearer level was measured and has no plateau. None without levels.
std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels);

/// Working-set sizes that should be added so that neighbouring sizes are at most `ratio` apart
/// around every knee of the curve, rising. Not rounded; none when `ratio` is not above 1.
std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio);

/// Cause of the rise in latency from one level to the next. `cache_or_far`: a cache ends, or only
/// the near half of one.
enum class StepKind { cache, cache_or_far, translation, unknown };

/// Tells a cache from a translation (TLB) step by a second curve with one node per page: a step at
/// the same byte footprint although far fewer lines are touched is translation reach.
/// `step_bytes` is where the rise of the first curve lies; `before` and `after` its latencies. The
/// second curve needs 2 points from 1/4 to 1/1.4 of that size and 2 from 1.4 to 4 times it, in the
/// same unit, with `working_set_bytes` as the bytes spanned, not the bytes touched.
StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page);

/// True if a level and the next one may be the near and the far half of one cache: then the next
/// one ends at twice the size, within the brackets, or beyond `largest_bytes`, the largest working
/// set, and takes at most 3 times as long. A curve alone cannot tell such halves from two caches.
bool may_be_halves(const Level& here, const Level& next, double largest_bytes);

std::string_view to_word(StepKind kind);

}  // namespace clprobe
