// SPDX-License-Identifier: Apache-2.0
// Which segments of a latency curve are levels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/segmentation.hpp"

namespace clprobe::analysis {

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

/// What a slow rise from one plateau to the next shows: one level that creeps, or no level before
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
