// SPDX-License-Identifier: Apache-2.0
#include "analysis/api/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace clprobe {
namespace {

std::vector<double> sorted_and_checked(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics need at least one value");
  for (const double value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

/// Returns the number of values below the 95 % interval of the median, which equals the number
/// above it. Returns 0 for fewer than six values.
std::size_t outside_median(std::size_t count) {
  constexpr double tail = 0.025;
  // Above this number, a normal distribution approximates the binomial distribution.
  constexpr std::size_t many = 500;
  const auto all = static_cast<double>(count);
  if (count > many) {
    return static_cast<std::size_t>((all - 1.0 - student_t(normal_degrees) * std::sqrt(all)) / 2.0);
  }
  double probability = std::exp2(-all);  // probability that i values are below the median
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += probability;
    if (sum > tail) return i == 0 ? 0 : i - 1;
    probability *= static_cast<double>(count - i) / static_cast<double>(i + 1);
  }
  return 0;
}

void check_pairs(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("x and y differ in length");
  const std::vector<double> sorted = sorted_and_checked(x);
  static_cast<void>(sorted_and_checked(y));
  if (sorted.front() == sorted.back()) {
    throw std::invalid_argument("a line fit needs at least two different values of x");
  }
}

}  // namespace

std::int64_t saturated(double whole) {
  constexpr double limit = 9007199254740992.0;  // 2^53
  return std::isnan(whole) ? 0 : static_cast<std::int64_t>(std::clamp(whole, -limit, limit));
}

// Uses a Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), and a table for up to 4 degrees
// of freedom, for which the expansion is inaccurate.
double student_t(std::size_t degrees) {
  constexpr std::array<double, 4> table{12.7062047, 4.3026527, 3.1824463, 2.7764451};
  constexpr double z = 1.959963985;
  if (degrees == normal_degrees) return z;
  if (degrees <= table.size()) return table.at(degrees - 1);
  const auto v = static_cast<double>(degrees);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v);
}

// Uses the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4, which require whole degrees of
// freedom.
double two_sided_p(double t, std::size_t degrees) {
  const double distance = std::fabs(t);
  if (degrees == normal_degrees) return std::erfc(distance / std::sqrt(2.0));
  const double angle = std::atan(distance / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::sin(angle);
  const double square = std::cos(angle) * std::cos(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? std::cos(angle) : 1.0;
  double sum = 0.0;
  for (std::size_t i = is_odd ? 3 : 2; i <= degrees; i += 2) {
    sum += term;
    term *= square * static_cast<double>(i - 1) / static_cast<double>(i);
  }
  const double inside = is_odd ? 2.0 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::max(0.0, 1.0 - inside);
}

double median(std::span<const double> values) {
  const std::vector<double> sorted = sorted_and_checked(values);
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2.0;
}

Interval median_interval(std::span<const double> values) {
  const std::vector<double> sorted = sorted_and_checked(values);
  const std::size_t outside = outside_median(sorted.size());
  return {sorted[outside], sorted[sorted.size() - 1 - outside]};
}

double quantile(std::span<const double> values, double q) {
  if (!(q >= 0.0 && q <= 1.0)) throw std::invalid_argument("a quantile must be from 0 to 1");
  const std::vector<double> sorted = sorted_and_checked(values);
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  const double centre = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double scaled_mad(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return 1.4826 * median(deviations);
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
  double residual = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - line.intercept - line.slope * x[i];
    residual += error * error;
    total += (y[i] - mean_y) * (y[i] - mean_y);
  }
  // A constant y has no variation that a line could explain, and counts as a perfect fit.
  line.r_squared = total > 0.0 ? 1.0 - residual / total : 1.0;
  double half = 0.0;
  if (const std::size_t degrees = x.size() - 2; degrees > 0) {
    half = student_t(degrees) * std::sqrt(residual / static_cast<double>(degrees) / xx);
  }
  const double aside = half * std::sqrt(xx / static_cast<double>(x.size()) + mean_x * mean_x);
  line.slope_interval = {line.slope - half, line.slope + half};
  line.intercept_interval = {line.intercept - aside, line.intercept + aside};
  return line;
}

namespace {

struct Weighted {
  double mean{0.0};
  double weights{0.0};  ///< sum of the weights
  double squares{0.0};  ///< sum of the squares of the weights
  double spread{0.0};   ///< weighted sum of the squares of the deviations: Cochran's Q
};

Weighted weigh(std::span<const double> values, std::span<const double> variances, double between) {
  Weighted sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = 1.0 / (variances[i] + between);
    sums.weights += weight;
    sums.squares += weight * weight;
    sums.mean += weight * values[i];
  }
  sums.mean /= sums.weights;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i] - sums.mean;
    sums.spread += deviation * deviation / (variances[i] + between);
  }
  return sums;
}

}  // namespace

PooledMean pool_means(std::span<const double> values, std::span<const double> half_widths) {
  if (values.size() < 2 || values.size() != half_widths.size()) {
    throw std::invalid_argument("a mean of several runs needs at least two values with errors");
  }
  // Limits of errors. Without these limits, a value of error 0 would get the whole weight, and an
  // infinite error would give weight 0.
  constexpr double min_error = 1e-9;
  constexpr double max_error = 1e9;
  std::vector<double> variances;
  for (const double half : half_widths) {
    const double error = std::clamp(half / student_t(normal_degrees), min_error, max_error);
    variances.push_back(error * error);
  }
  const auto degrees = static_cast<double>(values.size() - 1);
  const Weighted fixed = weigh(values, variances, 0.0);
  PooledMean pooled{.degrees = values.size() - 1};
  const double scale = fixed.weights - fixed.squares / fixed.weights;
  pooled.between = std::max(0.0, (fixed.spread - degrees) / scale);
  const Weighted random = weigh(values, variances, pooled.between);
  pooled.mean = random.mean;
  const double excess = std::max(1.0, random.spread / degrees);
  pooled.half_width = student_t(pooled.degrees) * std::sqrt(excess / random.weights);
  return pooled;
}

}  // namespace clprobe
