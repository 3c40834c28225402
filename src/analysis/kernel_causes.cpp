// SPDX-License-Identifier: Apache-2.0
// A kernel's causes: the working-set curve, the attribution of its time, and waits for results.
#include "clprobe/kernel_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/paired.hpp"

namespace clprobe {
namespace {

std::vector<FoldedTime> sorted_by_groups(std::span<const FoldedTime> sweep) {
  std::vector<FoldedTime> sorted;
  std::copy_if(sweep.begin(), sweep.end(), std::back_inserter(sorted),
               [](const FoldedTime& each) { return !each.visits_ns.empty(); });
  std::stable_sort(sorted.begin(), sorted.end(), [](const FoldedTime& a, const FoldedTime& b) {
    return a.distinct_groups > b.distinct_groups;
  });
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

// Fewer have no interval.
constexpr std::size_t min_turn_blocks = 4;

struct CauseRow {
  std::string_view name;
  std::string_view title;
  std::string_view gsi;
};

constexpr std::array factor_rows{
    CauseRow{"memory", "memory", "memory data"},
    CauseRow{"barriers", "barriers", "synchronization: barrier"},
    CauseRow{"atomics", "atomics", "memory structural: serial requests"},
    CauseRow{"lanes", "differences between lanes", "memory structural: lanes"},
    CauseRow{"fences", "fences", "memory structural: pending release"},
    CauseRow{"functions", "special functions", "compute structural"}};
constexpr CauseRow main_memory_row{"main_memory", "main memory", "memory data: main memory"};
constexpr CauseRow last_cache_row{"last_cache", "last cache", "memory data: last cache"};

const CauseRow& row_of(KernelFactor factor) {
  return factor_rows.at(static_cast<std::size_t>(factor));
}

KernelCause cause_of(const CauseRow& row) {
  return {.name = row.name, .title = row.title, .gsi = row.gsi};
}

const FoldedTime* find_groups(const KernelTimes& times, std::uint64_t groups) {
  const auto found =
      std::find_if(times.sweep.begin(), times.sweep.end(), [&](const FoldedTime& each) {
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

/// A part of the bar with its cost.
KernelCause valued(const CauseRow& row, const Cost& cost, const KernelCauses& found,
                   std::optional<double> app_share) {
  KernelCause cause =
      with_cost(cause_of(row), cost, found.total.ns, "the kernel takes longer without it");
  if (cause.state == CauseState::found && app_share) cause.app_share = cause.share * *app_share;
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
    KernelCause memory = valued(row_of(KernelFactor::memory), whole, found, times.app_share);
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
  KernelCause main_memory = valued(main_memory_row, main, found, times.app_share);
  KernelCause last_cache = valued(last_cache_row, last, found, times.app_share);
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
  return std::all_of(builds.begin(), builds.end(), [&](const AblationBuild& each) {
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
    const auto hindrance =
        std::find_if(hindrances.begin(), hindrances.end(),
                     [&](const Hindrance& other) { return other.factor == each.factor; });
    if (hindrance != hindrances.end()) {
      found.causes.push_back(hindering(*hindrance));
      continue;
    }
    const Cost& cost = ablation.factors[place++];
    if (each.factor == KernelFactor::memory && found.folding) {
      const std::vector<KernelCause> parts = split_memory(times, found, cost, options);
      found.causes.insert(found.causes.end(), parts.begin(), parts.end());
    } else {
      found.causes.push_back(valued(row_of(each.factor), cost, found, times.app_share));
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
  const auto [least, most] = std::minmax_element(
      measured.begin(), measured.end(),
      [](const Visits* a, const Visits* b) { return typical_ns(*a) < typical_ns(*b); });
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

/// Beside loads that outlast the kernel, one that waits for loads takes much longer: each of its
/// own stands behind a few of them. One that waits for results does not feel them.
constexpr double max_slowed = 1.2;
/// Where less is free the kernel hardly waits, for whatever it is, and loads beside it take slots.
constexpr double min_free = 0.1;

/// Copies are of what is left, and no more: taking away what makes the kernel slower does not count
/// as a cause, and copies are without it all the same.
constexpr double max_other = 1.1;
/// Copies that take less than this, of the time of one, have not filled a unit.
constexpr double min_filled = 1.25;

KernelCause chains_cause() {
  return {.name = "chains", .title = "dependent arithmetic", .gsi = "compute data"};
}

KernelCause refused_chains(std::string reason) {
  KernelCause cause = chains_cause();
  cause.state = CauseState::refused;
  cause.reason = std::move(reason);
  return cause;
}

/// Of the places of its groups, as they start, the part that work fills: where that is less for
/// one compute unit than for another, or in the last wave, copies fill it as well, and nobody waits
/// there.
double balance_of(const BareRuns& runs) {
  const bool is_known = runs.resident_groups > 0;
  const std::uint64_t places = is_known && runs.groups > runs.resident_groups
                                   ? runs.resident_groups
                                   : std::max<std::uint64_t>(1, runs.units);
  const std::uint64_t turns = (runs.groups + places - 1) / places;
  if (turns == 0) return 1.0;
  return static_cast<double>(runs.groups) / static_cast<double>(turns * places);
}

/// How many copies the device has places for at once, as far as that matters.
double copies_at_once(const BareRuns& runs) {
  if (runs.groups == 0) return 1.0;
  const auto room = static_cast<double>(runs.resident_groups) / static_cast<double>(runs.groups);
  return std::clamp(room, 1.0, static_cast<double>(bare_copies));
}

/// Why the kernel may wait for longer than copies say; empty where they filled a unit.
std::string bound_of(const BareRuns& runs, double alone_ns, double busy_ns) {
  const double at_once = copies_at_once(runs);
  if (busy_ns * at_once >= min_filled * alone_ns) return {};
  return at_once < bare_copies
             ? fmt::format("at least: only {:.1f} copies of its groups fit at once", at_once)
             : fmt::format("at least: {} concurrent copies do not fill the compute units",
                           bare_copies);
}

/// The time for which a unit has work of one launch, where it has most.
Visits busy_of(const BareRuns& runs) {
  const double balance = balance_of(runs);
  Visits busy_ns = runs.copies_ns;
  for (std::vector<double>& visit : busy_ns) {
    for (double& ns : visit) ns /= balance;
  }
  return busy_ns;
}

/// Why nothing is left to wait for: copies hinder each other, or take less time for each, but may
/// have run where one leaves places idle.
std::string nothing_free(const BareRuns& runs, double alone_ns) {
  return typical_ns(runs.copies_ns) < alone_ns
             ? "not resolved: concurrent copies may only fill compute units that the kernel leaves "
               "idle"
             : "not resolved: concurrent copies slow each other, so no compute unit is free";
}

KernelCause valued_chains(Cost free, std::string bound, std::string negative,
                          const KernelCauses& causes) {
  const bool is_negative = free.is_resolved && free.ns < 0.0;
  if (is_negative) free = {};
  KernelCause cause = with_cost(chains_cause(), free, causes.total.ns);
  if (is_negative) cause.reason = std::move(negative);
  if (cause.state != CauseState::found) return cause;
  cause.is_lower_bound = !bound.empty();
  cause.reason = std::move(bound);
  return cause;
}

/// Of what could not be taken away, waiting that copies fill as well; nothing where there is none.
const KernelCause* find_hidden(const KernelCauses& causes) {
  constexpr std::array hidden{std::string_view("memory"), std::string_view("barriers"),
                              std::string_view("fences"), std::string_view("functions")};
  const auto found =
      std::find_if(causes.causes.begin(), causes.causes.end(), [&](const KernelCause& each) {
        return each.state == CauseState::refused &&
               std::find(hidden.begin(), hidden.end(), each.name) != hidden.end();
      });
  return found == causes.causes.end() ? nullptr : &*found;
}

KernelCause chains_of(const BareRuns& runs, KernelCauses& causes) {
  if (!runs.refusal.empty()) return refused_chains(runs.refusal);
  if (const KernelCause* const hidden = find_hidden(causes)) {
    return refused_chains(fmt::format("the remaining kernel still contains {}", hidden->title));
  }
  if (runs.alone_ns.empty() || runs.copies_ns.empty() || runs.beside_loads_ns.empty()) {
    return refused_chains("not all required launches were measured");
  }
  const double left = typical_ns(runs.alone_ns) / causes.unattributed.ns;
  if (left > max_other || left < 1.0 / max_other) {
    return refused_chains(fmt::format(
        "with all causes removed, the kernel takes {:.2f} times the unattributed time", left));
  }
  const Visits busy = busy_of(runs);
  const Cost free = find_gain(runs.alone_ns, busy);
  const double alone_ns = typical_ns(runs.alone_ns);
  const double slowed = typical_ns(runs.beside_loads_ns) / alone_ns;
  const std::string bound = bound_of(runs, alone_ns, typical_ns(busy));
  KernelCause cause = valued_chains(free, bound, nothing_free(runs, alone_ns), causes);
  if (free.ns < min_free * alone_ns || slowed <= max_slowed) return cause;
  causes.near_waits = {cause.share, cause.share_interval, bound};
  return refused_chains(
      fmt::format("the remaining kernel also waits for loads: next to other loads it takes {:.2f} "
                  "times as long",
                  slowed));
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
  const auto fitting = std::find_if(sorted.begin(), sorted.end(), fits);
  if (fitting == sorted.end() || fitting->distinct_groups < options.min_groups) return folding;
  const auto place = static_cast<std::size_t>(fitting - sorted.begin());
  folding.cached_groups = sorted[find_cached(sorted, place, options.min_groups)].distinct_groups;
  folding.fastest_cached_groups = fastest_of(sorted, *folding.cached_groups).distinct_groups;
  return folding;
}

KernelCause with_cost(KernelCause cause, const Cost& cost, double whole_ns,
                      std::string_view if_negative) {
  cause.cost = cost;
  if (whole_ns > 0.0) {
    cause.share = cost.ns / whole_ns;
    cause.share_interval = {cost.interval.low / whole_ns, cost.interval.high / whole_ns};
  }
  const bool is_found = cost.is_resolved && cost.ns > 0.0;
  cause.state = is_found ? CauseState::found : CauseState::not_resolved;
  if (!is_found) {
    cause.reason =
        fmt::format("not resolved: {}", cost.is_resolved ? if_negative : "within two sigma of 0");
  }
  return cause;
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
  const auto memory = std::find(factors.begin(), factors.end(), KernelFactor::memory);
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
  std::copy_if(causes.causes.begin(), causes.causes.end(), std::back_inserter(ranked),
               [](const KernelCause& each) { return each.state == CauseState::found; });
  std::stable_sort(ranked.begin(), ranked.end(), [](const KernelCause& a, const KernelCause& b) {
    return a.cost.ns > b.cost.ns;
  });
  return ranked;
}

void add_chains(const BareRuns& runs, KernelCauses& causes) {
  if (!causes.is_believed || !(causes.total.ns > 0.0)) return;
  KernelCause cause = chains_of(runs, causes);
  if (cause.state == CauseState::found || cause.state == CauseState::not_resolved) {
    // Both are parts of one launch: what one has more, the other has less.
    Cost& left = causes.unattributed;
    left.ns -= cause.cost.ns;
    left.interval = {std::max(0.0, left.interval.low - cause.cost.interval.high),
                     left.interval.high - cause.cost.interval.low};
    causes.unattributed_share -= cause.share;
  }
  causes.causes.push_back(std::move(cause));
  causes.advice = kernel_advice(causes);
}

}  // namespace clprobe
