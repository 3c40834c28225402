// SPDX-License-Identifier: Apache-2.0
// From the spikes of all curves to what limits the loads outstanding.
#include "clprobe/outstanding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace clprobe {
namespace {

using CountOf = std::int64_t (*)(int, const LoadPattern&, int);

/// The counts c with multiple x c in [count(before), count(after)), over all gaps where the count
/// rises.
std::optional<CountRange> range_of(const CurveFinding& curve, int sub_group, CountOf count) {
  if (!curve.spike) return std::nullopt;
  std::optional<CountRange> range;
  for (const Gap& gap : curve.spike->possible) {
    const std::int64_t before = count(gap.before, curve.pattern, sub_group);
    const std::int64_t after = count(gap.after, curve.pattern, sub_group);
    if (after <= before) continue;
    if (!range) range = CountRange{before, after - 1};
    range->high = after - 1;
  }
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

/// Whether merge lists have a part in the curve.
bool is_across(const LoadPattern& pattern) {
  return pattern.mode == MergerMode::across && pattern.merger > 1;
}

/// One kind of limit, and what the curves say about it.
struct Hypothesis {
  std::optional<CountRange> range{};  ///< what most spikes share
  std::vector<std::size_t> supporters{};
  std::vector<std::size_t> against{};
  std::vector<std::size_t> merge_limited{};  ///< of `across` curves: full merge lists, not the pool
  std::vector<std::size_t> silent{};         ///< would show it, and do not
  std::size_t patterns{0};                   ///< different ones among the supporters
  std::int64_t least{0};                     ///< were in flight, by Little's law
  bool has_plain{true};                      ///< a supporter without merge lists, if there are any

  /// More were in flight: no limit.
  [[nodiscard]] bool is_possible() const { return range && range->high >= least; }
  /// Two patterns at least, and no more than one spike elsewhere for four here: noise makes some.
  [[nodiscard]] bool holds() const {
    return is_possible() && has_plain && patterns >= 2 && 4 * against.size() <= supporters.size() &&
           silent.size() <= supporters.size();
  }
};

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
                              &CurveFinding::least_requests};
constexpr Counted by_instructions{load_instructions, &CurveFinding::visible_instructions,
                                  &CurveFinding::least_instructions};

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

struct MergerVotes {
  int fits{0};
  int early{0};
  int most_merged{0};  ///< sub-groups before the first early spike
};

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
      vote.most_merged = std::max(vote.most_merged, merged);
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
    mergers->at_most = std::max(mergers->at_least, std::min(merger - 1, vote.most_merged));
    break;
  }
  return mergers;
}

std::string words(const CountRange& range) {
  if (range.low == range.high) return std::to_string(range.low);
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string words(const LoadPattern& pattern) {
  std::string text = std::to_string(pattern.loads) + (pattern.loads == 1 ? " load" : " loads");
  if (pattern.merger > 1) {
    text += ", " + std::to_string(pattern.merger) +
            (pattern.mode == MergerMode::within ? " work-items" : " sub-groups") + " a line";
  }
  return text + (pattern.target.empty() ? "" : ", " + pattern.target);
}

std::string of_curves(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + (all == 1 ? " spike" : " spikes");
}

std::string describe_pool(std::span<const CurveFinding> curves, const Hypothesis& pool,
                          std::size_t spikes) {
  if (!pool.range) return "No spike is where further lines are asked for, as a pool would have it";
  std::string text = "A pool of " + words(*pool.range) + " requests explains " +
                     of_curves(pool.supporters.size(), spikes);
  if (!pool.merge_limited.empty()) {
    text += ", full merge lists " + std::to_string(pool.merge_limited.size()) + " more";
  }
  if (!pool.is_possible()) text += ", but more were in flight";
  if (!pool.against.empty()) {
    const CurveFinding& other = curves[pool.against.front()];
    text += "; not that of " + words(other.pattern) + " behind " +
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
  if (table.range && !table.is_possible()) text += ", but more were in flight";
  if (table.against.empty()) return text;
  const CurveFinding& other = curves[table.against.front()];
  text += "; not that of " + words(other.pattern) + " behind " +
          std::to_string(other.spike->gap.before) + " work-items";
  if (!instruction_range(other, sub_group)) text += ", which is in the middle of a sub-group";
  return text;
}

std::string describe_silence(const Hypothesis& hypothesis, std::string_view what) {
  return std::to_string(hypothesis.silent.size()) + " more curves would show such a " +
         std::string(what) + " and have no spike";
}

std::string describe_bound(std::int64_t requests, std::int64_t instructions) {
  if (requests == 0) return "no lower bound: no curve was measured";
  return "by Little's law at least " + std::to_string(requests) + " requests and " +
         std::to_string(instructions) + " load instructions are outstanding at once";
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
  return OutstandingKind::neither;
}

/// Both hypotheses, and which of them the curves support.
struct Judgement {
  Hypothesis pool{};
  Hypothesis table{};
  std::size_t spikes{0};
  OutstandingKind kind{OutstandingKind::unobservable};
};

Judgement judge(std::span<const CurveFinding> curves, int sub_group) {
  Judgement judgement;
  judgement.spikes = static_cast<std::size_t>(
      std::count_if(curves.begin(), curves.end(),
                    [](const CurveFinding& curve) { return curve.spike.has_value(); }));
  judgement.pool = weigh(curves, sub_group, by_requests);
  explain_by_merge_lists(curves, sub_group, judgement.pool);
  judgement.table = weigh(curves, sub_group, by_instructions);
  judgement.kind = decide(judgement.pool, judgement.table, judgement.spikes);
  return judgement;
}

/// Curves without merge lists come first: lists that are full have spikes of their own. Only where
/// those leave it open are the others asked, and only spikes that agree are believed then.
std::vector<CurveFinding> choose_witnesses(std::span<const CurveFinding> curves, int sub_group) {
  std::vector<CurveFinding> plain;
  std::copy_if(curves.begin(), curves.end(), std::back_inserter(plain),
               [](const CurveFinding& curve) { return !is_across(curve.pattern); });
  std::vector<CurveFinding> all(curves.begin(), curves.end());
  if (plain.empty()) return all;
  const Judgement of_plain = judge(plain, sub_group);
  const auto is_decided = [](OutstandingKind kind) {
    return kind == OutstandingKind::request_pool || kind == OutstandingKind::request_table;
  };
  if (is_decided(of_plain.kind)) return plain;
  return is_decided(judge(all, sub_group).kind) ? all : plain;
}

void keep_ranges(const Hypothesis& pool, const Hypothesis& table, OutstandingLimit& limit) {
  const bool is_open = limit.kind == OutstandingKind::ambiguous;
  const bool is_pool = is_open || limit.kind == OutstandingKind::request_pool;
  const bool is_table = is_open || limit.kind == OutstandingKind::request_table;
  if (is_pool && pool.is_possible()) limit.requests = pool.range;
  if (is_table && table.is_possible()) limit.instructions = table.range;
}

void add_expected_jump(std::span<const CurveFinding> curves, const Hypothesis& pool,
                       OutstandingLimit& limit) {
  const CurveFinding& curve = curves[pool.supporters.front()];
  if (!(curve.latency_cycles > 0.0)) return;
  limit.expected_jump_cycles =
      curve.latency_cycles - static_cast<double>(pool.range->low) * curve.cycles_per_request;
}

std::string first_reason(const OutstandingLimit& limit, std::span<const CurveFinding> curves,
                         std::size_t spikes) {
  switch (limit.kind) {
    case OutstandingKind::ambiguous:
      return spikes == 1 ? "One spike alone does not tell a pool from a table"
                         : "Every spike is where a pool and a table would both have it: other "
                           "numbers of loads or mergers are needed";
    case OutstandingKind::neither:
      return "The spikes agree neither on a number of requests nor on one of load instructions";
    case OutstandingKind::unobservable:
      break;
    case OutstandingKind::request_pool:
    case OutstandingKind::request_table:
      return {};
  }
  if (curves.empty()) return "No curve was measured";
  if (spikes > 0) return "A lone spike is missing in the curves that would show it as well";
  const bool is_anywhere_visible =
      std::any_of(curves.begin(), curves.end(), [](const CurveFinding& curve) {
        return curve.visible_requests.low <= curve.visible_requests.high;
      });
  return is_anywhere_visible
             ? "No curve jumps: the limit was not reached, or requests issue too slowly to reach "
               "it within one latency"
             : "Requests issue so slowly that the first answers come before any limit is reached";
}

}  // namespace

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

std::optional<CountRange> request_range(const CurveFinding& curve, int sub_group) {
  return range_of(curve, sub_group, unique_requests);
}

std::optional<CountRange> instruction_range(const CurveFinding& curve, int sub_group) {
  return range_of(curve, sub_group, load_instructions);
}

OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("a sub-group has at least one work-item");
  OutstandingLimit limit;
  for (const CurveFinding& curve : curves) {
    limit.least_requests = std::max(limit.least_requests, curve.least_requests);
    limit.least_instructions = std::max(limit.least_instructions, curve.least_instructions);
  }
  const std::vector<CurveFinding> witnesses = choose_witnesses(curves, sub_group);
  const auto [pool, table, spikes, kind] = judge(witnesses, sub_group);
  limit.kind = kind;
  keep_ranges(pool, table, limit);
  if (kind == OutstandingKind::request_pool) {
    limit.mergers = find_mergers(curves, sub_group, pool);
    add_expected_jump(witnesses, pool, limit);
  }
  if (std::string reason = first_reason(limit, curves, spikes); !reason.empty()) {
    limit.reasons.push_back(std::move(reason));
  }
  if (spikes > 0) {
    limit.reasons.push_back(describe_pool(witnesses, pool, spikes));
    limit.reasons.push_back(describe_table(witnesses, sub_group, table, spikes));
    if (!pool.silent.empty()) limit.reasons.push_back(describe_silence(pool, "pool"));
    if (!table.silent.empty()) limit.reasons.push_back(describe_silence(table, "table"));
  }
  limit.reasons.push_back(describe_bound(limit.least_requests, limit.least_instructions));
  return limit;
}

std::string set_beside(const OutstandingLimit& limit, const OutstandingClaim& claim) {
  const bool is_pool = claim.kind == OutstandingKind::request_pool;
  std::string text =
      claim.source + " concludes " +
      (is_pool ? "a pool of at least " + std::to_string(claim.at_least) + " requests"
               : "a table of at least " + std::to_string(claim.at_least) + " load instructions") +
      ". ";
  const auto& own = is_pool ? limit.requests : limit.instructions;
  const auto& other = is_pool ? limit.instructions : limit.requests;
  if (limit.kind == OutstandingKind::unobservable) {
    return text + "Here nothing is seen of it.";
  }
  if (own && !other) {
    return text + (own->high >= claim.at_least ? "The spikes agree: " : "The spikes say less: ") +
           words(*own) + ".";
  }
  if (own) {
    return text + "The spikes allow it (" + words(*own) + "), and as well a " +
           (is_pool ? "table of " + words(*other) + " load instructions."
                    : "pool of " + words(*other) + " requests.");
  }
  text += "The spikes exclude it";
  if (!other) return text + ".";
  return text + ": they fit " +
         (is_pool ? "a table of " + words(*other) + " load instructions."
                  : "a pool of " + words(*other) + " requests.");
}

}  // namespace clprobe
