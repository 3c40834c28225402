// SPDX-License-Identifier: Apache-2.0
// Statistics of one number over the devices of one kind. All functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clprobe::fleet {

// A device is suspect or slow only if it is worse than the fleet by this share: smaller deviations
// do not matter to users.
inline constexpr double relevant_share = 0.02;
// Deviation that makes a suspect slow whatever the fleet's tail.
inline constexpr double large_share = 0.10;
// Limit of z for suspects (Iglewicz and Hoaglin 1993).
inline constexpr double suspect_z = 3.5;
// Number of devices below which quantiles and scales are meaningless.
inline constexpr std::size_t min_devices = 8;

/// Centre, scale and tail of a population. Values are logarithms, signed so that larger is better.
struct Population {
  double centre{0.0};  ///< median
  double scale{0.0};   ///< lower MAD, at least the devices' noise and 0.2 %
  double tail{0.0};    ///< mean of the exponential tail between the 10 % quantile and the median
};

/// Returns the population of at least `min_devices` values. `noise`: median relative error of the
/// devices.
Population population_of(std::span<const double> values, double noise);

/// Returns the probability of a loss by the exponential tail; 1 for a gain.
double tail_probability(const Population& population, double loss);

/// Returns the largest p that is significant at false discovery rate `rate` (Benjamini and Hochberg
/// 1995); nothing if no p is. `tests`: number of tests, of which `p` contains the smallest results.
std::optional<double> significant_p(std::vector<double> p, std::size_t tests, double rate);

/// Returns the value that separates two groups of values: the middle of the largest gap, if that
/// gap is over five median gaps and over 2 %, and each side has at least 15 % of the values.
std::optional<double> gap_between_groups(std::span<const double> values, double noise);

/// Share of the variance that a label explains, and its probability by chance.
struct Explained {
  double share{0.0};
  double p{1.0};
};

/// Returns what the groups explain of the values' variance. `groups`: the group of each value, from
/// 0. The probability is that of 2000 random permutations with a fixed seed; the function stops
/// early if it is large.
Explained explained_by(std::span<const double> values, std::span<const std::size_t> groups);

}  // namespace clprobe::fleet
