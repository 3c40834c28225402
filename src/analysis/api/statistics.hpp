// SPDX-License-Identifier: Apache-2.0
// Robust statistics of small samples. All functions are pure, and throw std::invalid_argument for
// an empty range or a value that is not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace clprobe {

struct Interval {
  double low{0.0};
  double high{0.0};

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Converts a whole number to an integer: limited to 2^53 in magnitude, and 0 for NaN. A cast of
/// such values is undefined.
std::int64_t saturated(double whole);

/// Returns the median; of an even number of values, the mean of the two middle ones.
double median(std::span<const double> values);

/// Returns the 95 % interval of the median by the order statistics of the sign test, for any
/// distribution. For fewer than six values: from the smallest to the largest.
Interval median_interval(std::span<const double> values);

/// Returns a quantile by linear interpolation (Hyndman and Fan's type 7). `q` is in [0, 1].
double quantile(std::span<const double> values, double q);

/// Returns the mean of at least one value.
double mean(std::span<const double> values);

/// Returns the sample standard deviation; 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

/// Returns 1.4826 x the median absolute deviation: the standard deviation of normal data.
double scaled_mad(std::span<const double> values);

/// Degrees of freedom treated as infinite.
inline constexpr std::size_t normal_degrees = 0;

/// Returns the 97.5 % quantile of Student's t; of the normal distribution for `normal_degrees`.
double student_t(std::size_t degrees);

/// Returns the two-sided probability of a Student's t at least as far from 0 as `t`; of the normal
/// distribution for `normal_degrees`.
double two_sided_p(double t, std::size_t degrees);

struct Line {
  double slope{0.0};
  double intercept{0.0};
  double r_squared{0.0};
  /// 95 % interval from the residuals by Student's t. Two points have no residuals; the intervals
  /// are then the values themselves.
  Interval slope_interval{};
  Interval intercept_interval{};
};

/// Fits a line by ordinary least squares. Requires two different values of x.
Line fit_least_squares(std::span<const double> x, std::span<const double> y);

/// Mean of the results of several runs, each with its own error.
struct PooledMean {
  double mean{0.0};
  double half_width{0.0};  ///< half-width of the 95 % interval
  double between{0.0};     ///< variance between the runs, in addition to their own errors
  std::size_t degrees{0};  ///< degrees of freedom of Student's t for the interval
};

/// Returns the mean by a random-effects model: variance between runs by DerSimonian and Laird
/// (1986), interval by Hartung and Knapp (2001) with Student's t, at least as wide as the runs' own
/// errors require (Röver, Knapp and Friede 2015). `half_widths` are those of the runs' 95 %
/// intervals. Requires at least two values.
PooledMean pool_means(std::span<const double> values, std::span<const double> half_widths);

}  // namespace clprobe
