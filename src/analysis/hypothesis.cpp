// SPDX-License-Identifier: Apache-2.0
#include "analysis/hypothesis.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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
    const bool supports = std::ranges::binary_search(hypothesis.supporters, i);
    if (curves[i].spike && !supports) hypothesis.against.push_back(i);
  }
  hypothesis.patterns = count_patterns(curves, hypothesis.supporters);
  const auto is_plain = [](const CurveFinding& curve) { return !is_across(curve.pattern); };
  hypothesis.has_plain = std::ranges::none_of(curves, is_plain) ||
                         std::ranges::any_of(hypothesis.supporters,
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

/// Whether a pool or a table could have both spikes.
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

}  // namespace clprobe
