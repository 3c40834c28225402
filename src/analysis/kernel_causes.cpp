// SPDX-License-Identifier: Apache-2.0
#include "clprobe/kernel_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "analysis/kernel_parts.hpp"
#include "clprobe/paired.hpp"

namespace clprobe {
namespace {

// The curve of time over distinct groups

std::vector<FoldedTime> sorted_by_groups(std::span<const FoldedTime> sweep) {
  std::vector<FoldedTime> sorted;
  std::ranges::copy_if(sweep, std::back_inserter(sorted),
                       [](const FoldedTime& each) { return !each.visits_ns.empty(); });
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &FoldedTime::distinct_groups);
  return sorted;
}

/// Of the points with at least `groups`, the one that takes least; of equal ones that with most
/// groups.
const FoldedTime& fastest_of(const std::vector<FoldedTime>& sorted, std::uint64_t groups) {
  const FoldedTime* least = &sorted.front();
  double min_ns = std::numeric_limits<double>::infinity();
  for (const FoldedTime& each : sorted) {
    const double ns = typical_ns(each.visits_ns);
    if (each.distinct_groups < groups || !(ns < min_ns)) continue;
    least = &each;
    min_ns = ns;
  }
  return *least;
}

/// Groups may reach more than their part of the buffers. Then main memory is still met with as many
/// as should fit, and as long as half of them clearly take less, at most a sixteenth. The first
/// cache's own fall begins far below: it is that much smaller than what all units share.
std::size_t find_cached(const std::vector<FoldedTime>& sorted, std::size_t fitting,
                        std::uint64_t min_groups) {
  constexpr double clearly_less = 0.95;
  constexpr std::uint64_t max_reach = 16;
  std::size_t cached = fitting;
  for (std::size_t i = fitting + 1; i < sorted.size(); ++i) {
    const FoldedTime& before = sorted[cached];
    const bool is_less =
        typical_ns(sorted[i].visits_ns) < clearly_less * typical_ns(before.visits_ns) &&
        find_gain(before.visits_ns, sorted[i].visits_ns).is_resolved;
    const bool is_near = sorted[i].distinct_groups * max_reach >= sorted[fitting].distinct_groups;
    if (!is_less || !is_near || sorted[i].distinct_groups < min_groups) break;
    cached = i;
  }
  return cached;
}

std::uint64_t find_collision(const std::vector<FoldedTime>& sorted, const FoldedTime& least,
                             std::uint64_t min_groups) {
  constexpr double clearly_longer = 1.05;
  std::uint64_t from = 0;
  // From few groups to many, as long as they take longer.
  const std::vector<FoldedTime> rising(sorted.rbegin(), sorted.rend());
  for (const FoldedTime& each : rising) {
    if (each.distinct_groups < min_groups) continue;
    if (each.distinct_groups >= least.distinct_groups) break;
    const bool is_longer =
        typical_ns(each.visits_ns) > clearly_longer * typical_ns(least.visits_ns) &&
        find_gain(each.visits_ns, least.visits_ns).is_resolved;
    if (!is_longer) break;
    from = each.distinct_groups;
  }
  return from;
}

// Causes

// Fewer have no interval.
constexpr std::size_t min_turn_blocks = 4;

struct CauseRow {
  std::string_view name;
  std::string_view title;
  std::string_view gsi;
};

constexpr CauseRow main_memory_row{"main_memory", "main memory", "memory data: main memory"};
constexpr CauseRow last_cache_row{"last_cache", "last cache", "memory data: last cache"};

// In the order of KernelFactor.
constexpr std::array factor_rows{
    CauseRow{"memory", "memory", "memory data"},
    CauseRow{"barriers", "barriers", "synchronization: barrier"},
    CauseRow{"atomics", "atomics", "memory structural: serial requests"},
    CauseRow{"lanes", "differences between lanes", "memory structural: lanes"},
    CauseRow{"fences", "fences", "memory structural: pending release"},
    CauseRow{"functions", "special functions", "compute structural"}};

const CauseRow& row_of(KernelFactor factor) {
  return factor_rows.at(static_cast<std::size_t>(factor));
}

KernelCause cause_of(const CauseRow& row) {
  return {.name = row.name, .title = row.title, .gsi = row.gsi};
}

const FoldedTime* find_groups(const KernelTimes& times, std::uint64_t groups) {
  const auto found = std::ranges::find_if(times.sweep, [&](const FoldedTime& each) {
    return each.distinct_groups == groups && !each.visits_ns.empty();
  });
  return found == times.sweep.end() ? nullptr : &*found;
}

Cost scaled(Cost cost, double factor) {
  cost.ns *= factor;
  cost.sigma_ns *= std::abs(factor);
  cost.interval = {cost.interval.low * factor, cost.interval.high * factor};
  return cost;
}

/// Gives a cause its cost, and says whether there is one.
KernelCause valued(KernelCause cause, const Cost& cost, const KernelCauses& found,
                   std::optional<double> app_share) {
  cause.cost = cost;
  const double total = found.total.ns;
  if (total > 0.0) {
    cause.share = cost.ns / total;
    cause.share_interval = {cost.interval.low / total, cost.interval.high / total};
  }
  const bool is_found = cost.is_resolved && cost.ns > 0.0;
  cause.state = is_found ? CauseState::found : CauseState::not_resolved;
  if (!is_found) {
    cause.reason = cost.is_resolved ? "not resolved: the kernel takes longer without it"
                                    : "not resolved: within two sigma of 0";
  } else if (app_share) {
    cause.app_share = cause.share * *app_share;
  }
  return cause;
}

KernelCause absent(const KernelFactorState& state) {
  KernelCause cause = cause_of(row_of(state.factor));
  const bool is_refused = state.absence == FactorAbsence::refused;
  cause.state = is_refused ? CauseState::refused : CauseState::not_present;
  cause.reason = state.reason;
  return cause;
}

/// Groups that write the same lines cost something that the kernel itself does not pay.
void bound_by_collisions(KernelCause& cause, const Folding& folding, std::uint64_t needed) {
  if (folding.collide_from < needed) return;
  cause.is_lower_bound = true;
  const std::string collide =
      fmt::format("with {} or fewer distinct groups, several groups write the same lines",
                  folding.collide_from);
  cause.reason = cause.reason.empty() ? "at least: " + collide : cause.reason + "; " + collide;
}

/// `whole` is the value of all that folding takes away; main memory and last cache have their parts
/// of it by the curve.
std::vector<KernelCause> split_memory(const KernelTimes& times, const KernelCauses& found,
                                      const Cost& whole, const AblationOptions& options) {
  const Folding& folding = *found.folding;
  const FoldedTime* const all = find_groups(times, folding.all_groups);
  const FoldedTime* const least = find_groups(times, folding.fastest_groups);
  const FoldedTime* const cached =
      folding.cached_groups ? find_groups(times, folding.fastest_cached_groups) : nullptr;
  if (all == nullptr || least == nullptr || cached == nullptr) {
    KernelCause memory =
        valued(cause_of(row_of(KernelFactor::memory)), whole, found, times.app_share);
    bound_by_collisions(memory, folding, 1);
    return {memory};
  }
  Cost main = find_gain(all->visits_ns, cached->visits_ns, options);
  Cost last = find_gain(cached->visits_ns, least->visits_ns, options);
  const double sum = main.ns + last.ns;
  if (sum > 0.0 && whole.ns > 0.0) {
    main = scaled(main, whole.ns / sum);
    last = scaled(last, whole.ns / sum);
  }
  KernelCause main_memory = valued(cause_of(main_memory_row), main, found, times.app_share);
  KernelCause last_cache = valued(cause_of(last_cache_row), last, found, times.app_share);
  bound_by_collisions(main_memory, folding, *folding.cached_groups);
  bound_by_collisions(last_cache, folding, 1);
  return {main_memory, last_cache};
}

std::vector<KernelInteraction> interactions_of(const Ablation& ablation,
                                               std::span<const KernelFactor> factors) {
  const std::vector<std::uint32_t> needs = needs_of(factors);
  const double whole = ablation.none.ns;
  std::vector<KernelInteraction> found;
  for (std::size_t i = 0; i < factors.size() && whole > 0.0; ++i) {
    for (std::size_t j = i + 1; j < factors.size(); ++j) {
      // Lanes are not there with memory.
      if ((needs[i] >> j & 1U) != 0 || (needs[j] >> i & 1U) != 0) continue;
      const Cost& both = ablation.interactions[i][j];
      found.push_back({.first = row_of(factors[i]).gsi,
                       .second = row_of(factors[j]).gsi,
                       .share = both.ns / whole,
                       .share_interval = {both.interval.low / whole, both.interval.high / whole},
                       .is_resolved = both.is_resolved});
    }
  }
  return found;
}

bool are_rounds(std::span<const AblationBuild> builds) {
  return std::ranges::all_of(builds, [&](const AblationBuild& each) {
    return each.visits_ns.size() == builds.front().visits_ns.size();
  });
}

/// A factor without which the kernel takes longer, by this share of its time.
struct Hindrance {
  KernelFactor factor{};
  double share{0.0};
};

/// The kernel's time by factors that make it no slower when they are taken away.
struct Attribution {
  std::vector<KernelFactor> factors{};
  std::vector<AblationBuild> builds{};
  Ablation ablation{};
  std::vector<Hindrance> hindrances{};  ///< the others
};

/// The place of the factor that is worst to take away; nothing where none is. Of memory the fastest
/// folding was chosen, so that it is less than nothing by noise alone.
std::optional<std::size_t> find_worst(const Attribution& now) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < now.factors.size(); ++i) {
    const Cost& cost = now.ablation.factors[i];
    if (now.factors[i] == KernelFactor::memory || !cost.is_resolved || cost.ns >= 0.0) continue;
    if (!worst || cost.ns < now.ablation.factors[*worst].ns) worst = i;
  }
  return worst;
}

/// Builds that leave that factor where it is, which is none of theirs any more.
std::vector<AblationBuild> without_factor(std::span<const AblationBuild> builds,
                                          std::size_t place) {
  std::vector<AblationBuild> left;
  for (const AblationBuild& each : builds) {
    if ((each.idealised >> place & 1U) != 0) continue;
    const std::uint32_t below = each.idealised & ((1U << place) - 1U);
    left.push_back({below | (each.idealised >> (place + 1) << place), each.visits_ns});
  }
  return left;
}

void attribute_builds(const AblationOptions& options, Attribution& now) {
  AblationOptions own = options;
  own.are_rounds = are_rounds(now.builds);
  own.needs = needs_of(now.factors);
  now.ablation = attribute_time(now.builds, now.factors.size(), own);
}

/// What is no idealisation, since the kernel becomes slower by it, would leave more than all of
/// the time to the others.
Attribution attribution_of(const KernelTimes& times, const AblationOptions& options) {
  Attribution now{.factors = taken_away(times.factors), .builds = times.builds};
  while (!now.factors.empty()) {
    attribute_builds(options, now);
    const std::optional<std::size_t> worst = find_worst(now);
    if (!worst) return now;
    const double ns = now.ablation.factors[*worst].ns;
    now.hindrances.push_back({now.factors[*worst], -ns / now.ablation.none.ns});
    now.builds = without_factor(now.builds, *worst);
    now.factors.erase(now.factors.begin() + static_cast<std::ptrdiff_t>(*worst));
  }
  now.ablation.none = {.ns = typical_ns(times.identity_ns), .is_resolved = true};
  now.ablation.none.interval = {now.ablation.none.ns, now.ablation.none.ns};
  now.ablation.all = now.ablation.none;
  return now;
}

KernelCause hindering(const Hindrance& hindrance) {
  KernelCause cause = cause_of(row_of(hindrance.factor));
  cause.state = CauseState::not_resolved;
  cause.reason = fmt::format("not resolved: without it the kernel takes {:.1f} % longer",
                             100.0 * hindrance.share);
  return cause;
}

void attribute(const KernelTimes& times, const AblationOptions& options, KernelCauses& found) {
  const Attribution attribution = attribution_of(times, options);
  const Ablation& ablation = attribution.ablation;
  if (!attribution.factors.empty()) {
    found.interactions = interactions_of(ablation, attribution.factors);
  }
  found.total = ablation.none;
  found.unattributed = ablation.all;
  found.unattributed_share = found.total.ns > 0.0 ? ablation.all.ns / found.total.ns : 1.0;
  std::size_t place = 0;
  for (const KernelFactorState& each : times.factors) {
    if (each.absence != FactorAbsence::none) {
      found.causes.push_back(absent(each));
      continue;
    }
    const auto& hindrances = attribution.hindrances;
    const auto hindrance = std::ranges::find(hindrances, each.factor, &Hindrance::factor);
    if (hindrance != hindrances.end()) {
      found.causes.push_back(hindering(*hindrance));
      continue;
    }
    const Cost& cost = ablation.factors[place++];
    if (each.factor == KernelFactor::memory && found.folding) {
      const std::vector<KernelCause> parts = split_memory(times, found, cost, options);
      found.causes.insert(found.causes.end(), parts.begin(), parts.end());
    } else {
      found.causes.push_back(valued(cause_of(row_of(each.factor)), cost, found, times.app_share));
    }
  }
}

std::optional<WindowSpread> spread_of(const std::vector<Visits>& windows,
                                      const AblationOptions& options) {
  std::vector<const Visits*> measured;
  for (const Visits& each : windows) {
    if (!each.empty()) measured.push_back(&each);
  }
  if (measured.size() < 2) return std::nullopt;
  const auto [least, most] = std::ranges::minmax_element(
      measured, [](const Visits* a, const Visits* b) { return typical_ns(*a) < typical_ns(*b); });
  const double shortest_ns = typical_ns(**least);
  if (!(shortest_ns > 0.0)) return std::nullopt;
  const Cost more = find_gain(**most, **least, options);
  return WindowSpread{
      .windows = measured.size(),
      .share = more.ns / shortest_ns,
      .share_interval = {more.interval.low / shortest_ns, more.interval.high / shortest_ns},
      .is_resolved = more.is_resolved};
}

/// In turns, where there were some: between two points of a run a host may have become busy.
void set_instrument_ratio(const KernelTimes& times, KernelCauses& found) {
  found.instrument_ratio = typical_ns(times.identity_ns) / typical_ns(times.plain_ns);
  found.instrument_interval = {found.instrument_ratio, found.instrument_ratio};
  const std::vector<double>& logs = times.turn_log_ratios;
  if (logs.size() < min_turn_blocks) return;
  const double mean =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  const Interval interval = anytime_interval(logs);
  found.instrument_ratio = std::exp(mean);
  found.instrument_interval = {std::exp(interval.low), std::exp(interval.high)};
}

/// Why nothing else is believed; empty where it is.
std::string instrument_doubt(const KernelCauses& found) {
  const auto& [low, high] = found.instrument_interval;
  if (low > max_instrument_ratio || high < 1.0 / max_instrument_ratio) {
    return fmt::format(
        "instrumented, the kernel runs {:.2f} times as long, so a breakdown would not describe the "
        "original",
        found.instrument_ratio);
  }
  if (high <= max_instrument_span * low) return {};
  return fmt::format("the slowdown by instrumentation is uncertain ({:.2f} to {:.2f} times)", low,
                     high);
}

}  // namespace

std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options) {
  const std::vector<FoldedTime> sorted = sorted_by_groups(sweep);
  if (sorted.size() < 2) return std::nullopt;
  Folding folding{.all_groups = sorted.front().distinct_groups};
  const FoldedTime& least = fastest_of(sorted, options.min_groups);
  folding.fastest_groups = least.distinct_groups;
  folding.collide_from = find_collision(sorted, least, options.min_groups);
  if (!(options.buffer_bytes > 0.0) || !options.last_cache_bytes) return folding;
  const double group_bytes = options.buffer_bytes / static_cast<double>(folding.all_groups);
  const auto fits = [&](const FoldedTime& each) {
    // Half: other data, and lines that share a set, are in it as well.
    const double bytes = group_bytes * static_cast<double>(each.distinct_groups);
    return bytes <= *options.last_cache_bytes / 2.0;
  };
  const auto fitting = std::ranges::find_if(sorted, fits);
  if (fitting == sorted.end() || fitting->distinct_groups < options.min_groups) return folding;
  const auto place = static_cast<std::size_t>(fitting - sorted.begin());
  folding.cached_groups = sorted[find_cached(sorted, place, options.min_groups)].distinct_groups;
  folding.fastest_cached_groups = fastest_of(sorted, *folding.cached_groups).distinct_groups;
  return folding;
}

std::string instrument_reason(const Interval& ratio) {
  const bool is_inside =
      ratio.low >= 1.0 / max_instrument_ratio && ratio.high <= max_instrument_ratio;
  if (is_inside) return {};
  return fmt::format("not resolved: the interval exceeds the range {:.2f} to {:.2f}",
                     1.0 / max_instrument_ratio, max_instrument_ratio);
}

std::vector<KernelFactor> taken_away(std::span<const KernelFactorState> factors) {
  std::vector<KernelFactor> taken;
  for (const KernelFactorState& each : factors) {
    if (each.absence == FactorAbsence::none) taken.push_back(each.factor);
  }
  return taken;
}

std::vector<std::uint32_t> needs_of(std::span<const KernelFactor> factors) {
  const auto memory = std::ranges::find(factors, KernelFactor::memory);
  std::vector<std::uint32_t> needs;
  for (const KernelFactor each : factors) {
    const bool is_nested = each == KernelFactor::lanes && memory != factors.end();
    needs.push_back(is_nested ? 1U << static_cast<unsigned>(memory - factors.begin()) : 0U);
  }
  return needs;
}

KernelCauses find_kernel_causes(const KernelTimes& times, const FoldingOptions& folding,
                                const AblationOptions& options) {
  KernelCauses found;
  if (times.plain_ns.empty() || times.identity_ns.empty()) {
    found.doubt = "not measured";
    return found;
  }
  set_instrument_ratio(times, found);
  found.doubt = instrument_doubt(found);
  if (!found.doubt.empty()) {
    found.advice = kernel_advice(found);
    return found;
  }
  found.is_believed = true;
  found.folding = find_folding(times.sweep, folding);
  found.window_spread = spread_of(times.windows_ns, options);
  attribute(times, options, found);
  found.advice = kernel_advice(found);
  return found;
}

std::vector<KernelCause> ranked_causes(const KernelCauses& causes) {
  std::vector<KernelCause> ranked;
  std::ranges::copy_if(causes.causes, std::back_inserter(ranked),
                       [](const KernelCause& each) { return each.state == CauseState::found; });
  std::ranges::stable_sort(
      ranked, [](const KernelCause& a, const KernelCause& b) { return a.cost.ns > b.cost.ns; });
  return ranked;
}

}  // namespace clprobe
