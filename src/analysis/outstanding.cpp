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
#include <vector>

#include "analysis/hypothesis.hpp"
#include "analysis/outstanding_reasons.hpp"

namespace clprobe {
namespace {

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
  judgement.pool = weigh_pool(curves, sub_group);
  judgement.table = weigh_table(curves, sub_group);
  judgement.kind = decide(judgement.pool, judgement.table, judgement.spikes);
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
std::vector<CurveFinding> choose_witnesses(std::span<const CurveFinding> curves, int sub_group) {
  std::vector<CurveFinding> plain;
  std::copy_if(curves.begin(), curves.end(), std::back_inserter(plain),
               [](const CurveFinding& curve) { return !is_across(curve.pattern); });
  std::vector<CurveFinding> all(curves.begin(), curves.end());
  if (plain.empty()) return all;
  if (is_decided(judge(plain, sub_group).kind)) return plain;
  if (auto deciding = find_deciding_target(plain, sub_group)) return *deciding;
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

}  // namespace

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
  limit.reasons = reasons_of(limit, curves, witnesses, sub_group, pool, table, spikes);
  return limit;
}

}  // namespace clprobe
