// SPDX-License-Identifier: Apache-2.0
// From the spikes of all curves to what limits the loads outstanding.
#include "clprobe/outstanding.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/hypothesis.hpp"
#include "analysis/outstanding_reasons.hpp"

namespace clprobe {
namespace {

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

}  // namespace clprobe
