// SPDX-License-Identifier: Apache-2.0
// The working-set curve of a kernel, the attribution of its time to causes, and waits for results.
#include "probes/kernel/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "compare/api/paired.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Possibility;

std::vector<FoldedTime> sorted_by_groups(std::span<const FoldedTime> sweep) {
  std::vector<FoldedTime> sorted;
  std::copy_if(sweep.begin(), sweep.end(), std::back_inserter(sorted),
               [](const FoldedTime& each) { return !each.visits_ns.empty(); });
  std::stable_sort(sorted.begin(), sorted.end(), [](const FoldedTime& a, const FoldedTime& b) {
    return a.distinct_groups > b.distinct_groups;
  });
  return sorted;
}

/// Returns the point with the minimum time among points with at least `groups` groups. Of points
/// with equal times, returns the point with the most groups.
const FoldedTime& fastest_of(const std::vector<FoldedTime>& sorted, std::uint64_t groups) {
  const FoldedTime* fastest = &sorted.front();
  double min_ns = std::numeric_limits<double>::infinity();
  for (const FoldedTime& each : sorted) {
    const double ns = typical_ns(each.visits_ns);
    if (each.distinct_groups < groups || !(ns < min_ns)) continue;
    fastest = &each;
    min_ns = ns;
  }
  return *fastest;
}

/// True if `after` takes less time than `before` by more than noise and 5 %.
bool is_clearly_faster(const FoldedTime& after, const FoldedTime& before) {
  constexpr double clearly_less = 0.95;
  return typical_ns(after.visits_ns) < clearly_less * typical_ns(before.visits_ns) &&
         find_gain(before.visits_ns, after.visits_ns).is_resolved;
}

/// Returns the index of the largest number of groups whose data fits the last cache.
///
/// Groups may access more than their share of the buffers, so the number at index `fitting` may
/// still access main memory. The search goes on to smaller numbers while each smaller number
/// clearly takes less time, down to a sixteenth (inclusive). This limit keeps the search above the
/// numbers that fit L1, which is much smaller than the shared cache.
std::size_t find_cached(const std::vector<FoldedTime>& sorted, std::size_t fitting,
                        std::uint64_t min_groups) {
  constexpr std::uint64_t max_reach = 16;
  std::size_t cached = fitting;
  for (std::size_t i = fitting + 1; i < sorted.size(); ++i) {
    const std::uint64_t groups = sorted[i].distinct_groups;
    const bool is_near = groups * max_reach >= sorted[fitting].distinct_groups;
    if (!is_near || groups < min_groups || !is_clearly_faster(sorted[i], sorted[cached])) break;
    cached = i;
  }
  return cached;
}

/// Returns the largest number of groups from which down the kernel clearly takes longer than at the
/// fastest number; 0 if there is none.
std::uint64_t find_collision(const std::vector<FoldedTime>& sorted, const FoldedTime& fastest,
                             std::uint64_t min_groups) {
  std::uint64_t from = 0;
  for (std::size_t i = sorted.size(); i-- > 0;) {
    const FoldedTime& each = sorted[i];
    if (each.distinct_groups < min_groups) continue;
    if (each.distinct_groups >= fastest.distinct_groups) break;
    if (!is_clearly_faster(fastest, each)) break;
    from = each.distinct_groups;
  }
  return from;
}

// Minimum number of blocks of alternating launches for an interval of the ratio.
constexpr std::size_t min_blocks = 4;

constexpr CauseRow main_memory_row{
    "main_memory", "main memory", "memory data: main memory",
    "move less data, or let resident groups share tiles that fit in the last-level cache"};
constexpr CauseRow last_cache_row{
    "last_cache", "the last-level cache", "memory data: last-level cache",
    "keep reused data in local memory or registers, and let neighbouring work-items load "
    "neighbouring words"};
constexpr CauseRow chains_row{
    "chains", "dependent arithmetic", "compute data",
    "give each work-item several independent accumulators, or each compute unit more sub-groups"};

constexpr CauseRow loads_row{"loads", "loads", "memory data: loads",
                             "load less, and keep reused values in registers or local memory"};
constexpr CauseRow stores_row{"stores", "stores", "memory data: stores",
                              "store less often, and keep sums in registers until the end"};

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

KernelCause valued(const CauseRow& row, const Cost& cost, const KernelCauses& found) {
  return with_cost({.row = row}, cost, found.total.ns,
                   "the kernel takes longer without this cause");
}

/// Marks the cost as a lower bound if groups of the reduced launch write the same cache lines. Such
/// conflicts slow only the reduced launch, so the measured gain is too small.
void bound_by_collisions(KernelCause& cause, const Folding& folding, std::uint64_t needed) {
  if (folding.collide_from < needed) return;
  cause.is_lower_bound = true;
  const std::string collide = fmt::format(
      "with {} or fewer distinct groups, several groups write the same cache lines, which slows "
      "only the launch with a reduced working set",
      folding.collide_from);
  cause.reason = cause.reason.empty() ? "at least: " + collide : cause.reason + "; " + collide;
}

/// Returns the cost of memory. The cost is divided between main memory and the last cache if the
/// working-set curve shows which number of groups fits the last cache.
std::vector<KernelCause> split_memory(const KernelTimes& times, const KernelCauses& found,
                                      const Cost& whole) {
  const Folding& folding = *found.folding;
  const FoldedTime* const all = find_groups(times, folding.all_groups);
  const FoldedTime* const fastest = find_groups(times, folding.fastest_groups);
  const FoldedTime* const cached =
      folding.cached_groups ? find_groups(times, folding.fastest_cached_groups) : nullptr;
  if (all == nullptr || fastest == nullptr || cached == nullptr) {
    KernelCause memory = valued(row_of(Factor::memory).cause, whole, found);
    bound_by_collisions(memory, folding, 1);
    return {memory};
  }
  Cost main = find_gain(all->visits_ns, cached->visits_ns);
  Cost last = find_gain(cached->visits_ns, fastest->visits_ns);
  const double sum = main.ns + last.ns;
  if (sum > 0.0 && whole.ns > 0.0) {
    main = scaled(main, whole.ns / sum);
    last = scaled(last, whole.ns / sum);
  }
  KernelCause main_memory = valued(main_memory_row, main, found);
  KernelCause last_cache = valued(last_cache_row, last, found);
  bound_by_collisions(main_memory, folding, *folding.cached_groups);
  bound_by_collisions(last_cache, folding, 1);
  return {main_memory, last_cache};
}

/// Attribution of the kernel's time to the factors whose removal does not slow the kernel.
struct Attribution {
  std::vector<Factor> factors{};
  std::vector<AblationBuild> builds{};
  Ablation ablation{};
  /// Slowdown by removing each factor that is not in `factors`, as a share of the time.
  std::map<Factor, double> slowdowns{};
};

/// Returns the index of the factor whose removal slows the kernel most; nothing if no removal slows
/// the kernel. Memory is excluded: its reduction was chosen as the fastest, so only noise makes the
/// cost of memory negative.
std::optional<std::size_t> find_worst(const Attribution& now) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < now.factors.size(); ++i) {
    const Cost& cost = now.ablation.factors[i];
    if (now.factors[i] == Factor::memory || !cost.is_resolved || cost.ns >= 0.0) continue;
    if (!worst || cost.ns < now.ablation.factors[*worst].ns) worst = i;
  }
  return worst;
}

/// Returns the builds that keep the factor at `index`, without the factor's bit in their sets.
std::vector<AblationBuild> without_factor(std::span<const AblationBuild> builds,
                                          std::size_t index) {
  std::vector<AblationBuild> left;
  for (const AblationBuild& each : builds) {
    if ((each.idealised >> index & 1U) != 0) continue;
    const std::uint32_t below = each.idealised & ((1U << index) - 1U);
    left.push_back({below | (each.idealised >> (index + 1) << index), each.visits_ns});
  }
  return left;
}

/// Attributes the kernel's time to factors. Factors whose removal slows the kernel are left out,
/// because the costs of the remaining factors would otherwise sum to more than the whole time.
Attribution attribution_of(const KernelTimes& times) {
  Attribution now{.factors = removable(times.verdicts), .builds = times.builds};
  while (!now.factors.empty()) {
    const bool are_rounds =
        std::all_of(now.builds.begin(), now.builds.end(), [&](const AblationBuild& each) {
          return each.visits_ns.size() == now.builds.front().visits_ns.size();
        });
    now.ablation = attribute_time(now.builds, now.factors.size(),
                                  {.needs = needs_of(now.factors), .are_rounds = are_rounds});
    const std::optional<std::size_t> worst = find_worst(now);
    if (!worst) return now;
    const double ns = now.ablation.factors[*worst].ns;
    now.slowdowns[now.factors[*worst]] = -ns / now.ablation.none.ns;
    now.builds = without_factor(now.builds, *worst);
    now.factors.erase(now.factors.begin() + static_cast<std::ptrdiff_t>(*worst));
  }
  const double ns = typical_ns(times.identity_ns);
  now.ablation.none = {.ns = ns, .interval = {ns, ns}, .is_resolved = true};
  now.ablation.all = now.ablation.none;
  return now;
}

/// Returns the bits of the factors that a change of code against the factor at `index` removes. A
/// kernel without local memory needs no barriers.
std::uint32_t removed_with(std::span<const Factor> factors, std::size_t index) {
  std::uint32_t bits = 1U << index;
  if (factors[index] != Factor::local_memory) return bits;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == Factor::barriers) bits |= 1U << i;
  }
  return bits;
}

/// Returns the largest time in ns that removing the factors `removed` saves, over all sets of other
/// removed factors.
double max_gain(std::span<const AblationBuild> builds, std::uint32_t removed) {
  double gain = 0.0;
  for (const AblationBuild& with : builds) {
    if ((with.idealised & removed) != 0) continue;
    const auto without = std::find_if(builds.begin(), builds.end(), [&](const AblationBuild& each) {
      return each.idealised == (with.idealised | removed);
    });
    if (without == builds.end()) continue;
    gain = std::max(gain, typical_ns(with.visits_ns) - typical_ns(without->visits_ns));
  }
  return gain;
}

/// Marks the cost as a lower bound if `times.kept` has a reason for the factor.
void bound_by_kept(const KernelTimes& times, Factor factor, KernelCause& cause) {
  const auto kept = times.kept.find(factor);
  if (!times.is_rewritten || kept == times.kept.end()) return;
  cause.is_lower_bound = true;
  if (cause.reason.empty()) cause.reason = kept->second;
}

void attribute(const KernelTimes& times, KernelCauses& found) {
  const Attribution attribution = attribution_of(times);
  const Ablation& ablation = attribution.ablation;
  found.total = ablation.none;
  found.unattributed = ablation.all;
  found.unattributed_share = found.total.ns > 0.0 ? ablation.all.ns / found.total.ns : 1.0;
  std::size_t index = 0;
  for (std::size_t i = 0; i < factor_count; ++i) {
    const CauseRow& row = factor_rows.at(i).cause;
    const prelude::Verdict& verdict = times.verdicts.at(i);
    if (verdict.possibility != Possibility::usable) {
      const bool is_refused = verdict.possibility == Possibility::refused;
      found.causes.push_back({.row = row,
                              .state = is_refused ? CauseState::refused : CauseState::not_present,
                              .reason = verdict.reason});
      continue;
    }
    const auto slowdown = attribution.slowdowns.find(factor_at(i));
    if (slowdown != attribution.slowdowns.end()) {
      found.causes.push_back(
          {.row = row,
           .reason =
               fmt::format("not resolved: without this cause the kernel takes {:.1f} % longer",
                           100.0 * slowdown->second)});
      continue;
    }
    const Cost& cost = ablation.factors[index];
    if (factor_at(i) == Factor::memory && found.folding && !times.is_rewritten) {
      const std::vector<KernelCause> parts = split_memory(times, found, cost);
      found.causes.insert(found.causes.end(), parts.begin(), parts.end());
    } else {
      found.causes.push_back(valued(row, cost, found));
      const std::uint32_t removed = removed_with(attribution.factors, index);
      found.causes.back().max_share = max_gain(attribution.builds, removed) / found.total.ns;
      found.causes.back().max_has_barriers = !std::has_single_bit(removed);
      bound_by_kept(times, factor_at(i), found.causes.back());
    }
    ++index;
  }
}

/// Adds what the kernel saves without its loads alone, and without its stores alone. A store in a
/// loop also keeps loads from moving across it, so removing both may save more or less than the
/// sum of the two.
void add_details(const KernelTimes& times, KernelCauses& found) {
  const auto add = [&](const CauseRow& row, const Visits& without_ns) {
    if (without_ns.empty()) return;
    found.details.push_back(valued(row, find_gain(times.identity_ns, without_ns), found));
    bound_by_kept(times, Factor::memory, found.details.back());
  };
  add(loads_row, times.without_loads_ns);
  add(stores_row, times.without_stores_ns);
}

/// Sets the ratio instrumented time / plain time, from alternating launches if at least
/// `min_blocks` blocks exist. Alternating launches are preferred, because a host may become busy
/// between two points.
void set_instrument_ratio(const KernelTimes& times, KernelCauses& found) {
  found.instrument_ratio = typical_ns(times.identity_ns) / typical_ns(times.plain_ns);
  found.instrument_interval = {found.instrument_ratio, found.instrument_ratio};
  const std::vector<double>& logs = times.log_ratios;
  if (logs.size() < min_blocks) return;
  const double mean =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  const Interval interval = anytime_interval(logs);
  found.instrument_ratio = std::exp(mean);
  found.instrument_interval = {std::exp(interval.low), std::exp(interval.high)};
}

/// Returns the reason why no cause is reported; empty if causes are reported.
std::string instrument_doubt(const KernelCauses& found) {
  const auto& [low, high] = found.instrument_interval;
  if (low > max_instrument_ratio || high < 1.0 / max_instrument_ratio) {
    return fmt::format(
        "instrumented, the kernel runs {:.2f} times as long, so a breakdown would not describe the "
        "original",
        found.instrument_ratio);
  }
  if (high <= max_instrument_span * low) return {};
  return fmt::format("the slowdown from instrumentation is uncertain ({:.2f} to {:.2f} times)", low,
                     high);
}

/// Maximum slowdown next to concurrent loads at which the kernel counts as not waiting for loads.
/// The kernel's loads queue after the concurrent loads, whereas waits for results of arithmetic are
/// not delayed.
constexpr double max_slowed = 1.2;
/// Minimum share of the time in which compute units are free. Below this share, the kernel hardly
/// waits, and concurrent loads slow the kernel by taking its issue slots.
constexpr double min_free = 0.1;
/// Maximum ratio of the copied kernel's time to the unattributed time, and of the inverse. The
/// ratio can differ from 1, because copies also lack the factors whose removal slows the kernel.
constexpr double max_other = 1.1;
/// Minimum ratio of the copies' time to a single copy's time at which the copies fill a compute
/// unit.
constexpr double min_filled = 1.25;

KernelCause refused_chains(std::string reason) {
  return {.row = chains_row, .state = CauseState::refused, .reason = std::move(reason)};
}

/// Returns the mean share of the slots for resident groups that the kernel fills. Copies also fill
/// the free slots of idle compute units and partial waves, although no group waits there.
double balance_of(const ConcurrentRuns& runs) {
  const bool is_known = runs.resident_groups > 0;
  const std::uint64_t slots = is_known && runs.groups > runs.resident_groups
                                  ? runs.resident_groups
                                  : std::max<std::uint64_t>(1, runs.units);
  const std::uint64_t waves = (runs.groups + slots - 1) / slots;
  if (waves == 0) return 1.0;
  return static_cast<double>(runs.groups) / static_cast<double>(waves * slots);
}

/// Returns the reason why the kernel may wait longer than the copies show; empty if the copies
/// filled a compute unit.
std::string bound_of(const ConcurrentRuns& runs, double alone_ns, double busy_ns) {
  double at_once = 1.0;
  if (runs.groups > 0) {
    at_once =
        std::clamp(static_cast<double>(runs.resident_groups) / static_cast<double>(runs.groups),
                   1.0, static_cast<double>(copy_count));
  }
  if (busy_ns * at_once >= min_filled * alone_ns) return {};
  return at_once < copy_count
             ? fmt::format(
                   "at least: only {:.1f} copies of the kernel's groups fit on the device at once",
                   at_once)
             : fmt::format(
                   "at least: the compute units are not full even with {} concurrent copies",
                   copy_count);
}

/// Returns the times in which the busiest compute unit has work of a single launch.
Visits busy_of(const ConcurrentRuns& runs) {
  const double balance = balance_of(runs);
  Visits busy_ns = runs.copies_ns;
  for (std::vector<double>& visit : busy_ns) {
    for (double& ns : visit) ns /= balance;
  }
  return busy_ns;
}

KernelCause valued_chains(Cost free, std::string bound, const ConcurrentRuns& runs,
                          const KernelCauses& causes) {
  const bool is_negative = free.is_resolved && free.ns < 0.0;
  if (is_negative) free = {};
  KernelCause cause = with_cost({.row = chains_row}, free, causes.total.ns);
  if (is_negative) {
    cause.reason =
        typical_ns(runs.copies_ns) < typical_ns(runs.alone_ns)
            ? "not resolved: concurrent copies possibly save time only by using compute units that "
              "the kernel leaves idle"
            : "not resolved: concurrent copies slow each other, so no compute unit is free";
  }
  if (cause.state != CauseState::found) return cause;
  cause.is_lower_bound = !bound.empty();
  cause.reason = std::move(bound);
  return cause;
}

/// Returns a wait that could not be removed and that concurrent copies hide as well; null if there
/// is none.
const CauseRow* find_hidden(const KernelCauses& causes) {
  for (const FactorRow& row : factor_rows) {
    if (!row.is_wait) continue;
    for (const KernelCause& each : causes.causes) {
      if (each.state == CauseState::refused && each.row.name == row.cause.name) return &row.cause;
    }
  }
  return nullptr;
}

KernelCause chains_of(const ConcurrentRuns& runs, KernelCauses& causes) {
  if (!runs.refusal.empty()) return refused_chains(runs.refusal);
  if (const CauseRow* const hidden = find_hidden(causes)) {
    return refused_chains(fmt::format(
        "with the other causes removed, the kernel can still wait for {}", hidden->title));
  }
  if (runs.alone_ns.empty() || runs.copies_ns.empty() || runs.next_to_loads_ns.empty()) {
    return refused_chains("not all required launches were measured");
  }
  const double alone_ns = typical_ns(runs.alone_ns);
  const double left = alone_ns / causes.unattributed.ns;
  if (left > max_other || left < 1.0 / max_other) {
    return refused_chains(fmt::format(
        "with all causes removed, the kernel takes {:.2f} times the unattributed time", left));
  }
  const Visits busy = busy_of(runs);
  const Cost free = find_gain(runs.alone_ns, busy);
  const double slowed = typical_ns(runs.next_to_loads_ns) / alone_ns;
  KernelCause cause = valued_chains(free, bound_of(runs, alone_ns, typical_ns(busy)), runs, causes);
  if (free.ns < min_free * alone_ns || slowed <= max_slowed) return cause;
  causes.near_waits = std::move(cause);
  return refused_chains(
      fmt::format("with all causes removed, the kernel still waits for loads: next to other loads, "
                  "it takes {:.2f} times as long",
                  slowed));
}

}  // namespace

std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options) {
  const std::vector<FoldedTime> sorted = sorted_by_groups(sweep);
  if (sorted.size() < 2) return std::nullopt;
  Folding folding{.all_groups = sorted.front().distinct_groups};
  const FoldedTime& fastest = fastest_of(sorted, options.min_groups);
  folding.fastest_groups = fastest.distinct_groups;
  folding.collide_from = find_collision(sorted, fastest, options.min_groups);
  if (!(options.buffer_bytes > 0.0) || !options.last_cache_bytes) return folding;
  const double group_bytes = options.buffer_bytes / static_cast<double>(folding.all_groups);
  const auto fits = [&](const FoldedTime& each) {
    // The limit is half of the cache, because the cache also holds other data and has conflicts
    // within its sets.
    const double bytes = group_bytes * static_cast<double>(each.distinct_groups);
    return bytes <= *options.last_cache_bytes / 2.0;
  };
  const auto fitting = std::find_if(sorted.begin(), sorted.end(), fits);
  if (fitting == sorted.end() || fitting->distinct_groups < options.min_groups) return folding;
  const auto index = static_cast<std::size_t>(fitting - sorted.begin());
  folding.cached_groups = sorted[find_cached(sorted, index, options.min_groups)].distinct_groups;
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
        fmt::format("not resolved: {}", cost.is_resolved ? if_negative : "the interval includes 0");
  }
  return cause;
}

std::string instrument_reason(const Interval& ratio) {
  const bool is_inside =
      ratio.low >= 1.0 / max_instrument_ratio && ratio.high <= max_instrument_ratio;
  if (is_inside) return {};
  return fmt::format("not resolved: the interval extends beyond the range {:.2f} to {:.2f}",
                     1.0 / max_instrument_ratio, max_instrument_ratio);
}

std::vector<Factor> removable(const FactorVerdicts& verdicts) {
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < factor_count; ++i) {
    if (verdicts.at(i).possibility == Possibility::usable) factors.push_back(factor_at(i));
  }
  return factors;
}

std::vector<std::uint32_t> needs_of(std::span<const Factor> factors) {
  const auto memory = std::find(factors.begin(), factors.end(), Factor::memory);
  std::vector<std::uint32_t> needs;
  needs.reserve(factors.size());
  for (const Factor each : factors) {
    const bool is_nested = each == Factor::lanes && memory != factors.end();
    needs.push_back(is_nested ? 1U << static_cast<unsigned>(memory - factors.begin()) : 0U);
  }
  return needs;
}

KernelCauses find_kernel_causes(const KernelTimes& times) {
  KernelCauses found{.is_rewritten = times.is_rewritten};
  if (times.plain_ns.empty() || times.identity_ns.empty()) {
    found.doubt = "not measured";
    return found;
  }
  set_instrument_ratio(times, found);
  if (!times.is_adjusted) found.doubt = instrument_doubt(found);
  if (!found.doubt.empty()) return found;
  found.is_believed = true;
  found.folding = find_folding(times.sweep, times.folding);
  attribute(times, found);
  if (times.is_rewritten && !times.is_adjusted) add_details(times, found);
  if (times.concurrent_runs) add_chains(*times.concurrent_runs, found);
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

void add_chains(const ConcurrentRuns& runs, KernelCauses& causes) {
  if (!causes.is_believed || !(causes.total.ns > 0.0)) return;
  KernelCause cause = chains_of(runs, causes);
  if (cause.state == CauseState::found || cause.state == CauseState::not_resolved) {
    // Waits and the remaining work add up to the time of one launch, so a longer wait means less
    // remaining work.
    Cost& left = causes.unattributed;
    left.ns -= cause.cost.ns;
    left.interval = {std::max(0.0, left.interval.low - cause.cost.interval.high),
                     left.interval.high - cause.cost.interval.low};
    causes.unattributed_share -= cause.share;
  }
  causes.causes.push_back(std::move(cause));
}

}  // namespace clprobe::kernel
