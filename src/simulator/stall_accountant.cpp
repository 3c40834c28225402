// SPDX-License-Identifier: Apache-2.0
// Adds up where the cycles of a simulation go, in both views, by warp and over the time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/stalls.hpp"

namespace clprobe::simulator {

/// A set of causes: its type by Algorithm 1, the part of that type, and the cycles that it got.
struct StallKind {
  Causes causes{0};
  double causes_count{0.0};
  Stall stall{Stall::none};
  std::optional<std::size_t> part{};
  double blamed{0.0};
  double open_slots{0.0};
};

/// Cycles that waited for one load, in each view.
struct LoadWaits {
  double gsi{0.0};
  double all_causes{0.0};
  double warp{0.0};
  std::uint32_t number{0};
  Level level{Level::l1};
  bool is_served{false};
};

/// A warp that something blocks.
struct BlockedWarp {
  std::size_t kind{0};
  std::uint64_t load{0};  ///< 0 unless it waits for one
  std::uint32_t number{0};
};

namespace {

template <typename Enum, std::size_t size>
void add(std::array<double, size>& sums, Enum place, double cycles) {
  sums[static_cast<std::size_t>(place)] += cycles;
}

/// The parts of memory data stalls are added when it is known where the loads got their values.
void add_with_part(Breakdown& to, const StallKind& kind, double cycles) {
  add(to.cycles, kind.stall, cycles);
  if (kind.part) to.parts(kind.stall)[*kind.part] += cycles;
}

}  // namespace

/// GSI's view over the time, in windows that become twice as long when there are too many of them.
class StallWindows {
 public:
  /// `max_windows`: 0, for none, or an even number.
  explicit StallWindows(std::size_t max_windows) : max_windows_(max_windows) {}

  [[nodiscard]] bool exist() const { return max_windows_ != 0; }
  /// How many more cycles the open window takes; without windows as many as there are.
  [[nodiscard]] std::uint64_t cycles_left() const {
    return exist() ? window_cycles_ - open_cycles_ : ~std::uint64_t{0};
  }
  Breakdown& open() { return open_.gsi; }
  void wait(std::uint64_t load, double cycles) {
    if (open_.waits.empty() || open_.waits.back().first != load) open_.waits.emplace_back(load, 0);
    open_.waits.back().second += cycles;
  }
  void flush(std::uint64_t cycles) { open_.flush_cycles += cycles; }
  /// Ends so many cycles of the open window, at most cycles_left().
  void pass(std::uint64_t cycles, std::span<const LoadWaits> loads) {
    if (!exist()) return;
    open_cycles_ += cycles;
    if (open_cycles_ < window_cycles_) return;
    settle(open_, loads);
    windows_.push_back(std::exchange(open_, {}));
    open_cycles_ = 0;
    if (windows_.size() > max_windows_) halve();
  }
  Timeline end(std::span<const LoadWaits> loads) {
    Timeline timeline;
    if (!exist()) return timeline;
    timeline.window_cycles = window_cycles_;
    if (open_cycles_ > 0) windows_.push_back(std::exchange(open_, {}));
    for (Window& each : windows_) {
      settle(each, loads);
      timeline.windows.push_back({each.gsi, each.flush_cycles});
    }
    return timeline;
  }

 private:
  struct Window {
    Breakdown gsi{};
    std::uint64_t flush_cycles{0};
    std::vector<std::pair<std::uint64_t, double>> waits{};  ///< loads whose level is unknown yet
  };
  /// Gives the levels the cycles that waited for loads that have been served.
  static void settle(Window& window, std::span<const LoadWaits> loads) {
    std::erase_if(window.waits, [&](const auto& each) {
      const LoadWaits& load = loads[each.first];
      if (load.is_served) add(window.gsi.memory_data, load.level, each.second);
      return load.is_served;
    });
  }
  /// The first two become one, and so on; one that is left over is the first half of the open one.
  void halve() {
    window_cycles_ *= 2;
    std::vector<Window> halved;
    for (std::size_t i = 0; i + 1 < windows_.size(); i += 2) {
      Window& first = halved.emplace_back(std::move(windows_[i]));
      const Window& second = windows_[i + 1];
      simulator::add(first.gsi, second.gsi, 1.0);
      first.flush_cycles += second.flush_cycles;
      first.waits.insert(first.waits.end(), second.waits.begin(), second.waits.end());
    }
    if (windows_.size() % 2 == 1) {
      open_ = std::move(windows_.back());
      open_cycles_ = window_cycles_ / 2;
    }
    windows_ = std::move(halved);
  }

  std::size_t max_windows_;
  std::uint64_t window_cycles_{1};
  std::uint64_t open_cycles_{0};
  Window open_{};
  std::vector<Window> windows_{};
};

struct StallAccountant::Sums {
  Breakdown gsi{};
  Breakdown all_causes{};
  std::map<std::uint32_t, Breakdown> warps{};                 // by number
  std::vector<std::pair<std::uint32_t, Breakdown*>> seats{};  // by context: its warp, of `warps`
  std::vector<LoadWaits> loads{};                             // by the load's number
  std::uint64_t flush_cycles{0};
  std::uint64_t issue_width{1};
  Priorities priorities{};
  std::vector<StallKind> kinds{};
  std::array<std::uint32_t, 256> kind_places{};         // in `kinds`, by a hash of the causes
  std::vector<BlockedWarp> blocked{};                   // in the cycles that are being seen
  std::array<std::uint64_t, stall_count> blocked_by{};  // of these, by type
  StallWindows windows;
  std::vector<WarpState> warps_before{};                // of the cycles that were seen last
  std::vector<std::pair<Busy, std::uint64_t>> aside{};  // cycles with these warps, by what is busy

  Sums(std::uint64_t width, const Accounting& accounting)
      : issue_width(width), priorities(accounting.priorities), windows(accounting.max_windows) {}

  void see(const CycleState& state);
  void put_aside(const Busy& busy, std::uint64_t cycles);
  void see_aside();
  void see_now(const CycleState& state);
  void find_blocked(const CycleState& state);
  void see_slots(double cycles, std::uint64_t issued);
  void see_stall(double cycles);
  void share_all_causes(const StallKind& kind);
  StallAccount end(Result result);

  LoadWaits& waits_for(std::uint64_t load) {
    if (loads.size() <= load) loads.resize(std::max<std::size_t>(load + 1, 2 * loads.size()));
    return loads[load];
  }
  std::size_t kind_of(Causes causes);
  Breakdown& warp_at(std::size_t context, std::uint32_t number);
};

std::size_t StallAccountant::Sums::kind_of(Causes causes) {
  constexpr Causes golden = 0x9e3779b1U;
  std::uint32_t& place = kind_places[causes * golden >> 24U];
  if (place < kinds.size() && kinds[place].causes == causes) return place;
  const auto found = std::find_if(kinds.begin(), kinds.end(), [causes](const StallKind& each) {
    return each.causes == causes;
  });
  place = static_cast<std::uint32_t>(found - kinds.begin());
  if (found != kinds.end()) return place;
  const Stall stall = classify_instruction(conditions_of(causes), priorities);
  kinds.push_back({.causes = causes,
                   .causes_count = static_cast<double>(std::popcount(causes)),
                   .stall = stall,
                   .part = part_of(stall, causes)});
  return place;
}

Breakdown& StallAccountant::Sums::warp_at(std::size_t context, std::uint32_t number) {
  if (seats.size() <= context) seats.resize(context + 1);
  auto& [seated, warp] = seats[context];
  if (warp == nullptr || seated != number) {
    seated = number;
    warp = &warps[number];
  }
  return *warp;
}

/// What is busy changes with nearly every line of a load, and the warps seldom: cycles with the
/// same warps are added up before anything is shared.
void StallAccountant::Sums::see(const CycleState& state) {
  if (!state.has_changed && !state.is_last_flush && !windows.exist()) {
    put_aside(state.busy, state.cycles);
    return;
  }
  see_aside();
  warps_before.assign(state.warps.begin(), state.warps.end());
  see_now(state);
}

void StallAccountant::Sums::put_aside(const Busy& busy, std::uint64_t cycles) {
  const auto found = std::find_if(aside.begin(), aside.end(),
                                  [&](const auto& each) { return each.first == busy; });
  if (found == aside.end()) {
    aside.emplace_back(busy, cycles);
  } else {
    found->second += cycles;
  }
}

void StallAccountant::Sums::see_aside() {
  for (const auto& [busy, cycles] : aside) {
    see_now({.cycles = cycles, .busy = busy, .warps = warps_before});
  }
  aside.clear();
}

void StallAccountant::Sums::see_now(const CycleState& state) {
  if (state.is_last_flush) {
    flush_cycles += state.cycles;
  } else {
    find_blocked(state);
  }
  for (std::uint64_t left = state.cycles; left > 0;) {
    const std::uint64_t cycles = std::min(left, windows.cycles_left());
    if (state.is_last_flush) {
      windows.flush(cycles);
    } else {
      see_slots(static_cast<double>(cycles), state.issued);
      if (state.issued == 0) see_stall(static_cast<double>(cycles));
      if (state.issued > 0) add(gsi.cycles, Stall::none, static_cast<double>(cycles));
      if (state.issued > 0) add(windows.open().cycles, Stall::none, static_cast<double>(cycles));
    }
    left -= cycles;
    windows.pass(cycles, loads);
  }
}

/// A warp without a cause has issued or is about to end.
void StallAccountant::Sums::find_blocked(const CycleState& state) {
  const auto cycles = static_cast<double>(state.cycles);
  blocked.clear();
  blocked_by = {};
  for (std::size_t context = 0; context < state.warps.size(); ++context) {
    const WarpState& warp = state.warps[context];
    if (warp.causes == cause::idle) continue;
    const Causes causes = state.causes_of(warp);
    const std::size_t place = kind_of(causes);
    const StallKind& kind = kinds[place];
    add_with_part(warp_at(context, warp.number), kind, cycles);
    if (causes == 0) continue;
    const bool waits_for_load = (causes & cause::memory_data) != 0;
    blocked.push_back(
        {.kind = place, .load = waits_for_load ? warp.load : 0, .number = warp.number});
    ++blocked_by[static_cast<std::size_t>(kind.stall)];
    if (!waits_for_load || kind.stall != Stall::memory_data) continue;
    LoadWaits& waited = waits_for(warp.load);
    waited.warp += cycles;
    waited.number = warp.number;
  }
}

/// A cycle has as many slots as could issue: those of the machine, or of the warps that are there.
void StallAccountant::Sums::see_slots(double cycles, std::uint64_t issued) {
  const std::uint64_t slots = std::min<std::uint64_t>(issue_width, issued + blocked.size());
  if (slots == 0) {
    add(all_causes.cycles, Stall::idle, cycles);
    return;
  }
  const double filled = static_cast<double>(issued) / static_cast<double>(slots);
  add(all_causes.cycles, Stall::none, cycles * filled);
  if (issued == slots) return;
  const double share = cycles * (1.0 - filled) / static_cast<double>(blocked.size());
  for (const BlockedWarp& each : blocked) {
    StallKind& kind = kinds[each.kind];
    kind.open_slots += share;
    if (each.load == 0) continue;
    waits_for(each.load).all_causes += share / kind.causes_count;
  }
}

void StallAccountant::Sums::see_stall(double cycles) {
  StallSet found = 0;
  for (std::size_t i = 0; i < stall_count; ++i) {
    if (blocked_by[i] > 0) found = static_cast<StallSet>(found | bit_of(static_cast<Stall>(i)));
  }
  const Stall stall = classify_cycle(found, priorities);
  if (found == 0) {
    add(gsi.cycles, stall, cycles);
    add(windows.open().cycles, stall, cycles);
    return;
  }
  const double share = cycles / static_cast<double>(blocked_by[static_cast<std::size_t>(stall)]);
  for (const BlockedWarp& each : blocked) {
    StallKind& kind = kinds[each.kind];
    if (kind.stall != stall) continue;
    kind.blamed += share;
    if (windows.exist()) add_with_part(windows.open(), kind, share);
    if (stall != Stall::memory_data) continue;
    waits_for(each.load).gsi += share;
    if (windows.exist()) windows.wait(each.load, share);
  }
}

/// Each of its causes, by itself, has an equal part.
void StallAccountant::Sums::share_all_causes(const StallKind& kind) {
  const double each = kind.open_slots / kind.causes_count;
  for (Causes left = kind.causes; left != 0; left &= left - 1) {
    const Causes causes = left & (~left + 1);
    const Stall stall = classify_instruction(conditions_of(causes), priorities);
    add_with_part(all_causes, {.stall = stall, .part = part_of(stall, causes)}, each);
  }
}

StallAccount StallAccountant::Sums::end(Result result) {
  for (const StallKind& each : kinds) {
    if (each.blamed > 0.0) add_with_part(gsi, each, each.blamed);
    if (each.open_slots > 0.0) share_all_causes(each);
  }
  for (const LoadWaits& each : loads) {
    add(gsi.memory_data, each.level, each.gsi);
    add(all_causes.memory_data, each.level, each.all_causes);
    if (each.warp > 0.0) add(warps[each.number].memory_data, each.level, each.warp);
  }
  StallAccount account{.result = std::move(result),
                       .gsi = gsi,
                       .all_causes = all_causes,
                       .flush_cycles = flush_cycles,
                       .timeline = windows.end(loads)};
  for (const auto& [number, cycles] : warps) account.warps.push_back({number, cycles});
  return account;
}

StallAccountant::StallAccountant(const Machine& machine, const Accounting& accounting)
    : sums_(std::make_unique<Sums>(machine.core.issue_width, accounting)) {
  observer_.cycles = [sums = sums_.get()](const CycleState& state) { sums->see(state); };
  observer_.served = [sums = sums_.get()](std::uint64_t load, Level level) {
    LoadWaits& waited = sums->waits_for(load);
    waited.level = level;
    waited.is_served = true;
  };
}

StallAccountant::~StallAccountant() = default;

const Observer& StallAccountant::observer() const { return observer_; }

StallAccount StallAccountant::account(Result result) const {
  sums_->see_aside();
  Sums sums = *sums_;  // more may be seen after it
  return sums.end(std::move(result));
}
StallAccount account_stalls(const Machine& machine, const Trace& trace, const Options& options) {
  const StallAccountant accountant(machine);
  return accountant.account(simulate(machine, trace, options, &accountant.observer()));
}

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

namespace {

/// The units have been seen for the same time, so that their windows are the same.
void add(Timeline& sum, const Timeline& each, double share) {
  sum.window_cycles = each.window_cycles;
  sum.windows.resize(each.windows.size());
  for (std::size_t i = 0; i < each.windows.size(); ++i) {
    add(sum.windows[i].gsi, each.windows[i].gsi, share);
    sum.windows[i].flush_cycles = each.windows[i].flush_cycles;
  }
}

StallAccount mean_of(const std::vector<StallAccount>& units) {
  StallAccount mean;
  const double share = 1.0 / static_cast<double>(units.size());
  std::vector<Result> results;
  for (const StallAccount& each : units) {
    add(mean.gsi, each.gsi, share);
    add(mean.all_causes, each.all_causes, share);
    add(mean.timeline, each.timeline, share);
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
                          const Options& options, const Accounting& accounting) {
  std::vector<std::unique_ptr<StallAccountant>> accountants;
  std::vector<const Observer*> observers;
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    accountants.push_back(std::make_unique<StallAccountant>(machine, accounting));
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
