// SPDX-License-Identifier: Apache-2.0
// The savings of removed causes.
#include "analysis/api/ablation.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "analysis/api/statistics.hpp"

namespace clprobe {
namespace {

/// Returns the visits of each build, indexed by its set of removed factors; null for an unreachable
/// set.
std::vector<const Visits*> visits_by_set(std::span<const AblationBuild> builds, std::size_t factors,
                                         const AblationOptions& options) {
  if (factors == 0 || factors > max_factors) {
    throw AblationError(fmt::format("expected 1 to {} factors, found {}", max_factors, factors));
  }
  const std::size_t sets = std::size_t{1} << factors;
  std::vector<const Visits*> visits(sets, nullptr);
  for (const AblationBuild& each : builds) {
    if (each.idealised >= sets) {
      throw AblationError(fmt::format("kernel version {} of {} does not exist", each.idealised, sets));
    }
    if (visits[each.idealised] != nullptr) {
      throw AblationError(fmt::format("kernel version {} of {} appears twice", each.idealised, sets));
    }
    visits[each.idealised] = &each.visits_ns;
  }
  for (std::size_t set = 0; set < sets; ++set) {
    if (!is_reachable(static_cast<std::uint32_t>(set), options.needs)) {
      visits[set] = nullptr;
      continue;
    }
    if (visits[set] == nullptr) {
      throw AblationError(fmt::format("kernel version {} of {} is missing", set, sets));
    }
    if (visits[set]->empty()) {
      throw AblationError(fmt::format("kernel version {} of {} has no samples", set, sets));
    }
    if (options.are_rounds && visits[set]->size() != visits[0]->size()) {
      throw AblationError(fmt::format("kernel version {} of {}: expected {} visits, found {}", set, sets,
                                      visits[0]->size(), visits[set]->size()));
    }
  }
  return visits;
}

/// Returns the set of factors that must be removed before factor i.
std::size_t needed_by(std::size_t i, std::span<const std::uint32_t> needs) {
  return needs.empty() ? 0 : needs[i];
}

/// Returns the interaction cost(ij) - cost(i) - cost(j). All builds lack the factors that i or j
/// require.
double interaction_of(std::span<const double> times, std::span<const std::uint32_t> needs,
                      std::size_t i, std::size_t j) {
  const std::size_t a = std::size_t{1} << i;
  const std::size_t b = std::size_t{1} << j;
  const std::size_t gone = needed_by(i, needs) | needed_by(j, needs);
  if (i == j || (gone & (a | b)) != 0) return 0.0;
  return times[gone | a] + times[gone | b] - times[gone | a | b] - times[gone];
}

/// Returns T(none), T(all), the Shapley values and the interactions of all pairs in one row, so
/// that a single bootstrap loop resamples all of them.
std::vector<double> quantities_of(std::span<const double> times,
                                  std::span<const std::uint32_t> needs) {
  const auto factors = static_cast<std::size_t>(std::countr_zero(times.size()));
  std::vector<double> row{times.front(), times.back()};
  const std::vector<double> shapley = shapley_values(times, needs);
  row.insert(row.end(), shapley.begin(), shapley.end());
  for (std::size_t i = 0; i < factors; ++i) {
    for (std::size_t j = 0; j < factors; ++j) row.push_back(interaction_of(times, needs, i, j));
  }
  return row;
}

/// Calls `use(times)` for each resample.
template <typename Use>
void bootstrap(std::span<const Visits* const> visits, std::span<const double> typical,
               const AblationOptions& options, Use use) {
  std::mt19937_64 generator(options.seed);
  std::vector<double> times(visits.size());
  for (int i = 0; i < options.resamples; ++i) {
    const std::mt19937_64 round = generator;
    for (std::size_t set = 0; set < visits.size(); ++set) {
      if (visits[set] == nullptr) continue;
      if (options.are_rounds) generator = round;
      times[set] = resampled_ns(*visits[set], typical[set], generator);
    }
    use(times);
  }
}

Cost cost_of(double ns, std::span<const double> resampled) {
  constexpr double tail = (1.0 - 0.95) / 2.0;
  Cost cost;
  cost.ns = ns;
  cost.interval = {ns, ns};
  if (!resampled.empty()) {
    cost.interval = {quantile(resampled, tail), quantile(resampled, 1.0 - tail)};
    cost.sigma_ns = standard_deviation(resampled);
  }
  cost.is_resolved = cost.interval.low > 0.0 || cost.interval.high < 0.0;
  return cost;
}

}  // namespace

bool is_reachable(std::uint32_t set, std::span<const std::uint32_t> needs) {
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (((set >> i) & 1U) != 0 && (needs[i] & ~set) != 0) return false;
  }
  return true;
}

std::vector<double> shapley_values(std::span<const double> times,
                                   std::span<const std::uint32_t> needs) {
  const std::size_t sets = times.size();
  if (sets == 0) return {};
  const auto factors = static_cast<std::size_t>(std::countr_zero(sets));
  const auto can_go_from = [&](std::size_t set, std::size_t i) {
    const std::size_t bit = std::size_t{1} << i;
    return (set & bit) == 0 && is_reachable(static_cast<std::uint32_t>(set | bit), needs);
  };
  // Number of orders of the factors in each set, and of the factors outside each set.
  std::vector<double> before(sets, 0.0);
  std::vector<double> after(sets, 0.0);
  before.front() = 1.0;
  after.back() = 1.0;
  for (std::size_t set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < factors; ++i) {
      if (can_go_from(set, i)) before[set | (std::size_t{1} << i)] += before[set];
    }
  }
  for (std::size_t set = sets; set-- > 0;) {
    for (std::size_t i = 0; i < factors; ++i) {
      if (can_go_from(set, i)) after[set] += after[set | (std::size_t{1} << i)];
    }
  }
  std::vector<double> values(factors, 0.0);
  for (std::size_t set = 0; set < sets; ++set) {
    if (before[set] == 0.0) continue;
    for (std::size_t i = 0; i < factors; ++i) {
      if (!can_go_from(set, i)) continue;
      const std::size_t without = set | (std::size_t{1} << i);
      values[i] += before[set] * after[without] / after.front() * (times[set] - times[without]);
    }
  }
  return values;
}

Ablation attribute_time(std::span<const AblationBuild> builds, std::size_t factors,
                        const AblationOptions& options) {
  const std::vector<const Visits*> visits = visits_by_set(builds, factors, options);
  std::vector<double> typical;
  typical.reserve(visits.size());
  for (const Visits* const each : visits) {
    typical.push_back(each == nullptr ? 0.0 : typical_ns(*each));
  }
  const std::vector<double> row = quantities_of(typical, options.needs);
  std::vector<std::vector<double>> resampled(row.size());
  bootstrap(visits, typical, options, [&](std::span<const double> times) {
    const std::vector<double> each = quantities_of(times, options.needs);
    for (std::size_t i = 0; i < each.size(); ++i) resampled[i].push_back(each[i]);
  });
  std::size_t at = 0;
  const auto next = [&] {
    const Cost cost = cost_of(row[at], resampled[at]);
    ++at;
    return cost;
  };
  Ablation ablation;
  ablation.none = next();
  ablation.all = next();
  for (std::size_t i = 0; i < factors; ++i) ablation.factors.push_back(next());
  for (std::size_t i = 0; i < factors; ++i) {
    ablation.interactions.emplace_back();
    for (std::size_t j = 0; j < factors; ++j) ablation.interactions[i].push_back(next());
  }
  return ablation;
}

Cost find_gain(const Visits& before_ns, const Visits& after_ns, AblationOptions options) {
  options.are_rounds = before_ns.size() == after_ns.size();
  const std::vector<AblationBuild> builds{{.idealised = 0, .visits_ns = before_ns},
                                          {.idealised = 1, .visits_ns = after_ns}};
  return attribute_time(builds, 1, options).factors.front();
}

}  // namespace clprobe
