// SPDX-License-Identifier: Apache-2.0
// What the curves say about one kind of limit; the pieces of infer_limit (outstanding.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/outstanding.hpp"

namespace clprobe {

/// Whether merge lists have a part in the curve.
bool is_across(const LoadPattern& pattern);

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

/// Weighs a pool of requests, whose full merge lists excuse spikes that come too early.
Hypothesis weigh_pool(std::span<const CurveFinding> curves, int sub_group);

/// Weighs a table of load instructions.
Hypothesis weigh_table(std::span<const CurveFinding> curves, int sub_group);

/// Spikes at one number of work-items, whatever these load: what the group itself costs there (its
/// sub-groups outnumber the schedulers, say). `range` is of work-items, `supporters` are those
/// spikes. Nothing unless two of them share neither a number of requests nor one of instructions,
/// since a full pool or table moves with the loads.
std::optional<Hypothesis> weigh_group(std::span<const CurveFinding> curves, int sub_group);

/// Work-items behind which the work-group has a step of its own, and how many spikes were that.
struct GroupStep {
  CountRange work_items{};
  std::size_t spikes{0};
};

/// What curves say of both kinds of limit.
struct WeighedLimits {
  std::vector<CurveFinding> curves{};  ///< as judged: without the spikes that are the group's own
  Hypothesis pool{};
  Hypothesis table{};
  std::size_t spikes{0};
  std::vector<GroupStep> steps{};
  OutstandingKind kind{OutstandingKind::unobservable};
};

/// How many loads of a line an entry of the pool holds.
std::optional<MergeCapacity> find_mergers(std::span<const CurveFinding> curves, int sub_group,
                                          const Hypothesis& pool);

}  // namespace clprobe
