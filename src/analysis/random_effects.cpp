// SPDX-License-Identifier: Apache-2.0
#include "analysis/random_effects.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

struct Weighted {
  double mean{0.0};
  double weights{0.0};  ///< their sum
  double squares{0.0};  ///< the sum of the weights' squares
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
    throw std::invalid_argument("a mean of several runs needs two values with their errors");
  }
  // A value without an error would get all the weight, and infinite errors none at all.
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
