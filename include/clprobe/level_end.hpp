// SPDX-License-Identifier: Apache-2.0
// Where a level ends on two sides that are measured in turns: how far apart the ends are, from the
// times at a few sizes, relative to those in the level and in the next one. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/levels.hpp"

namespace clprobe {

/// The share of loads that a level no longer serves, from the times of a load: at a size, in the
/// level and in the next one. At least 0 and at most 1.
double missed_share(double time, double level, double next);

/// That share by size, as a first look saw it. Sizes are natural logarithms. Larger sizes have no
/// smaller shares: where the look says so, the mean counts.
class MissCurve {
 public:
  /// `level` and `next`: what a load takes in both, in the unit of the points.
  MissCurve(std::span<const CurvePoint> points, double level, double next);

  /// Between measured sizes on a line, and beyond them as at the last one.
  [[nodiscard]] double at(double size) const;
  /// The middle of the sizes with that share, on lines between the measured ones.
  [[nodiscard]] double size_of(double share) const;
  /// Where a tenth of the loads miss, and where nine tenths do.
  [[nodiscard]] double begin() const { return size_of(0.1); }
  [[nodiscard]] double end() const { return size_of(0.9); }
  /// Whether it has both.
  [[nodiscard]] bool is_whole() const;

 private:
  std::vector<double> sizes_{};
  std::vector<double> shares_{};
};

/// Which of `sizes` (rising) show where the level ends on two sides: one to three, where a quarter,
/// a half and three quarters of the loads miss in the mean of both; or, where all of one side's
/// loads miss before the other's begin to, of those in between the first, the middle and the last.
std::vector<double> sizes_of_end(const std::array<MissCurve, 2>& curves,
                                 std::span<const double> sizes);

/// How far apart two ends are, as one round saw it.
struct EndsApart {
  double log_ratio{0.0};  ///< of the other side's size to the baseline's
  bool is_bound{false};   ///< one side ends beyond all sizes: they are at least as far apart
};

/// The end of a level on two sides, and the sizes at which it is followed.
class LevelEnd {
 public:
  /// `sizes` rise.
  LevelEnd(std::array<MissCurve, 2> curves, std::vector<double> sizes);

  /// From both sides' missed shares at the sizes, taken in one round: the two curves are moved
  /// along the axis of sizes until they have as many misses as were seen there, each of them for
  /// each side, and how far the two are apart then is the mean of what both curves say. Nothing
  /// where both sides end beyond the same end of the sizes.
  [[nodiscard]] std::optional<EndsApart> compare(std::span<const double> baseline,
                                                 std::span<const double> other) const;

  /// As a logarithm: ends that are no farther apart may look alike, or as far apart as this, where
  /// the rise from one level to the next is so short that it fits between two of the sizes.
  [[nodiscard]] double resolution() const;

  [[nodiscard]] std::span<const double> sizes() const { return sizes_; }

 private:
  struct Moved {
    double by{0.0};
    int beyond{0};  ///< the end of the sizes that it left: -1 the small one, 1 the large one
  };
  [[nodiscard]] Moved move(const MissCurve& curve, double misses) const;

  std::array<MissCurve, 2> curves_;
  std::vector<double> sizes_;
};

}  // namespace clprobe
