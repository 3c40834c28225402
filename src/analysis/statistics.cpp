// SPDX-License-Identifier: Apache-2.0
#include "clprobe/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <vector>

namespace clprobe {
namespace {

std::vector<double> sorted_and_checked(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values");
  for (const double value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double quantile_of_sorted(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

/// A whole number below `bound`. The standard's distributions differ between libraries; this
/// gives the same resamples everywhere. Its bias, bound / 2^64, is of no account.
std::size_t draw_below(std::mt19937_64& generator, std::size_t bound) {
  return static_cast<std::size_t>(generator() % bound);
}

/// The 97.5 % quantile of Student's t: a table where the expansion is poor (Cornish-Fisher,
/// Abramowitz and Stegun 26.7.5).
double student_t(std::size_t degrees) {
  constexpr std::array<double, 4> table{12.7062047, 4.3026527, 3.1824463, 2.7764451};
  if (degrees >= 1 && degrees <= table.size()) return table.at(degrees - 1);
  constexpr double z = 1.959963985;
  const auto v = static_cast<double>(degrees);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v);
}

double mean(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void check_pairs(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("x and y differ in length");
  const std::vector<double> sorted = sorted_and_checked(x);
  static_cast<void>(sorted_and_checked(y));
  if (sorted.front() == sorted.back()) throw std::invalid_argument("a line needs two different x");
}

/// Residual and total sums of squares of `line`.
double r_squared_of(const Line& line, std::span<const double> x, std::span<const double> y) {
  const double mean_y = mean(y);
  double residual = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - line.intercept - line.slope * x[i];
    residual += error * error;
    total += (y[i] - mean_y) * (y[i] - mean_y);
  }
  // Of a constant nothing is left to explain.
  return total > 0.0 ? 1.0 - residual / total : 1.0;
}

double distance_of_sorted(std::span<const double> a, std::span<const double> b) {
  std::size_t i = 0;
  std::size_t j = 0;
  double largest = 0.0;
  while (i < a.size() && j < b.size()) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= value) ++i;
    while (j < b.size() && b[j] <= value) ++j;
    const double share_a = static_cast<double>(i) / static_cast<double>(a.size());
    const double share_b = static_cast<double>(j) / static_cast<double>(b.size());
    largest = std::max(largest, std::abs(share_a - share_b));
  }
  return largest;
}

}  // namespace

double median(std::span<const double> values) {
  const std::vector<double> sorted = sorted_and_checked(values);
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2.0;
}

double quantile(std::span<const double> values, double q) {
  if (!(q >= 0.0 && q <= 1.0)) throw std::invalid_argument("a quantile is in [0, 1]");
  return quantile_of_sorted(sorted_and_checked(values), q);
}

double scaled_mad(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return 1.4826 * median(deviations);
}

Interval bootstrap_median(std::span<const double> values, double confidence, std::uint64_t seed,
                          int resamples) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw std::invalid_argument("a confidence is in (0, 1)");
  }
  if (resamples < 1) throw std::invalid_argument("a bootstrap needs a resample");
  const std::vector<double> sorted = sorted_and_checked(values);  // the order must not matter
  std::mt19937_64 generator(seed);
  std::vector<double> medians;
  medians.reserve(static_cast<std::size_t>(resamples));
  std::vector<double> resample(sorted.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : resample) value = sorted[draw_below(generator, sorted.size())];
    medians.push_back(median(resample));
  }
  const double tail = (1.0 - confidence) / 2.0;
  return {quantile(medians, tail), quantile(medians, 1.0 - tail)};
}

Line fit_least_squares(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y);
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double xx = 0.0;
  double xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  Line line;
  line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  line.r_squared = r_squared_of(line, x, y);
  line.slope_interval = {line.slope, line.slope};
  line.intercept_interval = {line.intercept, line.intercept};
  if (x.size() > 2) {
    double residual = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = y[i] - line.intercept - line.slope * x[i];
      residual += error * error;
    }
    const std::size_t degrees = x.size() - 2;
    const double half =
        student_t(degrees) * std::sqrt(residual / static_cast<double>(degrees) / xx);
    line.slope_interval = {line.slope - half, line.slope + half};
    const double aside = half * std::sqrt(xx / static_cast<double>(x.size()) + mean_x * mean_x);
    line.intercept_interval = {line.intercept - aside, line.intercept + aside};
  }
  return line;
}

Line fit_theil_sen(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  std::sort(slopes.begin(), slopes.end());
  Line line;
  line.slope = median(slopes);
  std::vector<double> intercepts;
  intercepts.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) intercepts.push_back(y[i] - line.slope * x[i]);
  line.intercept = median(intercepts);
  line.intercept_interval = {line.intercept, line.intercept};
  line.r_squared = r_squared_of(line, x, y);
  // Sen 1968: the ranks of the slopes between which the true one lies, from the variance of
  // Kendall's statistic.
  const auto n = static_cast<double>(x.size());
  const double spread = 1.959963985 * std::sqrt(n * (n - 1.0) * (2.0 * n + 5.0) / 18.0);
  const auto count = static_cast<double>(slopes.size());
  const double low = std::max(0.0, std::floor((count - spread) / 2.0));
  const double high = std::min(count - 1.0, std::ceil((count + spread) / 2.0));
  line.slope_interval = {slopes[static_cast<std::size_t>(low)],
                         slopes[static_cast<std::size_t>(high)]};
  return line;
}

double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b) {
  return distance_of_sorted(sorted_and_checked(a), sorted_and_checked(b));
}

double kolmogorov_smirnov_p(std::span<const double> a, std::span<const double> b,
                            std::uint64_t seed, int permutations) {
  if (permutations < 1) throw std::invalid_argument("a permutation test needs a permutation");
  std::vector<double> pool = sorted_and_checked(a);
  const std::vector<double> sorted_b = sorted_and_checked(b);
  const double observed = distance_of_sorted(pool, sorted_b);
  const auto count_a = static_cast<std::ptrdiff_t>(pool.size());
  pool.insert(pool.end(), sorted_b.begin(), sorted_b.end());
  std::sort(pool.begin(), pool.end());
  std::mt19937_64 generator(seed);
  int as_far = 0;
  for (int i = 0; i < permutations; ++i) {
    for (std::size_t k = pool.size() - 1; k > 0; --k) {
      std::swap(pool[k], pool[draw_below(generator, k + 1)]);
    }
    std::vector<double> left(pool.begin(), pool.begin() + count_a);
    std::vector<double> right(pool.begin() + count_a, pool.end());
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    // Shares of the same counts are the same numbers; the tolerance is for their rounding.
    if (distance_of_sorted(left, right) >= observed - 1e-12) ++as_far;
  }
  return (as_far + 1.0) / (permutations + 1.0);  // the observed split is one of them
}

}  // namespace clprobe
