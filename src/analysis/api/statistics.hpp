// SPDX-License-Identifier: Apache-2.0
// Robust statistics over small samples. All functions are pure; an empty range throws
// std::invalid_argument, and so does a value that is not finite.
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

/// The integer that a whole number is: the nearest that there is for what is beyond 2^53, and 0 for
/// NaN. A cast of those is undefined.
std::int64_t saturated(double whole);

/// Mean of the two middle values when the count is even.
double median(std::span<const double> values);

/// Holds the median of what the values are a sample of with 95 %, whatever its distribution: the
/// order statistics of the sign test; of fewer than six values from the least to the largest.
Interval median_interval(std::span<const double> values);

/// Quantile by linear interpolation (Hyndman and Fan's type 7), `q` in [0, 1].
double quantile(std::span<const double> values, double q);

/// Median of at least one value.
double mean(std::span<const double> values);

/// The standard deviation of what the values are a sample of; 0 for fewer than two.
double standard_deviation(std::span<const double> values);

/// 1.4826 x the median absolute deviation: the standard deviation of normal data.
double scaled_mad(std::span<const double> values);

/// Degrees of freedom of an error that is known as well as that of the normal distribution.
inline constexpr std::size_t normal_degrees = 0;

/// The 97.5 % quantile of Student's t; of the normal distribution for `normal_degrees`.
double student_t(std::size_t degrees);

/// Probability that Student's t is at least as far from 0 as `t`, on either side. For
/// `normal_degrees` that of the normal distribution.
double two_sided_p(double t, std::size_t degrees);

struct Line {
  double slope{0.0};
  double intercept{0.0};
  double r_squared{0.0};
  /// 95 %, from the residuals by Student's t. Two points leave no residuals: then the intervals are
  /// the values themselves.
  Interval slope_interval{};
  Interval intercept_interval{};
};

/// Ordinary least squares. Needs two different x.
Line fit_least_squares(std::span<const double> x, std::span<const double> y);

/// Mean of what several runs found, each with an error of its own.
struct PooledMean {
  double mean{0.0};
  double half_width{0.0};  ///< of its 95 % interval
  double between{0.0};     ///< variance between the runs, beyond the runs' own errors
  std::size_t degrees{0};  ///< of Student's t behind the interval
};

/// Random effects: the variance between runs by DerSimonian and Laird (1986), the interval of the
/// mean by Hartung and Knapp (2001) with Student's t, no narrower than the runs' own errors allow
/// (Röver, Knapp and Friede 2015). `half_widths` are those of the runs' 95 % intervals. Needs two
/// values or more.
PooledMean pool_means(std::span<const double> values, std::span<const double> half_widths);

}  // namespace clprobe
