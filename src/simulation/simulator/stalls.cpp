// SPDX-License-Identifier: Apache-2.0
// GSI's Algorithms 1 and 2, and the accountant, which attributes the cycles of a simulation in two
// views: GSI's view and the view of all causes.
#include "simulation/api/simulator.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace clprobe::simulator {
namespace {

std::size_t index_of(Stall stall) {
  return static_cast<std::size_t>(
      std::find_if(stall_parts.begin(), stall_parts.end(),
                   [stall](const StallPart& each) { return each.stall == stall; }) -
      stall_parts.begin());
}

std::size_t index_of(Level level) {
  return index_of(Stall::memory_data) + static_cast<std::size_t>(level);
}

template <typename Belongs>
double sum_where(const Breakdown& breakdown, Belongs belongs) {
  double sum = 0.0;
  for (std::size_t i = 0; i < stall_parts.size(); ++i) {
    if (belongs(stall_parts[i])) sum += breakdown.cycles[i];
  }
  return sum;
}

void add(Breakdown& sum, const Breakdown& each, double share) {
  for (std::size_t i = 0; i < stall_parts.size(); ++i) {
    sum.cycles[i] += share * each.cycles[i];
  }
}

StallAccount mean_of(const std::vector<StallAccount>& units) {
  StallAccount mean;
  const double share = 1.0 / static_cast<double>(units.size());
  std::vector<Result> results;
  results.reserve(units.size());
  for (const StallAccount& each : units) {
    add(mean.gsi, each.gsi, share);
    add(mean.all_causes, each.all_causes, share);
    results.push_back(each.result);
  }
  mean.result = sum_of(std::move(results));
  return mean;
}

}  // namespace

std::string_view to_word(Stall stall) {
  constexpr std::array<std::string_view, stall_count> words{"idle",
                                                            "control",
                                                            "synchronization",
                                                            "memory data",
                                                            "memory structural",
                                                            "compute data",
                                                            "compute structural",
                                                            "no stall"};
  return words.at(static_cast<std::size_t>(stall));
}

std::string label_of(const StallPart& part) {
  std::string label(to_word(part.stall));
  if (!part.word.empty()) label.append(": ").append(part.word);
  return label;
}

StallSet conditions_of(Causes causes) {
  StallSet conditions = 0;
  for (const StallPart& each : stall_parts) {
    if ((causes & each.cause) != 0) {
      conditions = static_cast<StallSet>(conditions | bit_of(each.stall));
    }
  }
  return conditions;
}

Stall classify_instruction(StallSet conditions, const Priorities& priorities) {
  for (const Stall each : priorities.instruction) {
    if ((conditions & bit_of(each)) != 0) return each;
  }
  return Stall::none;
}

Stall classify_cycle(StallSet found, const Priorities& priorities) {
  if ((found & bit_of(Stall::none)) != 0) return Stall::none;
  for (const Stall each : priorities.cycle) {
    if ((found & bit_of(each)) != 0) return each;
  }
  return Stall::idle;
}

std::size_t part_of(Stall stall, Causes causes) {
  std::size_t i = index_of(stall);
  while (i + 1 < stall_parts.size() && (stall_parts[i].cause & causes) == 0 &&
         stall_parts[i + 1].stall == stall) {
    ++i;
  }
  return i;
}

double Breakdown::of(Stall stall) const {
  return sum_where(*this, [stall](const StallPart& each) { return each.stall == stall; });
}

double Breakdown::of(Level level) const { return cycles[index_of(level)]; }

double Breakdown::of(Causes causes) const {
  return sum_where(*this, [causes](const StallPart& each) { return (each.cause & causes) != 0; });
}

void StallAccountant::see(const CycleState& state) {
  if (state.is_last_flush) return;
  const auto cycles = static_cast<double>(state.cycles);
  StallSet found = 0;
  blocked_.clear();
  for (const WarpState& warp : state.warps) {
    // A warp without a cause has issued, lacked only an issue slot, or ends in the next cycle.
    if (warp.causes == 0 || warp.causes == cause::idle) continue;
    Kind& kind = kind_of(warp.causes);
    found = static_cast<StallSet>(found | bit_of(kind.stall));
    blocked_.push_back({&kind, (warp.causes & cause::memory_data) != 0 ? warp.load : 0});
  }
  share_slots(cycles, state.issued);
  if (state.issued > 0) {
    gsi_.cycles[index_of(Stall::none)] += cycles;
  } else {
    share_cycle(cycles, found);
  }
}

Observer StallAccountant::observer() {
  return {.cycles = [this](const CycleState& state) { see(state); },
          .served = [this](std::uint64_t load, Level level) { serve(load, level); }};
}

StallAccountant::Kind& StallAccountant::kind_of(Causes causes) {
  Kind& kind = kinds_[causes];
  if (kind.causes_count == 0.0) {
    kind.stall = classify_instruction(conditions_of(causes), priorities_);
    kind.part = part_of(kind.stall, causes);
    kind.causes_count = std::popcount(causes);
  }
  return kind;
}

StallAccountant::LoadWaits& StallAccountant::waits_for(std::uint64_t load) {
  if (loads_.size() <= load) loads_.resize(std::max<std::size_t>(load + 1, 2 * loads_.size()));
  return loads_[load];
}

/// Distributes the slots of a cycle. The number of slots is the smaller of the issue width and the
/// number of warps.
void StallAccountant::share_slots(double cycles, std::uint64_t issued) {
  const std::uint64_t slots = std::min<std::uint64_t>(issue_width_, issued + blocked_.size());
  if (slots == 0) {
    all_causes_.cycles[index_of(Stall::idle)] += cycles;
    return;
  }
  const double filled = static_cast<double>(issued) / static_cast<double>(slots);
  all_causes_.cycles[index_of(Stall::none)] += cycles * filled;
  if (issued == slots) return;
  const double share = cycles * (1.0 - filled) / static_cast<double>(blocked_.size());
  for (const BlockedWarp& each : blocked_) {
    each.kind->slots += share;
    if (each.load != 0) waits_for(each.load).all_causes += share / each.kind->causes_count;
  }
}

/// Distributes a cycle among the warps that have the stall type of the cycle.
void StallAccountant::share_cycle(double cycles, StallSet found) {
  const Stall stall = classify_cycle(found, priorities_);
  const auto count = std::count_if(blocked_.begin(), blocked_.end(),
                                   [stall](const auto& each) { return each.kind->stall == stall; });
  if (count == 0) gsi_.cycles[index_of(stall)] += cycles;
  for (const BlockedWarp& each : blocked_) {
    if (each.kind->stall != stall) continue;
    double& waited =
        stall == Stall::memory_data ? waits_for(each.load).gsi : gsi_.cycles[each.kind->part];
    waited += cycles / static_cast<double>(count);
  }
}

StallAccount StallAccountant::account(Result result) const {
  StallAccount account{.result = std::move(result), .gsi = gsi_, .all_causes = all_causes_};
  for (const auto& [causes, kind] : kinds_) {
    // The causes of a warp share its slots equally. The loads determine the level of memory data.
    for (Causes left = causes & ~cause::memory_data; left != 0; left &= left - 1) {
      const Causes one = left & (~left + 1);
      const Stall stall = classify_instruction(conditions_of(one), priorities_);
      account.all_causes.cycles[part_of(stall, one)] += kind.slots / kind.causes_count;
    }
  }
  for (const LoadWaits& each : loads_) {
    account.gsi.cycles[index_of(each.level)] += each.gsi;
    account.all_causes.cycles[index_of(each.level)] += each.all_causes;
  }
  return account;
}

StallAccount account_stalls(const Machine& machine, const Trace& trace, const Options& options) {
  return account_units(machine, trace, 1, options).mean;
}

GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options, const Priorities& priorities) {
  std::vector<StallAccountant> accountants(units, StallAccountant(machine, priorities));
  std::vector<Observer> observers;
  std::vector<const Observer*> seen_by;
  observers.reserve(units);
  seen_by.reserve(units);
  for (StallAccountant& each : accountants) {
    seen_by.push_back(&observers.emplace_back(each.observer()));
  }
  std::vector<Result> results = simulate_units(machine, trace, units, options, seen_by);
  GridAccount account;
  account.units.reserve(units);
  for (std::size_t unit = 0; unit < units; ++unit) {
    account.units.push_back(accountants[unit].account(std::move(results[unit])));
  }
  account.mean = mean_of(account.units);
  return account;
}

}  // namespace clprobe::simulator
