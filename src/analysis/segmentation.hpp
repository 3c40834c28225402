// SPDX-License-Identifier: Apache-2.0
// Optimal partitioning of a latency curve into flat and sloped segments, in logarithms, where a
// cache of any size is equally wide and noise in per cent equally high; and which segments are
// levels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/api/estimate.hpp"

namespace clprobe::analysis {

/// x = ln working set, strictly increasing; y = ln latency. Equally long.
struct LogCurve {
  std::vector<double> x{};
  std::vector<double> y{};
};

/// Sorts, drops what has no logarithm, and keeps the least latency of each size: noise only adds.
LogCurve to_log_curve(std::span<const CurvePoint> curve);

/// Standard deviation of the noise in y, from the distance of each point to the line through its
/// neighbours. 0 when there are fewer than 3 points.
double noise_of(const LogCurve& curve);

/// Drops spikes of one or two points that stand out of both sides by more than `min_height`. A
/// rising curve loses nothing, however steep, since only a fall after the rise makes a spike.
LogCurve without_spikes(const LogCurve& curve, double min_height);

/// Drops single points that are lower by more than `min_height` than the two before and the two
/// after them, as far as there are any. The first stays. A larger working set cannot be faster.
LogCurve without_dips(const LogCurve& curve, double min_height);

/// The nearest curve that never falls (isotonic regression, pool adjacent violators). A larger
/// working set cannot be faster; where it seems to be (slices, noise modes), the mean is the level.
LogCurve monotone(const LogCurve& curve);

enum class SegmentKind { flat, ramp };

/// Points [first, last], both included, and the line through them.
struct Segment {
  SegmentKind kind{SegmentKind::flat};
  std::size_t first{0};
  std::size_t last{0};
  double slope{0.0};    ///< d ln latency / d ln size; 0 when flat
  double y_first{0.0};  ///< the line at `first`
  double y_last{0.0};   ///< the line at `last`

  [[nodiscard]] std::size_t count() const { return last - first + 1; }
};

/// The partition with the least sum of squared residuals / sigma^2 plus a price for each segment
/// (2 ln n flat, 3 ln n ramp: the Bayesian information criterion with one position each).
/// Dynamic programming, O(n^2) (Jackson et al. 2005). `sigma` must be positive.
std::vector<Segment> partition(const LogCurve& curve, double sigma);

// Curves are smoother than models are right: slices of a cache, sets and pages leave structure of
// about 1 %, which no further sample removes.
inline constexpr double min_sigma = 0.01;
// Two plateaus are two levels when they differ by more than 10 % and the rise in between is
// steeper than translation creep. A cache of any policy rises from 5 % to 95 % misses within a
// factor of 3 in size.
inline constexpr double min_ratio = 0.0953;  // ln 1.1

/// Segments of one height.
struct Plateau {
  std::vector<Segment> members{};
  bool is_shelf{false};
  bool is_slope{false};  ///< on the way to the next one, and no level

  [[nodiscard]] std::size_t first() const { return members.front().first; }
  [[nodiscard]] std::size_t last() const { return members.back().last; }
};

/// Meaning of a slow rise from one plateau to the next: one level that creeps, or no level before
/// the last one.
enum class SlowRise { one_level, no_level };

/// In ln size.
double span_of(const LogCurve& curve, const Segment& segment);

/// ln latency of its points.
std::vector<double> latencies(const LogCurve& curve, const Plateau& plateau);

/// Their median.
double height(const LogCurve& curve, const Plateau& plateau);

/// Nearest first. `sigma` is the noise of the whole curve; `slow`: what a slow rise between two is.
std::vector<Plateau> find_plateaus(const LogCurve& curve, std::span<const Segment> segments,
                                   double sigma, SlowRise slow);

}  // namespace clprobe::analysis
