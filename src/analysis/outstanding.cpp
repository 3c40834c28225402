// SPDX-License-Identifier: Apache-2.0
// From the spikes of all curves to what limits the loads outstanding.
#include "clprobe/outstanding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
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

#include "analysis/hypothesis.hpp"
#include "clprobe/units.hpp"

namespace clprobe {
namespace {

using CountOf = std::int64_t (*)(int, const LoadPattern&, int);

/// The counts c in [count(before), count(after)), over all gaps where the count rises.
std::optional<CountRange> asked_range(const CurveFinding& curve, int sub_group, CountOf count) {
  if (!curve.spike) return std::nullopt;
  std::optional<CountRange> range;
  for (const Gap& gap : curve.spike->possible) {
    const std::int64_t before = count(gap.before, curve.pattern, sub_group);
    const std::int64_t after = count(gap.after, curve.pattern, sub_group);
    if (after <= before) continue;
    if (!range) range = CountRange{before, after - 1};
    range->high = after - 1;
  }
  return range;
}

/// The counts c with multiple x c among them.
std::optional<CountRange> range_of(const CurveFinding& curve, int sub_group, CountOf count) {
  std::optional<CountRange> range = asked_range(curve, sub_group, count);
  if (!range) return std::nullopt;
  const std::int64_t multiple = curve.spike->multiple;
  range->low = (range->low + multiple - 1) / multiple;
  range->high /= multiple;
  if (range->low > range->high) return std::nullopt;
  return range;
}

bool contains(const CountRange& range, std::int64_t count) {
  return range.low <= count && count <= range.high;
}

/// The count that most ranges hold, and what its holders share.
void vote(std::span<const std::optional<CountRange>> ranges, Hypothesis& hypothesis) {
  std::vector<std::size_t> best;
  for (const auto& candidate : ranges) {
    if (!candidate) continue;
    std::vector<std::size_t> holders;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i] && contains(*ranges[i], candidate->low)) holders.push_back(i);
    }
    if (holders.size() > best.size()) best = holders;
  }
  if (best.empty()) return;
  CountRange shared = *ranges[best.front()];
  for (const std::size_t i : best) {
    shared.low = std::max(shared.low, ranges[i]->low);
    shared.high = std::min(shared.high, ranges[i]->high);
  }
  hypothesis.range = shared;
  hypothesis.supporters = std::move(best);
}

std::size_t count_patterns(std::span<const CurveFinding> curves,
                           std::span<const std::size_t> chosen) {
  std::set<std::tuple<int, int, MergerMode>> patterns;
  for (const std::size_t i : chosen) {
    const LoadPattern& pattern = curves[i].pattern;
    patterns.emplace(pattern.loads, pattern.merger,
                     pattern.merger == 1 ? MergerMode::within : pattern.mode);
  }
  return patterns.size();
}

/// `visible` says what a silent curve would have shown. Merge lists may silence `across` curves.
void hear_silent_curves(std::span<const CurveFinding> curves, CountRange CurveFinding::*visible,
                        Hypothesis& hypothesis) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].spike || is_across(curves[i].pattern) || !hypothesis.range) continue;
    const CountRange& seen = curves[i].*visible;
    if (contains(seen, hypothesis.range->low) && contains(seen, hypothesis.range->high)) {
      hypothesis.silent.push_back(i);
    }
  }
}

/// What a kind of limit counts.
struct Counted {
  CountOf count{nullptr};
  CountRange CurveFinding::*visible{nullptr};
  std::int64_t CurveFinding::*least{nullptr};
};

constexpr Counted by_requests{unique_requests, &CurveFinding::visible_requests,
                              &CurveFinding::min_requests};
constexpr Counted by_instructions{load_instructions, &CurveFinding::visible_instructions,
                                  &CurveFinding::min_instructions};

Hypothesis weigh(std::span<const CurveFinding> curves, int sub_group, const Counted& of) {
  std::vector<std::optional<CountRange>> ranges;
  ranges.reserve(curves.size());
  for (const CurveFinding& curve : curves) ranges.push_back(range_of(curve, sub_group, of.count));
  Hypothesis hypothesis;
  vote(ranges, hypothesis);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const bool supports =
        std::binary_search(hypothesis.supporters.begin(), hypothesis.supporters.end(), i);
    if (curves[i].spike && !supports) hypothesis.against.push_back(i);
  }
  hypothesis.patterns = count_patterns(curves, hypothesis.supporters);
  const auto is_plain = [](const CurveFinding& curve) { return !is_across(curve.pattern); };
  hypothesis.has_plain = std::none_of(curves.begin(), curves.end(), is_plain) ||
                         std::any_of(hypothesis.supporters.begin(), hypothesis.supporters.end(),
                                     [&](std::size_t i) { return is_plain(curves[i]); });
  for (const CurveFinding& curve : curves) {
    hypothesis.least = std::max(hypothesis.least, curve.*of.least);
  }
  hear_silent_curves(curves, of.visible, hypothesis);
  return hypothesis;
}

/// Whether an `across` curve's spike comes before the pool can be full: its merge lists were.
bool is_early(const CurveFinding& curve, int sub_group, const Hypothesis& pool) {
  if (!pool.range || !curve.spike || !is_across(curve.pattern)) return false;
  const std::int64_t asked = unique_requests(curve.spike->gap.before, curve.pattern, sub_group);
  return asked <= pool.range->high * curve.spike->multiple;
}

bool shares(const CurveFinding& curve, int sub_group, const Hypothesis& pool) {
  const auto range = request_range(curve, sub_group);
  return range && pool.range && range->low <= pool.range->high && pool.range->low <= range->high;
}

/// `across` curves whose spike is too early are no argument against a pool, if those with fewer
/// mergers are where the pool says.
void explain_by_merge_lists(std::span<const CurveFinding> curves, int sub_group, Hypothesis& pool) {
  int supported = 1;
  for (const std::size_t i : pool.supporters) {
    if (is_across(curves[i].pattern)) supported = std::max(supported, curves[i].pattern.merger);
  }
  const auto rest =
      std::stable_partition(pool.against.begin(), pool.against.end(), [&](std::size_t i) {
        return curves[i].pattern.merger <= supported || !is_early(curves[i], sub_group, pool);
      });
  pool.merge_limited.assign(rest, pool.against.end());
  pool.against.erase(rest, pool.against.end());
}

std::int64_t count_items(int work_items, const LoadPattern&, int) { return work_items; }

bool overlap(const std::optional<CountRange>& a, const std::optional<CountRange>& b) {
  return a && b && a->low <= b->high && b->low <= a->high;
}

/// True if one pool or one table could explain both jumps.
bool have_common_limit(const CurveFinding& a, const CurveFinding& b, int sub_group) {
  return overlap(request_range(a, sub_group), request_range(b, sub_group)) ||
         overlap(instruction_range(a, sub_group), instruction_range(b, sub_group));
}

/// The sub-groups behind which an `across` curve jumps too early.
std::set<int> lengths_of(const CurveFinding& curve, int sub_group) {
  std::set<int> lengths;
  for (const Gap& gap : curve.spike->possible) {
    const int length = (gap.before + sub_group - 1) / sub_group;
    if (length < curve.pattern.merger && length * sub_group < gap.after) lengths.insert(length);
  }
  return lengths;
}

/// How many loads of a line its list held when it was full: as many sub-groups, whatever the number
/// of loads. Were entries of the pool taken for what finds no room in a list, more loads would have
/// filled it after fewer sub-groups: so curves of two numbers of loads must agree, and most of all.
std::optional<int> find_list_length(std::span<const CurveFinding> curves, int sub_group,
                                    const Hypothesis& pool) {
  struct Votes {
    std::set<int> loads{};
    int curves{0};
  };
  std::map<int, Votes> votes;
  int early = 0;
  for (const CurveFinding& curve : curves) {
    if (!is_early(curve, sub_group, pool) || shares(curve, sub_group, pool)) continue;
    ++early;
    for (const int length : lengths_of(curve, sub_group)) {
      votes[length].loads.insert(curve.pattern.loads);
      ++votes[length].curves;
    }
  }
  for (const auto& [length, of_length] : votes) {
    if (of_length.loads.size() >= 2 && 2 * of_length.curves > early) return length;
  }
  return std::nullopt;
}

struct MergerVotes {
  int fits{0};
  int early{0};
  int max_merged{0};  ///< sub-groups before the first early spike
};

std::string words(const CountRange& range) {
  if (range.low == range.high) return std::to_string(range.low);
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string words(const LoadPattern& pattern) {
  std::string text = std::to_string(pattern.loads) + (pattern.loads == 1 ? " load" : " loads");
  if (pattern.merger > 1) {
    text += ", " + std::to_string(pattern.merger) +
            (pattern.mode == MergerMode::within ? " work-items" : " sub-groups") + " per line";
  }
  return text + (pattern.target.empty() ? "" : ", " + pattern.target);
}

std::string of_curves(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + (all == 1 ? " spike" : " spikes");
}

std::string describe_pool(std::span<const CurveFinding> curves, const Hypothesis& pool,
                          std::size_t spikes) {
  if (!pool.range) {
    return "A pool of requests explains no spike: no spike occurs where additional lines are "
           "requested";
  }
  std::string text = "A pool of " + words(*pool.range) + " requests explains " +
                     of_curves(pool.supporters.size(), spikes);
  if (!pool.merge_limited.empty()) {
    text += ", full merge lists explain " + std::to_string(pool.merge_limited.size()) + " more";
  }
  if (!pool.is_possible()) text += ", but more requests were in flight";
  if (!pool.against.empty()) {
    const CurveFinding& other = curves[pool.against.front()];
    text += "; it does not explain the spike of " + words(other.pattern) + " after " +
            std::to_string(other.spike->gap.before) + " work-items";
  }
  return text;
}

std::string describe_table(std::span<const CurveFinding> curves, int sub_group,
                           const Hypothesis& table, std::size_t spikes) {
  std::string text = table.range
                         ? "A table of " + words(*table.range) + " load instructions explains " +
                               of_curves(table.supporters.size(), spikes)
                         : std::string("A table of load instructions explains no spike");
  if (table.range && !table.is_possible()) text += ", but more instructions were in flight";
  if (table.against.empty()) return text;
  const CurveFinding& other = curves[table.against.front()];
  text += "; it does not explain the spike of " + words(other.pattern) + " after " +
          std::to_string(other.spike->gap.before) + " work-items";
  if (!instruction_range(other, sub_group)) text += ", in the middle of a sub-group";
  return text;
}

std::string describe_silence(const Hypothesis& hypothesis, std::string_view what) {
  const std::size_t curves = hypothesis.silent.size();
  return format_count(curves, "more curve") + " should show such a " + std::string(what) +
         (curves == 1 ? " but has no spike" : " but have no spike");
}

/// Spikes of targets that were not asked, since they agree on nothing.
std::string describe_others(std::span<const CurveFinding> all,
                            std::span<const CurveFinding> curves) {
  std::set<std::string> asked;
  for (const CurveFinding& curve : curves) asked.insert(curve.pattern.target);
  std::set<std::string> others;
  std::size_t spikes = 0;
  for (const CurveFinding& curve : all) {
    if (!curve.spike || asked.contains(curve.pattern.target)) continue;
    others.insert(curve.pattern.target);
    ++spikes;
  }
  if (spikes == 0) return {};
  return fmt::format("the {} of {} {} no common limit", spikes == 1 ? "spike" : "spikes",
                     fmt::join(others, ", "), spikes == 1 ? "fits" : "fit");
}

std::string describe_bound(std::int64_t requests, std::int64_t instructions) {
  if (requests == 0) return "no lower bound: no curve was measured";
  return "by Little's law, at least " + std::to_string(requests) + " requests and " +
         std::to_string(instructions) + " load instructions are outstanding at once";
}

std::string describe_step(const GroupStep& step, std::size_t spikes) {
  return of_curves(step.spikes, spikes) + " follow " + words(step.work_items) +
         " work-items, whatever these load: the work-group itself causes them";
}

std::string first_reason(const OutstandingLimit& limit, std::span<const CurveFinding> curves,
                         const WeighedLimits& judgement) {
  const std::size_t spikes = judgement.spikes;
  switch (limit.kind) {
    case OutstandingKind::ambiguous:
      return spikes == 1 ? "One spike cannot distinguish a pool from a table"
                         : "A pool and a table explain the spikes equally well: measure other "
                           "numbers of loads or mergers";
    case OutstandingKind::neither:
      return "The spikes agree on neither a number of requests nor a number of load instructions";
    case OutstandingKind::unobservable:
      break;
    case OutstandingKind::request_pool:
    case OutstandingKind::request_table:
      return {};
  }
  if (curves.empty()) return "No curve was measured";
  if (spikes == 1) return "The only spike is missing in other curves that should show it";
  if (spikes > 1) {
    return "No two spikes agree on a possible number of requests or load instructions: they are "
           "scatter";
  }
  const bool is_anywhere_visible =
      std::any_of(curves.begin(), curves.end(), [](const CurveFinding& curve) {
        return curve.visible_requests.low <= curve.visible_requests.high;
      });
  if (!is_anywhere_visible) {
    return "Requests issue so slowly that the first data arrive before any limit is reached";
  }
  return std::string(judgement.steps.empty() ? "No curve jumps" : "No jump indicates a limit") +
         ": the limit was not reached, or requests issue too slowly to reach it within one latency";
}

/// All of them, the deciding ones first; `all` are the curves before any was chosen or judged.
std::vector<std::string> reasons_of(const OutstandingLimit& limit,
                                    std::span<const CurveFinding> all,
                                    const WeighedLimits& judgement, int sub_group) {
  const auto& [curves, pool, table, spikes, steps, kind] = judgement;
  std::vector<std::string> reasons;
  if (std::string reason = first_reason(limit, all, judgement); !reason.empty()) {
    reasons.push_back(std::move(reason));
  }
  std::size_t all_spikes = spikes;
  for (const GroupStep& step : steps) all_spikes += step.spikes;
  for (const GroupStep& step : steps) reasons.push_back(describe_step(step, all_spikes));
  if (spikes > 0) {
    reasons.push_back(describe_pool(curves, pool, spikes));
    reasons.push_back(describe_table(curves, sub_group, table, spikes));
    if (!pool.silent.empty()) reasons.push_back(describe_silence(pool, "pool"));
    if (!table.silent.empty()) reasons.push_back(describe_silence(table, "table"));
    if (std::string other = describe_others(all, curves); !other.empty()) reasons.push_back(other);
  }
  reasons.push_back(describe_bound(limit.min_requests, limit.min_instructions));
  return reasons;
}

/// Different patterns whose spikes agree on a limit that is possible.
std::size_t count_agreeing(const Hypothesis& hypothesis) {
  return hypothesis.is_possible() ? hypothesis.patterns : 0;
}

/// When both hold, the one without exceptions, or with clearly fewer.
OutstandingKind decide(const Hypothesis& pool, const Hypothesis& table, std::size_t spikes) {
  if (spikes == 0) return OutstandingKind::unobservable;
  if (pool.holds() && table.holds()) {
    const bool pool_fits = pool.against.empty();
    const bool table_fits = table.against.empty();
    if (pool_fits != table_fits) {
      return pool_fits ? OutstandingKind::request_pool : OutstandingKind::request_table;
    }
    if (pool.against.size() + 2 <= table.against.size()) return OutstandingKind::request_pool;
    if (table.against.size() + 2 <= pool.against.size()) return OutstandingKind::request_table;
    return OutstandingKind::ambiguous;
  }
  if (pool.holds()) return OutstandingKind::request_pool;
  if (table.holds()) return OutstandingKind::request_table;
  const auto is_denied = [](const Hypothesis& hypothesis) {
    return !hypothesis.is_possible() || !hypothesis.has_plain ||
           hypothesis.silent.size() > hypothesis.supporters.size();
  };
  if (is_denied(pool) && is_denied(table)) {
    return spikes <= 2 ? OutstandingKind::unobservable : OutstandingKind::neither;
  }
  // One pattern alone cannot tell them apart.
  if (std::max(pool.patterns, table.patterns) < 2 && spikes == 1) return OutstandingKind::ambiguous;
  // A limit shows in every curve that reaches it: spikes of which no two agree are scatter.
  if (std::max(count_agreeing(pool), count_agreeing(table)) < 2) {
    return OutstandingKind::unobservable;
  }
  return OutstandingKind::neither;
}

std::size_t count_spikes(std::span<const CurveFinding> curves) {
  return static_cast<std::size_t>(
      std::count_if(curves.begin(), curves.end(),
                    [](const CurveFinding& curve) { return curve.spike.has_value(); }));
}

WeighedLimits weigh_both(std::vector<CurveFinding> curves, int sub_group) {
  WeighedLimits judgement;
  judgement.spikes = count_spikes(curves);
  judgement.pool = weigh_pool(curves, sub_group);
  judgement.table = weigh_table(curves, sub_group);
  judgement.kind = decide(judgement.pool, judgement.table, judgement.spikes);
  judgement.curves = std::move(curves);
  return judgement;
}

/// The group's own step is no spike, and behind it no jump was looked for.
void set_aside(CurveFinding& curve, int sub_group) {
  const int last = curve.spike->gap.before;
  const auto end = [&](CountRange& visible, std::int64_t count) {
    visible.high = std::min(visible.high, count);
  };
  end(curve.visible_requests, unique_requests(last, curve.pattern, sub_group));
  end(curve.visible_instructions, load_instructions(last, curve.pattern, sub_group));
  curve.spike.reset();
}

/// Both limits; and while neither explains the spikes, what is left of them without those that are
/// the work-group's own, of which there may be some with steps at different places.
WeighedLimits judge(std::span<const CurveFinding> curves, int sub_group) {
  WeighedLimits judgement = weigh_both({curves.begin(), curves.end()}, sub_group);
  while (!judgement.pool.holds() && !judgement.table.holds()) {
    const std::optional<Hypothesis> group = weigh_group(judgement.curves, sub_group);
    if (!group) break;
    for (const std::size_t i : group->supporters) set_aside(judgement.curves[i], sub_group);
    std::vector<GroupStep> steps = std::move(judgement.steps);
    steps.push_back({*group->range, group->supporters.size()});
    judgement = weigh_both(std::move(judgement.curves), sub_group);
    judgement.steps = std::move(steps);
  }
  return judgement;
}

bool is_decided(OutstandingKind kind) {
  return kind == OutstandingKind::request_pool || kind == OutstandingKind::request_table;
}

/// The curves of the one target that decides, where the others' spikes agree on nothing: where
/// answers come soon, and some later than others, curves rise as by a small jump here and there.
std::optional<std::vector<CurveFinding>> find_deciding_target(std::span<const CurveFinding> curves,
                                                              int sub_group) {
  std::map<std::string, std::vector<CurveFinding>> by_target;
  for (const CurveFinding& curve : curves) by_target[curve.pattern.target].push_back(curve);
  std::optional<std::vector<CurveFinding>> deciding;
  for (const auto& [target, of_target] : by_target) {
    if (!is_decided(judge(of_target, sub_group).kind)) continue;
    if (deciding) return std::nullopt;
    deciding = of_target;
  }
  return deciding;
}

/// Curves without merge lists come first: lists that are full have spikes of their own. Only where
/// those leave it open are the others asked, and only spikes that agree are believed then.
WeighedLimits judge_witnesses(std::span<const CurveFinding> curves, int sub_group) {
  std::vector<CurveFinding> plain;
  std::copy_if(curves.begin(), curves.end(), std::back_inserter(plain),
               [](const CurveFinding& curve) { return !is_across(curve.pattern); });
  if (plain.empty()) return judge(curves, sub_group);
  WeighedLimits by_plain = judge(plain, sub_group);
  if (is_decided(by_plain.kind)) return by_plain;
  if (auto deciding = find_deciding_target(plain, sub_group)) return judge(*deciding, sub_group);
  WeighedLimits by_all = judge(curves, sub_group);
  return is_decided(by_all.kind) ? by_all : by_plain;
}

void keep_ranges(const Hypothesis& pool, const Hypothesis& table, OutstandingLimit& limit) {
  const bool is_open = limit.kind == OutstandingKind::ambiguous;
  const bool is_pool = is_open || limit.kind == OutstandingKind::request_pool;
  const bool is_table = is_open || limit.kind == OutstandingKind::request_table;
  if (is_pool && pool.is_possible()) limit.requests = pool.range;
  if (is_table && table.is_possible()) limit.instructions = table.range;
}

}  // namespace

bool is_across(const LoadPattern& pattern) {
  return pattern.mode == MergerMode::across && pattern.merger > 1;
}

std::optional<CountRange> request_range(const CurveFinding& curve, int sub_group) {
  return range_of(curve, sub_group, unique_requests);
}

std::optional<CountRange> instruction_range(const CurveFinding& curve, int sub_group) {
  return range_of(curve, sub_group, load_instructions);
}

Hypothesis weigh_pool(std::span<const CurveFinding> curves, int sub_group) {
  Hypothesis pool = weigh(curves, sub_group, by_requests);
  explain_by_merge_lists(curves, sub_group, pool);
  return pool;
}

Hypothesis weigh_table(std::span<const CurveFinding> curves, int sub_group) {
  return weigh(curves, sub_group, by_instructions);
}

std::optional<Hypothesis> weigh_group(std::span<const CurveFinding> curves, int sub_group) {
  std::vector<std::optional<CountRange>> ranges;
  ranges.reserve(curves.size());
  for (const CurveFinding& curve : curves) {
    ranges.push_back(asked_range(curve, sub_group, count_items));
  }
  Hypothesis group;
  vote(ranges, group);
  for (const std::size_t a : group.supporters) {
    for (const std::size_t b : group.supporters) {
      const bool is_other = curves[a].pattern.loads != curves[b].pattern.loads;
      if (is_other && !have_common_limit(curves[a], curves[b], sub_group)) return group;
    }
  }
  return std::nullopt;
}

/// Each degree of merging by the majority of its curves, from the least on.
std::optional<MergeCapacity> find_mergers(std::span<const CurveFinding> curves, int sub_group,
                                          const Hypothesis& pool) {
  std::map<int, MergerVotes> votes;
  for (const CurveFinding& curve : curves) {
    if (!curve.spike || !is_across(curve.pattern)) continue;
    MergerVotes& vote = votes[curve.pattern.merger];
    if (shares(curve, sub_group, pool)) {
      ++vote.fits;
    } else if (is_early(curve, sub_group, pool)) {
      ++vote.early;
      // Every sub-group so far was merged, or took entries of its own: the list was full by then.
      const int merged = std::max(1, curve.spike->possible.back().before / sub_group);
      vote.max_merged = std::max(vote.max_merged, merged);
    }
  }
  std::optional<MergeCapacity> mergers;
  for (const auto& [merger, vote] : votes) {
    if (vote.fits == vote.early) continue;
    if (!mergers) mergers.emplace();
    if (vote.fits > vote.early) {
      mergers->at_least = merger;
      continue;
    }
    mergers->at_most = std::max(mergers->at_least, std::min(merger - 1, vote.max_merged));
    break;
  }
  const std::optional<int> length = find_list_length(curves, sub_group, pool);
  if (length && (!mergers || *length >= mergers->at_least)) {
    mergers = MergeCapacity{*length, *length};
  }
  return mergers;
}

OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("a sub-group has at least one work-item");
  OutstandingLimit limit;
  for (const CurveFinding& curve : curves) {
    limit.min_requests = std::max(limit.min_requests, curve.min_requests);
    limit.min_instructions = std::max(limit.min_instructions, curve.min_instructions);
    limit.fastest_requests = std::max(limit.fastest_requests, curve.fastest_requests);
  }
  const WeighedLimits judgement = judge_witnesses(curves, sub_group);
  limit.kind = judgement.kind;
  keep_ranges(judgement.pool, judgement.table, limit);
  if (limit.kind == OutstandingKind::request_pool) {
    limit.mergers = find_mergers(curves, sub_group, judgement.pool);
  }
  limit.reasons = reasons_of(limit, curves, judgement, sub_group);
  return limit;
}

std::string_view to_word(OutstandingKind kind) {
  switch (kind) {
    case OutstandingKind::request_pool:
      return "MSHR";
    case OutstandingKind::request_table:
      return "PRT";
    case OutstandingKind::ambiguous:
      return "ambiguous";
    case OutstandingKind::neither:
      return "neither";
    case OutstandingKind::unobservable:
      return "unobservable";
  }
  return "unobservable";
}

}  // namespace clprobe
