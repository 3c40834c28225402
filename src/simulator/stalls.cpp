// SPDX-License-Identifier: Apache-2.0
#include "clprobe/stalls.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace clprobe::simulator {
namespace {

template <typename Kind, std::size_t size>
void add(std::array<double, size>& sums, Kind kind, double cycles) {
  sums[static_cast<std::size_t>(kind)] += cycles;
}

/// Adds to a type and to its part. The parts of memory data stalls are added at the end, when it is
/// known where the loads got their values.
void add_with_part(Breakdown& to, Stall stall, Causes causes, double cycles) {
  add(to.cycles, stall, cycles);
  if (const auto part = part_of(stall, causes)) to.parts(stall)[*part] += cycles;
}

/// Has a warp that something keeps from issuing. One without a cause has issued or is about to end,
/// which is as good as not being there.
bool is_blocked(const WarpState& warp) { return (warp.causes & ~cause::idle) != 0; }

}  // namespace

struct StallAccountant::Sums {
  /// What waited for one load, in each view.
  struct Waited {
    double gsi{0.0};
    double all_causes{0.0};
    double warp{0.0};
    std::uint32_t number{0};
    Level level{Level::l1};
  };
  /// A context, and its warp's sums, which stay where they are.
  struct Seat {
    std::uint32_t number{0};
    Breakdown* sums{nullptr};
    Stall stall{Stall::none};  ///< in this cycle
  };

  Breakdown gsi{};
  Breakdown all_causes{};
  std::map<std::uint32_t, Breakdown> warps{};
  std::vector<Seat> seats{};    // by context
  std::vector<Waited> loads{};  // by the load's number
  std::uint64_t flush_cycles{0};
  std::uint64_t issue_width{1};
  Priorities priorities{};
  // By conditions: Algorithm 1 for every set, since every cycle asks.
  std::array<Stall, std::size_t{1} << Priorities::count> stall_of{};

  Sums(std::uint64_t width, const Priorities& order) : issue_width(width), priorities(order) {
    for (std::size_t set = 0; set < stall_of.size(); ++set) {
      stall_of[set] = classify_instruction(static_cast<StallSet>(set), priorities);
    }
  }

  [[nodiscard]] Stall stall_by(Causes causes) const { return stall_of[conditions_of(causes)]; }

  Waited& waited_for(std::uint64_t load) {
    if (loads.size() <= load) loads.resize(std::max<std::size_t>(load + 1, 2 * loads.size()));
    return loads[load];
  }
  void see(const CycleState& state);
  void see_warp(const WarpState& warp, Seat& seat, double cycles);
  void see_slots(const CycleState& state, std::uint64_t blocked);
  void see_stall(const CycleState& state);
  void share_all_causes(const WarpState& warp, double share);
};

void StallAccountant::Sums::see(const CycleState& state) {
  if (state.is_last_flush) {
    flush_cycles += state.cycles;
    return;
  }
  if (seats.size() < state.warps.size()) seats.resize(state.warps.size());
  std::uint64_t blocked = 0;
  for (std::size_t context = 0; context < state.warps.size(); ++context) {
    const WarpState& warp = state.warps[context];
    see_warp(warp, seats[context], static_cast<double>(state.cycles));
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

void StallAccountant::Sums::see_warp(const WarpState& warp, Seat& seat, double cycles) {
  if (warp.causes == cause::idle) return;
  if (seat.sums == nullptr || seat.number != warp.number) {
    seat.number = warp.number;
    seat.sums = &warps[warp.number];
  }
  seat.stall = stall_by(warp.causes);
  add_with_part(*seat.sums, seat.stall, warp.causes, cycles);
  if (seat.stall != Stall::memory_data) return;
  Waited& waited = waited_for(warp.load);
  waited.warp += cycles;
  waited.number = warp.number;
}

void StallAccountant::Sums::see_stall(const CycleState& state) {
  const auto cycles = static_cast<double>(state.cycles);
  StallSet found = 0;
  for (std::size_t context = 0; context < state.warps.size(); ++context) {
    if (!is_blocked(state.warps[context])) continue;
    found = static_cast<StallSet>(found | bit_of(seats[context].stall));
  }
  const Stall stall = classify_cycle(found, priorities);
  if (found == 0) {
    add(gsi.cycles, stall, cycles);
    return;
  }
  const auto is_to_blame = [&](std::size_t context) {
    return is_blocked(state.warps[context]) && seats[context].stall == stall;
  };
  std::uint64_t to_blame = 0;
  for (std::size_t context = 0; context < state.warps.size(); ++context) {
    if (is_to_blame(context)) ++to_blame;
  }
  const double share = cycles / static_cast<double>(to_blame);
  for (std::size_t context = 0; context < state.warps.size(); ++context) {
    if (!is_to_blame(context)) continue;
    const WarpState& warp = state.warps[context];
    add_with_part(gsi, stall, warp.causes, share);
    if (stall == Stall::memory_data) waited_for(warp.load).gsi += share;
  }
}

void StallAccountant::Sums::share_all_causes(const WarpState& warp, double share) {
  const double each = share / static_cast<double>(std::popcount(warp.causes));
  for (Causes left = warp.causes; left != 0; left &= left - 1) {
    const Causes bit = left & (~left + 1);
    const Stall stall = stall_by(bit);
    add_with_part(all_causes, stall, bit, each);
    if (stall == Stall::memory_data) waited_for(warp.load).all_causes += each;
  }
}

StallAccountant::StallAccountant(const Machine& machine, const Priorities& priorities)
    : sums_(std::make_unique<Sums>(machine.core.issue_width, priorities)) {
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

namespace {

void add(Breakdown& sum, const Breakdown& each, double share) {
  const auto add_all = [share](std::span<double> to, std::span<const double> from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += share * from[i];
  };
  add_all(sum.cycles, each.cycles);
  for (std::size_t i = 0; i < stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    add_all(sum.parts(stall), each.parts(stall));
  }
}

StallAccount mean_of(const std::vector<StallAccount>& units) {
  StallAccount mean;
  const double share = 1.0 / static_cast<double>(units.size());
  std::vector<Result> results;
  for (const StallAccount& each : units) {
    add(mean.gsi, each.gsi, share);
    add(mean.all_causes, each.all_causes, share);
    mean.warps.insert(mean.warps.end(), each.warps.begin(), each.warps.end());
    results.push_back(each.result);
  }
  std::sort(mean.warps.begin(), mean.warps.end(),
            [](const WarpStalls& a, const WarpStalls& b) { return a.number < b.number; });
  mean.result = sum_of(std::move(results));
  mean.flush_cycles = mean.result.flush_cycles;
  return mean;
}

}  // namespace

GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options, const Priorities& priorities) {
  std::vector<std::unique_ptr<StallAccountant>> accountants;
  std::vector<const Observer*> observers;
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    accountants.push_back(std::make_unique<StallAccountant>(machine, priorities));
    observers.push_back(&accountants.back()->observer());
  }
  std::vector<Result> results = simulate_units(machine, trace, units, options, observers);
  GridAccount account;
  for (std::size_t unit = 0; unit < results.size(); ++unit) {
    account.units.push_back(accountants[unit]->account(std::move(results[unit])));
  }
  account.mean = mean_of(account.units);
  return account;
}

}  // namespace clprobe::simulator
