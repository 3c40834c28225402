// SPDX-License-Identifier: Apache-2.0
// Robust statistics over small samples. All functions are pure; an empty range throws
// std::invalid_argument, and so does a value that is not finite.
#pragma once

#include <cstdint>
#include <span>

namespace clprobe {

struct Interval {
  double low{0.0};
  double high{0.0};

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Mean of the two middle values when the count is even.
double median(std::span<const double> values);

/// Quantile by linear interpolation (Hyndman and Fan's type 7), `q` in [0, 1].
double quantile(std::span<const double> values, double q);

/// 1.4826 x the median absolute deviation: the standard deviation of normal data.
double scaled_mad(std::span<const double> values);

/// Percentile bootstrap interval of the median at `confidence`, from `resamples` seeded resamples.
Interval bootstrap_median(std::span<const double> values, double confidence, std::uint64_t seed,
                          int resamples = 1000);

struct Line {
  double slope{0.0};
  double intercept{0.0};
  double r_squared{0.0};
  /// 95 %, from the residuals (least squares, Student's t) or the pairs (Theil-Sen). Two points
  /// leave no residuals: then it is the slope itself.
  Interval slope_interval{};
  Interval intercept_interval{};  ///< 95 %; of least squares only, else the intercept itself
};

/// Ordinary least squares. Needs two different x.
Line fit_least_squares(std::span<const double> x, std::span<const double> y);

/// Median of the pairwise slopes (Theil 1950, Sen 1968): survives 29 % outliers.
Line fit_theil_sen(std::span<const double> x, std::span<const double> y);

/// Largest distance of the two empirical distributions (Kolmogorov-Smirnov), in [0, 1].
double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

/// How often a random split of the pooled values is at least as far apart: (1 + k) / (1 + m) of m
/// seeded permutations, so never 0.
double kolmogorov_smirnov_p(std::span<const double> a, std::span<const double> b,
                            std::uint64_t seed, int permutations = 1000);

}  // namespace clprobe
