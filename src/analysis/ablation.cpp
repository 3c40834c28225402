// SPDX-License-Identifier: Apache-2.0
// What removing causes saves, and what a kernel takes in of noise without becoming slower.
#include "clprobe/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string_view>

#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

/// In the order of their sets.
std::vector<const Visits*> visits_by_set(std::span<const AblationBuild> builds, std::size_t factors,
                                         const AblationOptions& options) {
  if (factors == 0 || factors > max_factors) {
    throw AblationError(fmt::format("expected 1 to {} factors, found {}", max_factors, factors));
  }
  const std::size_t sets = std::size_t{1} << factors;
  std::vector<const Visits*> visits(sets, nullptr);
  for (const AblationBuild& each : builds) {
    if (each.idealised >= sets) {
      throw AblationError(fmt::format("build {} of {}", each.idealised, sets));
    }
    if (visits[each.idealised] != nullptr) {
      throw AblationError(fmt::format("build {} of {} appears twice", each.idealised, sets));
    }
    visits[each.idealised] = &each.visits_ns;
  }
  for (std::size_t set = 0; set < sets; ++set) {
    if (!is_reachable(static_cast<std::uint32_t>(set), options.needs)) {
      visits[set] = nullptr;
      continue;
    }
    if (visits[set] == nullptr) {
      throw AblationError(fmt::format("build {} of {} is missing", set, sets));
    }
    if (visits[set]->empty()) {
      throw AblationError(fmt::format("build {} of {} has no samples", set, sets));
    }
    if (options.are_rounds && visits[set]->size() != visits[0]->size()) {
      throw AblationError(fmt::format("build {} of {}: expected {} rounds, found {}", set, sets,
                                      visits[0]->size(), visits[set]->size()));
    }
  }
  return visits;
}

/// What has to be gone before factor i can be.
std::size_t needed_by(std::size_t i, std::span<const std::uint32_t> needs) {
  return needs.empty() ? 0 : needs[i];
}

/// cost(ij) - cost(i) - cost(j), in which one T is left, without what the two need.
double interaction_of(std::span<const double> times, std::span<const std::uint32_t> needs,
                      std::size_t i, std::size_t j) {
  const std::size_t a = std::size_t{1} << i;
  const std::size_t b = std::size_t{1} << j;
  const std::size_t gone = needed_by(i, needs) | needed_by(j, needs);
  if (i == j || (gone & (a | b)) != 0) return 0.0;
  return times[gone | a] + times[gone | b] - times[gone | a | b] - times[gone];
}

/// All that is computed from one set of times, in one row so that a bootstrap has one loop:
/// T(none), T(all), Shapley values, interactions of all pairs.
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

Interval interval_of(std::span<const double> values, double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  return {quantile(values, tail), quantile(values, 1.0 - tail)};
}

Cost cost_of(double ns, std::span<const double> resampled, double confidence) {
  Cost cost;
  cost.ns = ns;
  cost.interval = {ns, ns};
  if (!resampled.empty()) {
    cost.interval = interval_of(resampled, confidence);
    cost.sigma_ns = standard_deviation(resampled);
  }
  cost.is_resolved = std::abs(ns) > 2.0 * cost.sigma_ns;
  return cost;
}

/// Bends between the points; a finer grid finds nothing that noisy times could show.
constexpr int steps_between_points = 8;
/// A rise over the whole range below this share of the time is none: within it no hinge can be told
/// from a slow clock.
constexpr double min_rise = 0.03;

/// What hides noise is at most all of a kernel's time. Once it takes so many times as long, a bend
/// would have been seen.
constexpr double enough_noise = 2.0;
/// Costs of noise for its amount are the same when the least is at least this share of the largest.
constexpr double alike = 0.5;

struct Hinge {
  double level{0.0};
  double bend{0.0};
  double slope{0.0};
  double error{std::numeric_limits<double>::infinity()};
};

/// Least squares of level + slope * max(0, x - bend) for one bend.
Hinge fit_at(std::span<const double> x, std::span<const double> y, double bend) {
  double mean_u = 0.0;
  double mean_y = 0.0;
  const auto count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_u += std::max(0.0, x[i] - bend) / count;
    mean_y += y[i] / count;
  }
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::max(0.0, x[i] - bend) - mean_u;
    products += u * (y[i] - mean_y);
    squares += u * u;
  }
  Hinge hinge;
  hinge.bend = bend;
  hinge.slope = squares > 0.0 ? products / squares : 0.0;
  hinge.level = mean_y - hinge.slope * mean_u;
  hinge.error = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - hinge.level - hinge.slope * std::max(0.0, x[i] - bend);
    hinge.error += off * off;
  }
  return hinge;
}

/// The best of all bends that leave at least one point behind them. Of equally good ones the first:
/// no more is claimed to be absorbed than has to be.
Hinge fit_hinge(std::span<const double> x, std::span<const double> y) {
  Hinge best;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    for (int step = 0; step < steps_between_points; ++step) {
      const double bend =
          x[i] + (x[i + 1] - x[i]) * static_cast<double>(step) / steps_between_points;
      const Hinge hinge = fit_at(x, y, bend);
      if (hinge.error < best.error * (1.0 - 1e-9)) best = hinge;
    }
  }
  return best;
}

bool rises(const Hinge& hinge, double max_injected) {
  return hinge.slope * (max_injected - hinge.bend) > min_rise * hinge.level;
}

/// What the line through the points behind the bend, drawn back to no noise, lacks of the level.
/// The bend of a curve jumps between places that fit as well; the line behind it hardly moves.
double share_of(const Hinge& hinge, std::span<const double> x, std::span<const double> y) {
  if (!(hinge.level > 0.0)) return 0.0;
  const auto behind = std::lower_bound(x.begin(), x.end(), hinge.bend) - x.begin();
  const std::size_t first = std::min(static_cast<std::size_t>(behind), x.size() - 2);
  const Line line = fit_least_squares(x.subspan(first), y.subspan(first));
  return std::max(0.0, 1.0 - line.intercept / hinge.level);
}

/// As `Absorption::is_decisive` says. `y`: the times of the amounts `x`, of which the first is 0.
bool decides(std::span<const double> x, std::span<const double> y) {
  if (!(y.back() >= enough_noise * y.front())) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double cost = (y[i] - y[0]) / x[i];
    least = std::min(least, cost);
    most = std::max(most, cost);
  }
  return least >= alike * most;
}

std::vector<const NoisePoint*> in_order(std::span<const NoisePoint> points) {
  std::vector<const NoisePoint*> sorted;
  for (const NoisePoint& each : points) {
    if (each.visits_ns.empty()) {
      throw AblationError(fmt::format("noise of {:g} has no samples", each.injected));
    }
    sorted.push_back(&each);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const NoisePoint* a, const NoisePoint* b) { return a->injected < b->injected; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->injected > sorted[i - 1]->injected) continue;
    throw AblationError(fmt::format("noise of {:g} appears twice", sorted[i]->injected));
  }
  if (sorted.size() < 3 || sorted.front()->injected != 0.0) {
    throw AblationError("expected at least three amounts of noise, one of them 0");
  }
  return sorted;
}

std::string_view name_of(Resource resource) {
  constexpr std::array<std::string_view, 5> names{"waiting", "arithmetic", "local memory", "cache",
                                                  "memory"};
  return names.at(static_cast<std::size_t>(resource));
}

/// The absorption of the kind of noise that loads `resource`, if there is one.
const Absorption* absorption_of(std::span<const NoiseKind> noise, Resource resource) {
  const auto found = std::find_if(noise.begin(), noise.end(),
                                  [&](const NoiseKind& each) { return each.resource == resource; });
  return found == noise.end() ? nullptr : &found->absorption;
}

/// The largest value, where it is resolved and above 0.
std::optional<std::size_t> first_factor(const Ablation& ablation) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < ablation.factors.size(); ++i) {
    const Cost& cost = ablation.factors[i];
    if (!cost.is_resolved || cost.ns <= 0.0) continue;
    if (!first || cost.ns > ablation.factors[*first].ns) first = i;
  }
  return first;
}

bool is_saturated(const Absorption& absorption) {
  return absorption.is_found && absorption.is_decisive &&
         absorption.share_interval.high < saturated_share;
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
  // In how many orders the factors of a set can go before the others, and the others after them.
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
    const Cost cost = cost_of(row[at], resampled[at], options.confidence);
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

Absorption find_absorption(std::span<const NoisePoint> points, const AblationOptions& options) {
  const std::vector<const NoisePoint*> sorted = in_order(points);
  std::vector<double> x;
  std::vector<double> y;
  for (const NoisePoint* const each : sorted) {
    x.push_back(each->injected);
    y.push_back(typical_ns(each->visits_ns));
  }
  const std::vector<double> typical = y;
  const double max_injected = sorted.back()->injected;
  Absorption found;
  const Hinge hinge = fit_hinge(x, y);
  if (!rises(hinge, max_injected)) {
    found.absorbed = max_injected;
    found.interval = {max_injected, max_injected};
    return found;
  }
  found.is_found = true;
  found.absorbed = hinge.bend;
  found.slope_ns = hinge.slope;
  found.share = share_of(hinge, x, y);
  found.is_decisive = decides(x, y);
  std::mt19937_64 generator(options.seed);
  std::vector<double> bends;
  std::vector<double> shares;
  for (int i = 0; i < options.resamples; ++i) {
    for (std::size_t p = 0; p < sorted.size(); ++p) {
      y[p] = resampled_ns(sorted[p]->visits_ns, typical[p], generator);
    }
    const Hinge again = fit_hinge(x, y);
    const bool is_flat = !rises(again, max_injected);
    bends.push_back(is_flat ? max_injected : again.bend);
    shares.push_back(is_flat ? 1.0 : share_of(again, x, y));
  }
  const double tail = (1.0 - options.confidence) / 2.0;
  found.interval = {found.absorbed, found.absorbed};
  found.share_interval = {found.share, found.share};
  if (!bends.empty()) {
    found.interval = {quantile(bends, tail), quantile(bends, 1.0 - tail)};
    found.share_interval = {quantile(shares, tail), quantile(shares, 1.0 - tail)};
  }
  return found;
}

Agreement compare_with_noise(const Ablation& ablation, std::span<const Resource> resources,
                             std::span<const NoiseKind> noise) {
  if (resources.size() != ablation.factors.size()) {
    throw AblationError(fmt::format("expected the resources of {} factors, found {}",
                                    ablation.factors.size(), resources.size()));
  }
  const std::optional<std::size_t> first = first_factor(ablation);
  if (!first) return {NoiseVerdict::untested, "not resolved: no cause differs from 0"};
  if (noise.empty()) return {NoiseVerdict::untested, "no noise was injected"};
  const Resource loaded = resources[*first];
  const Absorption* const own = absorption_of(noise, loaded);
  for (const NoiseKind& each : noise) {
    if (each.resource == loaded) continue;
    const Absorption& other = each.absorption;
    const bool is_tighter =
        own == nullptr ? is_saturated(other)
                       : other.is_found && other.share_interval.high < own->share_interval.low &&
                             is_saturated(other);
    if (!is_tighter) continue;
    return {NoiseVerdict::inconclusive,
            fmt::format("removing causes ranks {} first, but noise shows {} busy all the time",
                        name_of(loaded), name_of(each.resource))};
  }
  if (own == nullptr && loaded != Resource::waiting) {
    return {NoiseVerdict::untested,
            fmt::format("no noise was measured that loads {}", name_of(loaded))};
  }
  if (own != nullptr && is_saturated(*own)) {
    return {
        NoiseVerdict::agree,
        fmt::format("removing causes and noise both show {} busy all the time", name_of(loaded))};
  }
  return {NoiseVerdict::agree, "noise shows no other resource busy all the time"};
}

}  // namespace clprobe
