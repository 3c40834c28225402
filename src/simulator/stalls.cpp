// SPDX-License-Identifier: Apache-2.0
#include "clprobe/stalls.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace clprobe::simulator {
namespace {

/// Algorithm 2's order, behind "at least one instruction was able to issue". No inversion of
/// Algorithm 1: memory and synchronization come before computing in both.
constexpr std::array weakest_first{
    Stall::none,
    Stall::memory_structural,
    Stall::memory_data,
    Stall::synchronization,
    Stall::compute_structural,
    Stall::compute_data,
    Stall::control,
    Stall::idle,
};

constexpr std::array<std::pair<Causes, Stall>, 7> causes_of_stalls{{
    {cause::idle, Stall::idle},
    {cause::control, Stall::control},
    {cause::synchronization, Stall::synchronization},
    {cause::memory_data, Stall::memory_data},
    {cause::memory_structural, Stall::memory_structural},
    {cause::compute_data, Stall::compute_data},
    {cause::compute_structural, Stall::compute_structural},
}};

constexpr std::array<std::pair<Causes, StructuralStall>, structural_stall_count>
    causes_of_structural_stalls{{
        {cause::full_mshr, StructuralStall::full_mshr},
        {cause::full_store_buffer, StructuralStall::full_store_buffer},
        {cause::bank_conflict, StructuralStall::bank_conflict},
        {cause::serial_requests, StructuralStall::serial_requests},
        {cause::pending_release, StructuralStall::pending_release},
        {cause::pending_copy, StructuralStall::pending_copy},
    }};

constexpr std::array<std::pair<Causes, SynchronizationStall>, synchronization_stall_count>
    causes_of_synchronization_stalls{{
        {cause::barrier, SynchronizationStall::barrier},
        {cause::acquire, SynchronizationStall::acquire},
        {cause::release, SynchronizationStall::release},
        {cause::copy_wait, SynchronizationStall::copy_wait},
    }};

/// The first in the table's order of which there is a bit in `causes`; the last when there is none.
template <typename Kind, std::size_t count>
Kind first_of(const std::array<std::pair<Causes, Kind>, count>& table, Causes causes) {
  for (const auto& [bits, kind] : table) {
    if ((causes & bits) != 0) return kind;
  }
  return table.back().second;
}

template <typename Kind, std::size_t size>
void add(std::array<double, size>& sums, Kind kind, double cycles) {
  sums[static_cast<std::size_t>(kind)] += cycles;
}

/// Adds to a type and to its part. The parts of memory data stalls are added at the end, when it is
/// known where the loads got their values.
void add_with_part(Breakdown& to, Stall stall, Causes causes, double cycles) {
  add(to.cycles, stall, cycles);
  if (stall == Stall::memory_structural) {
    add(to.memory_structural, classify_structural(causes), cycles);
  } else if (stall == Stall::synchronization) {
    add(to.synchronization, first_of(causes_of_synchronization_stalls, causes), cycles);
  }
}

/// Has a warp that something keeps from issuing. One without a cause has issued or is about to end,
/// which is as good as not being there.
bool is_blocked(const WarpState& warp) { return (warp.causes & ~cause::idle) != 0; }

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

std::string_view to_word(SynchronizationStall stall) {
  constexpr std::array<std::string_view, synchronization_stall_count> words{"barrier", "acquire",
                                                                            "release", "copy wait"};
  return words.at(static_cast<std::size_t>(stall));
}

std::string_view to_word(StructuralStall stall) {
  constexpr std::array<std::string_view, structural_stall_count> words{
      "full MSHR",       "full store buffer", "bank conflict",
      "serial requests", "pending release",   "pending DMA"};
  return words.at(static_cast<std::size_t>(stall));
}

StallSet conditions_of(Causes causes) {
  StallSet conditions = 0;
  for (const auto& [bits, stall] : causes_of_stalls) {
    if ((causes & bits) != 0) conditions = static_cast<StallSet>(conditions | bit_of(stall));
  }
  return conditions;
}

Stall classify_instruction(StallSet conditions) {
  if (conditions == 0) return Stall::none;
  return static_cast<Stall>(std::countr_zero(conditions));
}

Stall classify_cycle(StallSet found) {
  const auto* const first = std::find_if(weakest_first.begin(), weakest_first.end(),
                                         [&](Stall each) { return (found & bit_of(each)) != 0; });
  return first == weakest_first.end() ? Stall::idle : *first;
}

StructuralStall classify_structural(Causes causes) {
  return first_of(causes_of_structural_stalls, causes);
}

struct StallAccountant::Sums {
  /// What waited for one load, in each view.
  struct Waited {
    double gsi{0.0};
    double all_causes{0.0};
    double warp{0.0};
    std::uint32_t number{0};
    Level level{Level::l1};
  };

  Breakdown gsi{};
  Breakdown all_causes{};
  std::map<std::uint32_t, Breakdown> warps{};
  std::vector<Waited> loads{};  // by the load's number
  std::uint64_t flush_cycles{0};
  std::uint64_t issue_width{1};

  Waited& waited_for(std::uint64_t load) {
    if (loads.size() <= load) loads.resize(std::max<std::size_t>(load + 1, 2 * loads.size()));
    return loads[load];
  }
  void see(const CycleState& state);
  void see_warp(const WarpState& warp, double cycles);
  void see_slots(const CycleState& state, std::uint64_t blocked);
  void see_stall(const CycleState& state);
  void share_all_causes(const WarpState& warp, double share);
};

void StallAccountant::Sums::see(const CycleState& state) {
  if (state.is_last_flush) {
    flush_cycles += state.cycles;
    return;
  }
  std::uint64_t blocked = 0;
  for (const WarpState& warp : state.warps) {
    see_warp(warp, static_cast<double>(state.cycles));
    if (is_blocked(warp)) ++blocked;
  }
  see_slots(state, blocked);
  if (state.issued > 0) {
    add(gsi.cycles, Stall::none, static_cast<double>(state.cycles));
  } else {
    see_stall(state);
  }
}

/// As many slots as could have issued: those of the machine, or of the warps that are there.
void StallAccountant::Sums::see_slots(const CycleState& state, std::uint64_t blocked) {
  const auto cycles = static_cast<double>(state.cycles);
  const std::uint64_t slots = std::min(issue_width, state.issued + blocked);
  if (slots == 0) {
    add(all_causes.cycles, Stall::idle, cycles);
    return;
  }
  const double filled = static_cast<double>(state.issued) / static_cast<double>(slots);
  add(all_causes.cycles, Stall::none, cycles * filled);
  if (state.issued == slots) return;
  const double share = cycles * (1.0 - filled) / static_cast<double>(blocked);
  for (const WarpState& warp : state.warps) {
    if (is_blocked(warp)) share_all_causes(warp, share);
  }
}

void StallAccountant::Sums::see_warp(const WarpState& warp, double cycles) {
  if (warp.causes == cause::idle) return;
  const Stall stall = classify_instruction(conditions_of(warp.causes));
  add_with_part(warps[warp.number], stall, warp.causes, cycles);
  if (stall != Stall::memory_data) return;
  Waited& waited = waited_for(warp.load);
  waited.warp += cycles;
  waited.number = warp.number;
}

void StallAccountant::Sums::see_stall(const CycleState& state) {
  const auto cycles = static_cast<double>(state.cycles);
  StallSet found = 0;
  for (const WarpState& warp : state.warps) {
    if (!is_blocked(warp)) continue;
    found = static_cast<StallSet>(found | bit_of(classify_instruction(conditions_of(warp.causes))));
  }
  const Stall stall = classify_cycle(found);
  if (stall == Stall::idle) {
    add(gsi.cycles, stall, cycles);
    return;
  }
  const auto is_to_blame = [&](const WarpState& warp) {
    return is_blocked(warp) && classify_instruction(conditions_of(warp.causes)) == stall;
  };
  const auto to_blame = std::count_if(state.warps.begin(), state.warps.end(), is_to_blame);
  for (const WarpState& warp : state.warps) {
    if (!is_to_blame(warp)) continue;
    const double share = cycles / static_cast<double>(to_blame);
    add_with_part(gsi, stall, warp.causes, share);
    if (stall == Stall::memory_data) waited_for(warp.load).gsi += share;
  }
}

void StallAccountant::Sums::share_all_causes(const WarpState& warp, double share) {
  const double each = share / static_cast<double>(std::popcount(warp.causes));
  for (Causes left = warp.causes; left != 0; left &= left - 1) {
    const Causes bit = left & (~left + 1);
    const Stall stall = classify_instruction(conditions_of(bit));
    add_with_part(all_causes, stall, bit, each);
    if (stall == Stall::memory_data) waited_for(warp.load).all_causes += each;
  }
}

StallAccountant::StallAccountant(const Machine& machine) : sums_(std::make_unique<Sums>()) {
  sums_->issue_width = machine.core.issue_width;
  observer_.cycles = [sums = sums_.get()](const CycleState& state) { sums->see(state); };
  observer_.served = [sums = sums_.get()](std::uint64_t load, Level level) {
    sums->waited_for(load).level = level;
  };
}

StallAccountant::~StallAccountant() = default;

const Observer& StallAccountant::observer() const { return observer_; }

StallAccount StallAccountant::account(Result result) const {
  StallAccount account;
  account.result = std::move(result);
  account.gsi = sums_->gsi;
  account.all_causes = sums_->all_causes;
  account.flush_cycles = sums_->flush_cycles;
  std::map<std::uint32_t, Breakdown> warps = sums_->warps;
  for (const Sums::Waited& each : sums_->loads) {
    add(account.gsi.memory_data, each.level, each.gsi);
    add(account.all_causes.memory_data, each.level, each.all_causes);
    if (each.warp > 0.0) add(warps[each.number].memory_data, each.level, each.warp);
  }
  for (const auto& [number, cycles] : warps) account.warps.push_back({number, cycles});
  return account;
}

StallAccount account_stalls(const Machine& machine, const Trace& trace, const Options& options) {
  const StallAccountant accountant(machine);
  return accountant.account(simulate(machine, trace, options, &accountant.observer()));
}

}  // namespace clprobe::simulator
