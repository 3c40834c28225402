// SPDX-License-Identifier: Apache-2.0
#include "fleet/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "analysis/api/statistics.hpp"

namespace clprobe::fleet {

Population population_of(std::span<const double> values, double noise) {
  constexpr double normal_factor = 1.4826;
  constexpr double floor_share = 0.002;  // differences below 0.2 % do not matter
  Population population{.centre = median(values)};
  std::vector<double> below;
  for (const double value : values) {
    if (value < population.centre) below.push_back(population.centre - value);
  }
  const double lower_mad = below.empty() ? 0.0 : normal_factor * median(below);
  population.scale = std::max({lower_mad, noise, floor_share});
  // Between these quantiles, an exponential tail falls by a factor of 5.
  const double spread = population.centre - quantile(values, 0.1);
  population.tail = std::max(spread, population.scale) / std::log(5.0);
  return population;
}

double tail_probability(const Population& population, double loss) {
  return loss <= 0.0 ? 1.0 : 0.5 * std::exp(-loss / population.tail);
}

std::optional<double> significant_p(std::vector<double> p, std::size_t tests, double rate) {
  std::ranges::sort(p);
  for (std::size_t i = p.size(); i > 0; --i) {
    const double limit = rate * static_cast<double>(i) / static_cast<double>(tests);
    if (p[i - 1] <= limit) return p[i - 1];
  }
  return std::nullopt;
}

std::optional<double> gap_between_groups(std::span<const double> values, double noise) {
  constexpr double min_share = 0.15;
  constexpr double min_gaps = 5.0;
  constexpr double min_noise = 4.0;  // a gap between noisy values may be due to chance
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < sorted.size(); ++i) gaps.push_back(sorted[i] - sorted[i - 1]);
  if (gaps.empty()) return std::nullopt;
  const auto largest = std::ranges::max_element(gaps);
  const auto below = static_cast<double>(largest - gaps.begin() + 1);
  const double share = below / static_cast<double>(sorted.size());
  const double limit = std::max({min_gaps * median(gaps), relevant_share, min_noise * noise});
  if (*largest <= limit || share < min_share || share > 1.0 - min_share) return std::nullopt;
  const auto at = static_cast<std::size_t>(largest - gaps.begin());
  return (sorted[at] + sorted[at + 1]) / 2.0;
}

namespace {

/// Returns the sum over groups of the squared sum divided by the size.
double between_squares(std::span<const double> values, std::span<const std::size_t> groups,
                       std::span<const double> sizes, std::vector<double>& sums) {
  std::ranges::fill(sums, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[groups[i]] += values[i];
  double squares = 0.0;
  for (std::size_t i = 0; i < sums.size(); ++i) squares += sums[i] * sums[i] / sizes[i];
  return squares;
}

/// Permutes the values. std::shuffle would depend on the standard library.
void permute(std::vector<double>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(random() % i)]);
  }
}

}  // namespace

Explained explained_by(std::span<const double> values, std::span<const std::size_t> groups) {
  constexpr std::uint64_t seed = 42;
  constexpr std::size_t permutations = 2000;
  constexpr std::size_t enough =
      20;  // random results as large: the effect is no longer interesting
  if (values.empty()) return {};
  std::vector<double> centred(values.begin(), values.end());
  const double middle = mean(values);
  for (double& each : centred) each -= middle;
  double total = 0.0;
  for (const double each : centred) total += each * each;
  const std::size_t count = *std::ranges::max_element(groups) + 1;
  if (count < 2 || count >= values.size() || total <= 0.0) return {};
  std::vector<double> sizes(count, 0.0);
  for (const std::size_t each : groups) sizes[each] += 1.0;
  std::vector<double> sums(count);
  const double between = between_squares(centred, groups, sizes, sums);
  const auto n = static_cast<double>(values.size());
  const auto k = static_cast<double>(count);
  Explained found;
  // Without an effect, k groups explain (k - 1) / (n - 1) of the variance on average.
  found.share = std::max(0.0, 1.0 - (total - between) / (n - k) / (total / (n - 1.0)));
  std::mt19937_64 random(seed);
  std::size_t done = 0;
  std::size_t as_large = 0;
  while (done < permutations && as_large < enough) {
    permute(centred, random);
    if (between_squares(centred, groups, sizes, sums) >= between) ++as_large;
    ++done;
  }
  found.p = static_cast<double>(as_large + 1) / static_cast<double>(done + 1);
  return found;
}

}  // namespace clprobe::fleet
