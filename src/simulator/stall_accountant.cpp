// SPDX-License-Identifier: Apache-2.0
// Adds up where the cycles of a simulation go. A warp is looked at when its state changes: what it
// had from cycles in which it stayed as it was is the difference of sums that all warps share.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "clprobe/stalls.hpp"
#include "simulator/stall_windows.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::size_t nowhere{~std::size_t{0}};

template <typename Kind, std::size_t size>
void add(std::array<double, size>& sums, Kind kind, double cycles) {
  sums[static_cast<std::size_t>(kind)] += cycles;
}

/// Has a warp that something keeps from issuing. One without a cause has issued or is about to end,
/// which is as good as not being there.
bool is_blocked(Causes causes) { return (causes & ~cause::idle) != 0; }

}  // namespace

struct StallAccountant::Sums {
  /// What a set of causes is, its type by Algorithm 1 and the part of it, and what it has got.
  struct Kind {
    Causes causes{0};
    Stall stall{Stall::none};
    std::optional<std::size_t> part{};
    double blamed{0.0};
    double open_slots{0.0};
    double blamed_before{0.0};  ///< the window that is open
  };

  /// What waited for one load, in each view.
  struct Waited {
    double gsi{0.0};
    double all_causes{0.0};
    double warp{0.0};
    std::uint32_t number{0};
    Level level{Level::l1};
    bool is_served{false};
  };
  /// What one warp gets from the cycles so far if it is there all along.
  struct Shares {
    std::uint64_t there{0};                    ///< all cycles
    double open_slots{0.0};                    ///< if something blocks it
    std::array<double, stall_count> blamed{};  ///< if that is of this type
  };
  /// A context, what its warp does, and the shares when that began.
  struct Seat {
    Causes causes{cause::idle};
    Stall stall{Stall::idle};
    std::uint32_t number{0};
    std::size_t kind{0};        ///< in `kinds`
    std::size_t warp{nowhere};  ///< in `warps`
    std::uint64_t load{0};
    std::uint64_t there{0};
    double open_slots{0.0};
    double blamed{0.0};
    /// Cycles of this warp by kind, those that have passed; in `warps` when another one comes.
    std::vector<std::uint64_t> cycles{};
  };

  Breakdown gsi{};
  Breakdown all_causes{};
  std::map<std::uint32_t, std::size_t> places{};  // in `warps`, by number
  std::vector<Breakdown> warps{};
  std::vector<Seat> seats{};    // by context
  std::vector<Waited> loads{};  // by the load's number
  Shares shares{};
  std::uint64_t blocked{0};                             // warps
  std::array<std::uint64_t, stall_count> blocked_by{};  // of these, by type
  std::uint64_t flush_cycles{0};
  std::uint64_t issue_width{1};
  Priorities priorities{};
  std::vector<Kind> kinds{};
  /// Where those are that were asked for last: all changes ask, and few sets occur.
  std::array<std::uint32_t, 256> kind_places{};
  StallWindows windows;
  Breakdown gsi_before{};  ///< the window that is open

  Sums(std::uint64_t width, const Accounting& accounting)
      : issue_width(width), priorities(accounting.priorities), windows(accounting.max_windows) {}

  std::size_t kind_of(Causes causes) {
    constexpr Causes golden = 0x9e3779b1U;
    std::uint32_t& place = kind_places[causes * golden >> 24U];
    if (place >= kinds.size() || kinds[place].causes != causes) place = search_kind(causes);
    return place;
  }
  /// Makes it if it is not there.
  std::uint32_t search_kind(Causes causes);

  Waited& waited_for(std::uint64_t load) {
    if (loads.size() <= load) loads.resize(std::max<std::size_t>(load + 1, 2 * loads.size()));
    return loads[load];
  }
  std::size_t place_of(std::uint32_t number) {
    const auto [place, is_new] = places.try_emplace(number, warps.size());
    if (is_new) warps.emplace_back();
    return place->second;
  }
  /// Adds to a type and to its part. The parts of memory data stalls are added at the end, when it
  /// is known where the loads got their values.
  static void add_with_part(Breakdown& to, const Kind& kind, double cycles) {
    add(to.cycles, kind.stall, cycles);
    if (kind.part) to.parts(kind.stall)[*kind.part] += cycles;
  }
  void see(const CycleState& state);
  void see_flush(std::uint64_t all);
  /// Cycles of one window.
  void see_piece(std::uint64_t cycles, std::uint32_t issued);
  /// Of the timeline's windows.
  void pass(std::uint64_t cycles);
  /// GSI's view of the window that is open, and the next one begins.
  Breakdown take_window();
  [[nodiscard]] std::optional<Level> level_of(std::uint64_t load) const {
    return loads[load].is_served ? std::optional(loads[load].level) : std::nullopt;
  }
  Timeline end_timeline();
  void enter(Seat& seat, const WarpState& warp);
  void leave(Seat& seat);
  /// Counts what the seat has got so far, and goes on.
  void settle(Seat& seat);
  void see_slots(double cycles, std::uint64_t issued);
  void see_stall(double cycles);
  /// Adds to its warp what the seat has counted.
  void end_warp(Seat& seat);
  void share_all_causes(const Kind& kind);
  /// What is left to add when nothing more is seen.
  void end();
};

void StallAccountant::Sums::see(const CycleState& state) {
  if (state.is_last_flush) {
    see_flush(state.cycles);
    return;
  }
  if (seats.size() < state.warps.size()) seats.resize(state.warps.size());
  for (const std::uint32_t context : state.changed) {
    leave(seats[context]);
    enter(seats[context], state.warps[context]);
  }
  for (std::uint64_t left = state.cycles; left > 0;) {
    const std::uint64_t cycles = std::min(left, windows.cycles_left());
    see_piece(cycles, state.issued);
    left -= cycles;
    pass(cycles);
  }
}

void StallAccountant::Sums::see_flush(std::uint64_t all) {
  flush_cycles += all;
  for (std::uint64_t left = all; left > 0;) {
    const std::uint64_t cycles = std::min(left, windows.cycles_left());
    windows.flush(cycles);
    left -= cycles;
    pass(cycles);
  }
}

void StallAccountant::Sums::see_piece(std::uint64_t cycles, std::uint32_t issued) {
  const auto time = static_cast<double>(cycles);
  shares.there += cycles;
  see_slots(time, issued);
  if (issued > 0) {
    add(gsi.cycles, Stall::none, time);
  } else {
    see_stall(time);
  }
}

void StallAccountant::Sums::pass(std::uint64_t cycles) {
  if (!windows.pass(cycles)) return;
  windows.close(take_window(), [this](std::uint64_t load) { return level_of(load); });
}

Timeline StallAccountant::Sums::end_timeline() {
  if (!windows.are_asked_for()) return {};
  return windows.end(take_window(), [this](std::uint64_t load) { return level_of(load); });
}

Breakdown StallAccountant::Sums::take_window() {
  for (Seat& each : seats) settle(each);
  Breakdown window;
  add(window, gsi, 1.0);
  add(window, gsi_before, -1.0);
  gsi_before = gsi;
  for (Kind& each : kinds) {
    const double blamed = each.blamed - each.blamed_before;
    if (blamed != 0.0) add_with_part(window, each, blamed);
    each.blamed_before = each.blamed;
  }
  return window;
}

std::uint32_t StallAccountant::Sums::search_kind(Causes causes) {
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [causes](const Kind& each) { return each.causes == causes; });
  const auto place = static_cast<std::uint32_t>(found - kinds.begin());
  if (found == kinds.end()) {
    const Stall stall = classify_instruction(conditions_of(causes), priorities);
    kinds.push_back({.causes = causes, .stall = stall, .part = part_of(stall, causes)});
  }
  return place;
}

void StallAccountant::Sums::enter(Seat& seat, const WarpState& warp) {
  seat.causes = warp.causes;
  if (warp.causes == cause::idle) return;
  seat.kind = kind_of(warp.causes);
  seat.stall = kinds[seat.kind].stall;
  if (seat.number != warp.number || seat.warp == nowhere) {
    end_warp(seat);
    seat.number = warp.number;
    seat.warp = place_of(warp.number);
  }
  seat.load = warp.load;
  seat.there = shares.there;
  if (!is_blocked(warp.causes)) return;
  seat.open_slots = shares.open_slots;
  const auto type = static_cast<std::size_t>(seat.stall);
  seat.blamed = shares.blamed[type];
  ++blocked;
  ++blocked_by[type];
}

void StallAccountant::Sums::leave(Seat& seat) {
  settle(seat);
  if (!is_blocked(seat.causes)) return;
  --blocked;
  --blocked_by[static_cast<std::size_t>(seat.stall)];
}

void StallAccountant::Sums::settle(Seat& seat) {
  if (seat.causes == cause::idle) return;
  const std::uint64_t there = shares.there - std::exchange(seat.there, shares.there);
  if (seat.cycles.size() <= seat.kind) seat.cycles.resize(kinds.size());
  seat.cycles[seat.kind] += there;
  const bool waits = seat.stall == Stall::memory_data;
  if (waits) {
    Waited& waited = waited_for(seat.load);
    waited.warp += static_cast<double>(there);
    waited.number = seat.number;
  }
  if (!is_blocked(seat.causes)) return;
  Kind& kind = kinds[seat.kind];
  const double shared = shares.blamed[static_cast<std::size_t>(seat.stall)];
  const double blamed = shared - std::exchange(seat.blamed, shared);
  kind.blamed += blamed;
  if (waits) {
    waited_for(seat.load).gsi += blamed;
    windows.wait(seat.load, blamed);
  }
  const double open_slots = shares.open_slots - std::exchange(seat.open_slots, shares.open_slots);
  kind.open_slots += open_slots;
  if ((seat.causes & cause::memory_data) == 0) return;
  waited_for(seat.load).all_causes += open_slots / static_cast<double>(std::popcount(seat.causes));
}

void StallAccountant::Sums::end_warp(Seat& seat) {
  for (std::size_t place = 0; place < seat.cycles.size(); ++place) {
    if (seat.cycles[place] == 0) continue;
    add_with_part(warps[seat.warp], kinds[place], static_cast<double>(seat.cycles[place]));
  }
  seat.cycles.clear();
}

/// As many slots as could have issued: those of the machine, or of the warps that are there.
void StallAccountant::Sums::see_slots(double cycles, std::uint64_t issued) {
  const std::uint64_t slots = std::min(issue_width, issued + blocked);
  if (slots == 0) {
    add(all_causes.cycles, Stall::idle, cycles);
    return;
  }
  const double filled = static_cast<double>(issued) / static_cast<double>(slots);
  add(all_causes.cycles, Stall::none, cycles * filled);
  if (issued == slots) return;
  shares.open_slots += cycles * (1.0 - filled) / static_cast<double>(blocked);
}

void StallAccountant::Sums::see_stall(double cycles) {
  StallSet found = 0;
  for (std::size_t i = 0; i < stall_count; ++i) {
    if (blocked_by[i] > 0) found = static_cast<StallSet>(found | bit_of(static_cast<Stall>(i)));
  }
  const Stall stall = classify_cycle(found, priorities);
  if (found == 0) {
    add(gsi.cycles, stall, cycles);
    return;
  }
  const auto type = static_cast<std::size_t>(stall);
  shares.blamed[type] += cycles / static_cast<double>(blocked_by[type]);
}

/// Each of its causes, by itself, has an equal part.
void StallAccountant::Sums::share_all_causes(const Kind& kind) {
  const double each = kind.open_slots / static_cast<double>(std::popcount(kind.causes));
  for (Causes left = kind.causes; left != 0; left &= left - 1) {
    const Causes causes = left & (~left + 1);
    const Stall stall = classify_instruction(conditions_of(causes), priorities);
    add_with_part(all_causes, {.stall = stall, .part = part_of(stall, causes)}, each);
  }
}

void StallAccountant::Sums::end() {
  for (Seat& each : seats) {
    leave(each);
    end_warp(each);
  }
  for (const Kind& each : kinds) {
    if (each.blamed > 0.0) add_with_part(gsi, each, each.blamed);
    if (each.open_slots > 0.0) share_all_causes(each);
  }
  for (const Waited& each : loads) {
    add(gsi.memory_data, each.level, each.gsi);
    add(all_causes.memory_data, each.level, each.all_causes);
    if (each.warp > 0.0) {
      add(warps[place_of(each.number)].memory_data, each.level, each.warp);
    }
  }
}

StallAccountant::StallAccountant(const Machine& machine, const Accounting& accounting)
    : sums_(std::make_unique<Sums>(machine.core.issue_width, accounting)) {
  observer_.cycles = [sums = sums_.get()](const CycleState& state) { sums->see(state); };
  observer_.served = [sums = sums_.get()](std::uint64_t load, Level level) {
    Sums::Waited& waited = sums->waited_for(load);
    waited.level = level;
    waited.is_served = true;
  };
}

StallAccountant::~StallAccountant() = default;

const Observer& StallAccountant::observer() const { return observer_; }

StallAccount StallAccountant::account(Result result) const {
  Sums sums = *sums_;
  StallAccount account;
  account.timeline = sums.end_timeline();
  sums.end();
  account.result = std::move(result);
  account.gsi = sums.gsi;
  account.all_causes = sums.all_causes;
  account.flush_cycles = sums.flush_cycles;
  for (const auto& [number, place] : sums.places) {
    account.warps.push_back({number, sums.warps[place]});
  }
  return account;
}

}  // namespace clprobe::simulator
