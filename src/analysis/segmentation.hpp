// SPDX-License-Identifier: Apache-2.0
// Optimal partitioning of a latency curve into flat and sloped segments, and the selection of the
// segments that are levels. The curve is analysed in logarithms, in which caches of all sizes have
// similar widths, and relative noise has the same height everywhere.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/api/estimate.hpp"

namespace clprobe::analysis {

/// Latency curve in logarithms: x = ln working set, strictly increasing; y = ln latency. `x` and
/// `y` have the same length.
struct LogCurve {
  std::vector<double> x{};
  std::vector<double> y{};
};

/// Returns the curve sorted by size, without values that are not positive and finite. Of equal
/// sizes, it keeps the smallest latency, since noise only increases latencies. Reduces curves of
/// more than 2048 points to medians of neighbouring points.
LogCurve to_log_curve(std::span<const CurvePoint> curve);

/// Returns the standard deviation of the noise in y; 0 for fewer than 3 points. The estimate uses
/// the distance of each point to the line through its two neighbours.
double noise_of(const LogCurve& curve);

/// Removes spikes of one or two points that are more than `min_height` above the curve on both
/// sides. A rising curve keeps all points, since a spike ends with a fall.
LogCurve without_spikes(const LogCurve& curve, double min_height);

/// Removes single points that are more than `min_height` below the two points before and the two
/// points after. A larger working set cannot be faster. Keeps the first point.
LogCurve without_dips(const LogCurve& curve, double min_height);

/// Returns the closest curve that never falls (isotonic regression, pool adjacent violators). A
/// larger working set cannot be faster. Where the curve falls, because of cache slices or noise,
/// the result is the mean.
LogCurve monotone(const LogCurve& curve);

enum class SegmentKind { flat, ramp };

/// The points from `first` to `last`, both included, and the line through these points.
struct Segment {
  SegmentKind kind{SegmentKind::flat};
  std::size_t first{0};
  std::size_t last{0};
  double slope{0.0};    ///< d ln latency / d ln size; 0 when flat
  double y_first{0.0};  ///< height of the line at `first`
  double y_last{0.0};   ///< height of the line at `last`

  [[nodiscard]] std::size_t count() const { return last - first + 1; }
};

/// Returns the partition that minimises the sum of squared residuals / sigma^2 plus the costs of
/// the segments. With n points, a flat segment costs 2 ln n and a ramp 3 ln n (Bayesian information
/// criterion). Dynamic programming, O(n^2) (Jackson et al. 2005). `sigma` must be positive.
std::vector<Segment> partition(const LogCurve& curve, double sigma);

// Minimum noise of a model, in y. The slices, sets and pages of a cache cause structure of about 1
// %, which more samples do not remove.
inline constexpr double min_sigma = 0.01;
// Minimum rise in y between two levels. The rise must also be steeper than the slow rise by address
// translation. With any replacement policy, the misses of a cache rise from 5 % to 95 % within a
// factor of 3 in size.
inline constexpr double min_ratio = 0.0953;  // ln 1.1

/// Consecutive segments that form one level.
struct Plateau {
  std::vector<Segment> members{};
  bool is_shelf{false};
  /// True if the plateau is only the slope towards the next plateau, and not a level.
  bool is_slope{false};

  [[nodiscard]] std::size_t first() const { return members.front().first; }
  [[nodiscard]] std::size_t last() const { return members.back().last; }
};

/// Meaning of a slow rise between two plateaus. `one_level`: both plateaus are one slowly rising
/// level. `no_level`: only the second plateau is a level.
enum class SlowRise { one_level, no_level };

/// Returns the width of a segment in ln size.
double span_of(const LogCurve& curve, const Segment& segment);

/// Returns ln latency of each point of the plateau.
std::vector<double> latencies(const LogCurve& curve, const Plateau& plateau);

/// Returns the median of ln latency of the plateau's points.
double height(const LogCurve& curve, const Plateau& plateau);

/// Returns the plateaus of a curve, fastest first, including those that are only slopes. `sigma` is
/// the noise of the whole curve; `slow` is the meaning of slow rises.
std::vector<Plateau> find_plateaus(const LogCurve& curve, std::span<const Segment> segments,
                                   double sigma, SlowRise slow);

}  // namespace clprobe::analysis
