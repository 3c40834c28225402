// SPDX-License-Identifier: Apache-2.0
// Robust statistics of small samples. All functions are pure. Medians, quantiles, scaled_mad() and
// fit_least_squares() throw std::invalid_argument for an empty range or a value that is not finite.
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

/// Returns a whole number as an integer: limited to 2^53 in magnitude, and 0 for NaN. A plain cast
/// of NaN or of a too large value would be undefined behaviour.
std::int64_t saturated(double whole);

/// Returns the median; for an even number of values, the mean of the two middle values.
double median(std::span<const double> values);

/// Returns the 95 % interval of the median by the order statistics of the sign test, for any
/// distribution. For fewer than six values, the interval is from the smallest to the largest value.
Interval median_interval(std::span<const double> values);

/// Returns the quantile `q` by linear interpolation (Hyndman and Fan's type 7). `q` is in [0, 1].
double quantile(std::span<const double> values, double q);

/// Returns the mean. Requires at least one value.
double mean(std::span<const double> values);

/// Returns the sample standard deviation; 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

/// Returns 1.4826 times the median absolute deviation, which estimates the standard deviation of
/// normal data.
double scaled_mad(std::span<const double> values);

/// Degrees of freedom treated as infinite.
inline constexpr std::size_t normal_degrees = 0;

/// Returns the 97.5 % quantile of Student's t; for `normal_degrees`, that of the normal
/// distribution.
double student_t(std::size_t degrees);

/// Returns the two-sided probability that Student's t is at least as far from 0 as `t`; for
/// `normal_degrees`, the probability by the normal distribution.
double two_sided_p(double t, std::size_t degrees);

struct Line {
  double slope{0.0};
  double intercept{0.0};
  double r_squared{0.0};
  /// 95 % intervals from the residuals by Student's t. For two points, which leave no residuals,
  /// both ends of an interval equal the value.
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

/// Returns the mean by a random-effects model. The variance between runs is that of DerSimonian and
/// Laird (1986). The interval is that of Hartung and Knapp (2001) with Student's t. It is at least
/// as wide as the errors of the runs require (Röver, Knapp and Friede 2015). `half_widths` are the
/// half-widths of the runs' 95 % intervals. Throws std::invalid_argument for fewer than two values.
PooledMean pool_means(std::span<const double> values, std::span<const double> half_widths);

}  // namespace clprobe
