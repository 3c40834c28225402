// SPDX-License-Identifier: Apache-2.0
// Inference of the limit on outstanding loads from the spikes of all curves, and of the loads that
// a sub-group can have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "clprobe/units.hpp"
#include "probes/inflight/thread_latency.hpp"

namespace clprobe::inflight {
namespace {

using Curves = std::vector<const CurveFinding*>;

/// Kind of limit: the quantity that it counts, and its names in reasons.
struct LimitKind {
  std::int64_t (*count)(int, const LoadPattern&, int){nullptr};
  std::int64_t CurveFinding::*in_flight{nullptr};  ///< lower bound of the number in flight, from a
                                                   ///< curve
  std::string_view name{};
  std::string_view counted{};
};

constexpr LimitKind pool_kind{unique_requests, &CurveFinding::min_requests, "pool", "requests"};
constexpr LimitKind table_kind{load_instructions, &CurveFinding::min_instructions, "table",
                               "load instructions"};

/// Hypothesis that the limit is of one kind, with the curves that support and contradict it.
struct Hypothesis {
  LimitKind kind{};
  std::optional<CountRange> range{};  ///< capacities that all supporters allow
  Curves supporters{};
  Curves against{};         ///< curves with a spike that this capacity does not explain
  Curves silent{};          ///< curves that should have a spike at this capacity, but have none
  std::size_t patterns{0};  ///< number of different patterns (loads, mergers) among the supporters
  std::int64_t in_flight{0};

  /// Returns true if `range` exists and, by Little's law, its upper end is at least the number that
  /// was in flight.
  [[nodiscard]] bool is_possible() const { return range && range->high >= in_flight; }
  /// Returns true if at least two patterns agree and few curves contradict. Noise may add one
  /// contradicting spike per four supporters.
  [[nodiscard]] bool holds() const {
    return is_possible() && patterns >= 2 && 4 * against.size() <= supporters.size() &&
           silent.size() <= supporters.size();
  }
};

/// Returns the capacities c with count(before) <= c < count(after) for the spike of the curve.
/// Returns nothing if the count does not rise at the spike.
std::optional<CountRange> range_of(const CurveFinding& curve, int sub_group,
                                   const LimitKind& kind) {
  if (!curve.spike) return std::nullopt;
  const std::int64_t before = kind.count(curve.spike->before, curve.pattern, sub_group);
  const std::int64_t after = kind.count(curve.spike->after, curve.pattern, sub_group);
  return after > before ? std::optional(CountRange{before, after - 1}) : std::nullopt;
}

/// Returns true if a limit of this capacity would be visible in the curve: the work-group must
/// exceed the capacity within half a latency. The jump is then at least half a latency.
bool should_jump(const CurveFinding& curve, int sub_group, const LimitKind& kind,
                 std::int64_t capacity) {
  if (curve.waits) return false;
  int items = 1;
  while (items <= curve.max_work_items && kind.count(items, curve.pattern, sub_group) <= capacity) {
    ++items;
  }
  const auto requests = static_cast<double>(unique_requests(items, curve.pattern, sub_group));
  return items <= curve.max_work_items &&
         requests * curve.cycles_per_request < 0.5 * curve.latency_cycles;
}

/// Finds the capacity that most spikes allow, and the range that all these spikes allow.
Hypothesis weigh(const Curves& curves, int sub_group, const LimitKind& kind) {
  Hypothesis best{.kind = kind};
  for (const CurveFinding* const candidate : curves) {
    const auto candidate_range = range_of(*candidate, sub_group, kind);
    if (!candidate_range) continue;
    Hypothesis hypothesis{.kind = kind, .range = candidate_range};
    for (const CurveFinding* const each : curves) {
      const auto range = range_of(*each, sub_group, kind);
      if (!range || range->low > candidate_range->low || range->high < candidate_range->low) {
        continue;
      }
      hypothesis.supporters.push_back(each);
      hypothesis.range->high = std::min(hypothesis.range->high, range->high);
    }
    if (hypothesis.supporters.size() > best.supporters.size()) best = hypothesis;
  }
  std::set<std::pair<int, int>> patterns;
  for (const CurveFinding* const each : best.supporters) {
    patterns.emplace(each->pattern.loads, each->pattern.merger);
  }
  best.patterns = patterns.size();
  for (const CurveFinding* const each : curves) {
    best.in_flight = std::max(best.in_flight, each->*kind.in_flight);
    const bool supports = std::ranges::find(best.supporters, each) != best.supporters.end();
    if (each->spike && !supports) best.against.push_back(each);
    if (!each->spike && best.range && should_jump(*each, sub_group, kind, best.range->high)) {
      best.silent.push_back(each);
    }
  }
  return best;
}

/// Hypotheses of a pool and of a table for the same curves, and the verdict.
struct WeighedLimits {
  Hypothesis pool{};
  Hypothesis table{};
  std::size_t spikes{0};
  OutstandingKind kind{OutstandingKind::unobservable};
};

/// Returns the kind whose hypothesis holds. If both hold, the one with fewer contradicting curves
/// wins; a tie is ambiguous. If none holds, the patterns that agree on a capacity decide.
OutstandingKind decide(const Hypothesis& pool, const Hypothesis& table, std::size_t spikes) {
  const std::size_t pool_against = pool.against.size();
  const std::size_t table_against = table.against.size();
  if (pool.holds() && table.holds() && pool_against == table_against) {
    return OutstandingKind::ambiguous;
  }
  if (pool.holds() && (!table.holds() || pool_against < table_against)) {
    return OutstandingKind::request_pool;
  }
  if (table.holds()) return OutstandingKind::request_table;
  const auto agreeing = [](const Hypothesis& hypothesis) {
    const bool is_denied = hypothesis.silent.size() > hypothesis.supporters.size();
    return hypothesis.is_possible() && !is_denied ? hypothesis.patterns : 0;
  };
  const std::size_t patterns = std::max(agreeing(pool), agreeing(table));
  // A limit is visible in every curve that reaches it, so that spikes of different capacities are
  // scatter.
  if (patterns >= 2) return OutstandingKind::neither;
  return patterns == 1 && spikes == 1 ? OutstandingKind::ambiguous : OutstandingKind::unobservable;
}

WeighedLimits judge(const Curves& curves, int sub_group) {
  WeighedLimits judged;
  judged.spikes = static_cast<std::size_t>(
      std::ranges::count_if(curves, [](const auto* each) { return each->spike.has_value(); }));
  judged.pool = weigh(curves, sub_group, pool_kind);
  judged.table = weigh(curves, sub_group, table_kind);
  judged.kind = decide(judged.pool, judged.table, judged.spikes);
  return judged;
}

/// Finds how many loads of the same line an entry of the pool merges. If sub-groups share lines, a
/// full merge list makes a spike before the pool is full. The number of sub-groups at this spike
/// does not depend on the loads per work-item. The spike of a full pool needs fewer sub-groups
/// with more loads. Curves with at least two different numbers of loads, and more than half of the
/// curves with such an early spike, must therefore agree.
std::optional<int> find_mergers(std::span<const CurveFinding> curves, int sub_group,
                                const CountRange& pool) {
  std::map<int, std::set<int>> loads_by_length;
  std::map<int, int> curves_by_length;
  int early = 0;
  for (const CurveFinding& curve : curves) {
    if (!is_across(curve.pattern) || !curve.spike) continue;
    if (unique_requests(curve.spike->after, curve.pattern, sub_group) > pool.low) continue;
    ++early;
    const int length = (curve.spike->before + sub_group - 1) / sub_group;
    if (length >= curve.pattern.merger || length * sub_group >= curve.spike->after) continue;
    loads_by_length[length].insert(curve.pattern.loads);
    ++curves_by_length[length];
  }
  for (const auto& [length, loads] : loads_by_length) {
    if (loads.size() >= 2 && 2 * curves_by_length[length] > early) return length;
  }
  return std::nullopt;
}

std::string words(const LoadPattern& pattern) {
  std::string text = pattern.loads == 1 ? "1 load" : fmt::format("{} loads", pattern.loads);
  if (pattern.merger > 1) text += fmt::format(", {} work-items per line", pattern.merger);
  return text + (pattern.target.empty() ? "" : ", " + pattern.target);
}

std::string describe(const Hypothesis& hypothesis, std::size_t spikes) {
  const LimitKind& kind = hypothesis.kind;
  if (!hypothesis.range) {
    return fmt::format("A {} of {} explains no jump", kind.name, kind.counted);
  }
  const CountRange& range = *hypothesis.range;
  std::string text =
      fmt::format("A {} of {}{} {} explains {} of {}", kind.name, range.low,
                  range.high > range.low ? fmt::format(" to {}", range.high) : "", kind.counted,
                  hypothesis.supporters.size(), format_count(spikes, "jump"));
  if (!hypothesis.is_possible()) {
    text += fmt::format(", but more {} than that were in flight", kind.counted);
  }
  if (!hypothesis.against.empty()) {
    const CurveFinding& other = *hypothesis.against.front();
    text +=
        fmt::format("; in one curve ({}), this limit does not explain the jump after {} work-items",
                    words(other.pattern), other.spike->before);
  }
  if (!hypothesis.silent.empty()) {
    text += fmt::format("; {} should show the limit but {} no jump",
                        format_count(hypothesis.silent.size(), "more curve"),
                        hypothesis.silent.size() == 1 ? "has" : "have");
  }
  return text;
}

std::string first_reason(const WeighedLimits& judged) {
  switch (judged.kind) {
    case OutstandingKind::ambiguous:
      return judged.spikes == 1 ? "One jump cannot distinguish a pool from a table: measure other "
                                  "numbers of loads or mergers"
                                : "A pool and a table explain the jumps equally well: measure "
                                  "other numbers of loads or mergers";
    case OutstandingKind::neither:
      return "The jumps agree on neither a number of requests nor a number of load instructions";
    case OutstandingKind::unobservable:
      return judged.spikes == 0 ? "No curve has a jump: the limit was not reached, or requests "
                                  "issue too slowly to reach the limit within one latency"
                                : "No two jumps agree on a possible number of requests or load "
                                  "instructions: clprobe treats the jumps as scatter";
    case OutstandingKind::request_pool:
    case OutstandingKind::request_table:
      break;
  }
  return {};
}

/// Returns a summary if there is one, what each kind of limit explains, and the lower bounds.
std::vector<std::string> reasons_of(const OutstandingLimit& limit, const WeighedLimits& judged) {
  std::vector<std::string> reasons;
  if (std::string reason = first_reason(judged); !reason.empty()) {
    reasons.push_back(std::move(reason));
  }
  if (judged.spikes > 0) {
    reasons.push_back(describe(judged.pool, judged.spikes));
    reasons.push_back(describe(judged.table, judged.spikes));
  }
  if (limit.min_requests > 0) {
    reasons.push_back(fmt::format(
        "by Little's law, at least {} requests and {} load instructions are outstanding at once",
        limit.min_requests, limit.min_instructions));
  }
  return reasons;
}

}  // namespace

OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("the sub-group size must be at least 1");
  OutstandingLimit limit;
  Curves used;
  for (const CurveFinding& curve : curves) {
    limit.min_requests = std::max(limit.min_requests, curve.min_requests);
    limit.min_instructions = std::max(limit.min_instructions, curve.min_instructions);
    limit.fastest_requests = std::max(limit.fastest_requests, curve.fastest_requests);
    // In curves whose sub-groups share lines, full merge lists make spikes as well, so these
    // curves do not decide the kind of limit.
    if (!is_across(curve.pattern)) used.push_back(&curve);
  }
  const WeighedLimits judged = judge(used, sub_group);
  limit.kind = judged.kind;
  const bool is_open = limit.kind == OutstandingKind::ambiguous;
  if ((is_open || limit.kind == OutstandingKind::request_pool) && judged.pool.is_possible()) {
    limit.requests = judged.pool.range;
  }
  if ((is_open || limit.kind == OutstandingKind::request_table) && judged.table.is_possible()) {
    limit.instructions = judged.table.range;
  }
  if (limit.kind == OutstandingKind::request_pool) {
    limit.mergers = find_mergers(curves, sub_group, *limit.requests);
  }
  limit.reasons = reasons_of(limit, judged);
  return limit;
}

std::string_view to_word(OutstandingKind kind) {
  constexpr std::array<std::string_view, 5> kinds{"MSHR", "PRT", "ambiguous", "neither",
                                                  "unobservable"};
  return kinds.at(static_cast<std::size_t>(kind));
}

namespace {

// Limits in latencies of one load. Loads that are in flight together take one latency and a short
// issue time each; loads that wait take two latencies. If issuing dominates and 4 loads take 1.25
// latencies, 8 loads take up to 1.6.
constexpr double max_together = 1.25;
constexpr double min_waiting = 1.7;

/// Curves of one target. The key is the number of loads per work-item.
using CurvesByLoads = std::map<int, const CurveFinding*>;

/// Loads that a sub-group can have in flight, from the curves of one target.
struct TargetLoads {
  int at_least{0};
  std::optional<CountRange> range{};
  std::int64_t requests{0};  ///< requests of the smallest work-group whose loads wait
};

TargetLoads loads_of_target(const CurvesByLoads& curves) {
  TargetLoads found;
  if (!curves.contains(1)) return found;
  int last_together = 1;
  std::optional<int> first_waiting;
  bool is_one_step = true;
  for (const auto& [loads, curve] : curves) {
    const double latencies = curve->latency_cycles / curves.at(1)->latency_cycles;
    if (!first_waiting && latencies <= max_together) last_together = loads;
    if (first_waiting && latencies < min_waiting) is_one_step = false;
    if (!first_waiting && latencies >= min_waiting) first_waiting = loads;
  }
  if (!is_one_step) return found;
  found.at_least = last_together;
  if (!first_waiting) return found;
  found.range = CountRange{last_together, *first_waiting - 1};
  found.requests = std::int64_t{*first_waiting} * curves.at(*first_waiting)->min_work_items;
  return found;
}

/// Returns true if the limit is that of the sub-group. In other curves the compute unit then had
/// more requests and instructions in flight. The loads therefore did not wait for a pool or table
/// of the compute unit.
bool is_own_limit(std::span<const CurveFinding> curves, const TargetLoads& found) {
  return std::any_of(
             curves.begin(), curves.end(),
             [&](const CurveFinding& each) { return each.min_requests >= found.requests; }) &&
         std::any_of(curves.begin(), curves.end(), [&](const CurveFinding& each) {
           return each.min_instructions > found.range->high;
         });
}

std::map<std::string, CurvesByLoads> curves_by_target(std::span<const CurveFinding> curves) {
  std::map<std::string, CurvesByLoads> targets;
  for (const CurveFinding& each : curves) {
    if (each.pattern.merger != 1 || !(each.latency_cycles > 0.0)) continue;
    targets[each.pattern.target][each.pattern.loads] = &each;
  }
  return targets;
}

}  // namespace

SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves) {
  SubGroupLoads all;
  std::optional<CountRange> range;
  for (const auto& [target, by_loads] : curves_by_target(curves)) {
    const TargetLoads found = loads_of_target(by_loads);
    all.at_least = std::max(all.at_least, found.at_least);
    if (!found.range) continue;
    all.open = found.range;
    if (!is_own_limit(curves, found)) {
      all.reason = fmt::format(
          "{} loads per work-item wait for each other even in a small work-group. The limit is "
          "possibly that of the compute unit, because no curve shows more loads in flight",
          found.range->high + 1);
      continue;
    }
    if (!range) range = found.range;
    range->low = std::max(range->low, found.range->low);
    range->high = std::min(range->high, found.range->high);
  }
  if (range) range->low = std::max<std::int64_t>(range->low, all.at_least);
  if (range && range->low > range->high) {
    all.reason =
        "the memories disagree: loads that one memory serves in parallel wait for each other in "
        "another memory";
    all.at_least = 0;
  } else if (range) {
    all.loads = range;
  } else if (all.reason.empty() && all.at_least == 0) {
    all.reason =
        "a larger number of loads takes less time than a smaller number, or no curve has a single "
        "load per work-item";
  }
  return all;
}

}  // namespace clprobe::inflight
