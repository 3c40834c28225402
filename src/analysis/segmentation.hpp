// SPDX-License-Identifier: Apache-2.0
// Optimal partitioning of a latency curve into flat and sloped segments, and the selection of the
// segments that are levels. In logarithms, caches of all sizes are equally wide, and relative noise
// is equally high.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/api/estimate.hpp"

namespace clprobe::analysis {

/// x = ln working set, strictly increasing; y = ln latency. Both have the same length.
struct LogCurve {
  std::vector<double> x{};
  std::vector<double> y{};
};

/// Returns the sorted curve of positive finite values, with the smallest latency of each size,
/// since noise only increases latencies.
LogCurve to_log_curve(std::span<const CurvePoint> curve);

/// Returns the standard deviation of the noise in y, from the distance of each point to the line
/// through its neighbours; 0 for fewer than 3 points.
double noise_of(const LogCurve& curve);

/// Removes spikes of one or two points that exceed both sides by more than `min_height`. Keeps all
/// points of a rising curve, since a spike requires a fall after the rise.
LogCurve without_spikes(const LogCurve& curve, double min_height);

/// Removes single points that are more than `min_height` below the two points before and after
/// them, since a larger working set cannot be faster. Keeps the first point.
LogCurve without_dips(const LogCurve& curve, double min_height);

/// Returns the nearest curve that never falls (isotonic regression, pool adjacent violators). A
/// larger working set cannot be faster; where it seems to be (slices, noise modes), the mean is the
/// level.
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

/// Returns the partition with the smallest sum of squared residuals / sigma^2 plus a price per
/// segment (2 ln n flat, 3 ln n ramp: the Bayesian information criterion with one position each).
/// Dynamic programming, O(n^2) (Jackson et al. 2005). `sigma` must be positive.
std::vector<Segment> partition(const LogCurve& curve, double sigma);

// Minimum noise of a model. Slices, sets and pages of a cache cause structure of about 1 %, which
// more samples do not remove.
inline constexpr double min_sigma = 0.01;
// Minimum rise between two levels. The rise must also be steeper than translation creep. A cache of
// any policy rises from 5 % to 95 % misses within a factor of 3 in size.
inline constexpr double min_ratio = 0.0953;  // ln 1.1

/// Segments of one height.
struct Plateau {
  std::vector<Segment> members{};
  bool is_shelf{false};
  bool is_slope{false};  ///< true if the curve rises to the next plateau, so that this is no level

  [[nodiscard]] std::size_t first() const { return members.front().first; }
  [[nodiscard]] std::size_t last() const { return members.back().last; }
};

/// Meaning of a slow rise between two plateaus: one creeping level, or no level before the last
/// plateau.
enum class SlowRise { one_level, no_level };

/// Returns the width of a segment in ln size.
double span_of(const LogCurve& curve, const Segment& segment);

/// Returns ln latency of the plateau's points.
std::vector<double> latencies(const LogCurve& curve, const Plateau& plateau);

/// Returns the median of ln latency of the plateau's points.
double height(const LogCurve& curve, const Plateau& plateau);

/// Returns the plateaus, nearest first. `sigma` is the noise of the whole curve; `slow` the meaning
/// of slow rises.
std::vector<Plateau> find_plateaus(const LogCurve& curve, std::span<const Segment> segments,
                                   double sigma, SlowRise slow);

}  // namespace clprobe::analysis
