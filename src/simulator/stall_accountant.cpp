// SPDX-License-Identifier: Apache-2.0
// Adds up where the cycles of a simulation go. A warp is looked at when its state changes: what it
// had from cycles in which it stayed as it was is the difference of sums that all warps share.
// Those are kept apart by what keeps busy what the warp needs, which changes with nearly every
// request of a load.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/stalls.hpp"
#include "simulator/stall_windows.hpp"

namespace clprobe::simulator {
/// What a set of causes is, its type by Algorithm 1 and the part of it, and what it has got.
struct StallKind {
  Causes causes{0};
  double causes_count{0.0};
  Stall stall{Stall::none};
  std::optional<std::size_t> part{};
  double blamed{0.0};
  double open_slots{0.0};
  double blamed_before{0.0};  ///< the window that is open
};

/// What waited for one load, in each view.
struct LoadWaits {
  double gsi{0.0};
  double all_causes{0.0};
  double warp{0.0};
  std::uint32_t number{0};
  Level level{Level::l1};
  bool is_served{false};
};

/// What one warp gets from some cycles if it is there in all of them.
struct StallShares {
  std::uint64_t there{0};                    ///< all cycles
  double open_slots{0.0};                    ///< if something blocks it
  std::array<double, stall_count> blamed{};  ///< if that is of this type
};

/// The cycles in which a facility was busy for the same reason, and the warps that need it.
struct StallPhase {
  Causes busy{0};
  StallShares shares{};
  std::uint64_t blocked{0};                             ///< warps, while it lasts
  std::array<std::uint64_t, stall_count> blocked_by{};  ///< of these, by type
  StallSet found{0};                                    ///< the types of these

  void count(Stall stall, std::int64_t warps) {
    const auto type = static_cast<std::size_t>(stall);
    blocked += static_cast<std::uint64_t>(warps);
    blocked_by[type] += static_cast<std::uint64_t>(warps);
    const StallSet bit = bit_of(stall);
    found = static_cast<StallSet>(blocked_by[type] > 0 ? found | bit : found & ~bit);
  }
};

/// What a warp is in a phase of what it needs, and the shares when it came.
struct StallStay {
  Causes causes{0};
  Stall stall{Stall::none};
  std::size_t kind{0};  ///< in `kinds`
  std::uint64_t there{0};
  double open_slots{0.0};
  double blamed{0.0};
};

/// A context, and what its warp does.
struct StallSeat {
  Causes own{cause::idle};
  Facility needs{Facility::none};
  std::uint32_t number{0};
  std::optional<std::size_t> warp{};  ///< in `warps`
  std::uint64_t load{0};
  std::vector<StallStay> stays{};  ///< by phase
  /// Cycles of this warp by kind, those that have passed; in `warps` when another one comes.
  std::vector<std::uint64_t> cycles{};
};

/// A facility; who needs none is in the same phase all along.
struct StallUse {
  std::size_t warps{0};  ///< that need it
  std::size_t now{0};    ///< in `phases`
  std::vector<StallPhase> phases{1};
};

/// Cycles in which nothing was issued and no warp changed, and what was busy.
struct StallWait {
  Busy busy{};
  std::uint64_t cycles{0};
};

/// Cycles, and the phases in which any warp is then.
struct StallPiece {
  double cycles{0.0};
  std::uint64_t issued{0};
  std::uint64_t blocked{0};  ///< warps
  StallSet found{0};         ///< the types of these
  std::span<StallPhase* const> phases{};
};

namespace {

template <typename Kind, std::size_t size>
void add(std::array<double, size>& sums, Kind kind, double cycles) {
  sums[static_cast<std::size_t>(kind)] += cycles;
}

}  // namespace

struct StallAccountant::Sums {
  Breakdown gsi{};
  Breakdown all_causes{};
  std::map<std::uint32_t, std::size_t> places{};  // in `warps`, by number
  std::vector<Breakdown> warps{};
  std::vector<StallSeat> seats{};  // by context
  std::vector<LoadWaits> loads{};  // by the load's number
  std::array<StallUse, facility_count> uses{};
  std::uint32_t in_use{0};         // of these, those that any warp needs, a bit each
  std::vector<StallWait> waits{};  // that nobody has got yet
  std::uint64_t flush_cycles{0};
  std::uint64_t issue_width{1};
  Priorities priorities{};
  std::vector<StallKind> kinds{};
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

  LoadWaits& waited_for(std::uint64_t load) {
    if (loads.size() <= load) loads.resize(std::max<std::size_t>(load + 1, 2 * loads.size()));
    return loads[load];
  }
  std::size_t warp_of(std::uint32_t number) {
    const auto [place, is_new] = places.try_emplace(number, warps.size());
    if (is_new) warps.emplace_back();
    return place->second;
  }
  /// Adds to a type and to its part. The parts of memory data stalls are added at the end, when it
  /// is known where the loads got their values.
  static void add_with_part(Breakdown& to, const StallKind& kind, double cycles) {
    add(to.cycles, kind.stall, cycles);
    if (kind.part) to.parts(kind.stall)[*kind.part] += cycles;
  }
  StallUse& use_of(Facility facility) { return uses[place_of(facility)]; }
  void see(const CycleState& state);
  void begin_phase(std::size_t facility, Causes busy);
  void see_flush(std::uint64_t all);
  void put_aside(const Busy& busy, std::uint64_t cycles);
  /// Gives warps what was put aside, before any of them changes.
  void share_out();
  /// Gives them cycles of one window.
  void share(const Busy& busy, std::uint64_t cycles, std::uint32_t issued);
  /// Of the timeline's windows.
  void pass(std::uint64_t cycles);
  /// GSI's view of the window that is open, and the next one begins.
  Breakdown take_window();
  [[nodiscard]] std::optional<Level> level_of(std::uint64_t load) const {
    return loads[load].is_served ? std::optional(loads[load].level) : std::nullopt;
  }
  Timeline end_timeline();
  void enter(StallSeat& seat, const WarpState& warp);
  void leave(StallSeat& seat);
  void begin(StallStay& stay, StallPhase& phase, Causes own);
  /// Counts what the seat has got so far, and goes on.
  void settle(StallSeat& seat);
  void settle(StallSeat& seat, StallStay& stay, const StallPhase& phase);
  void see_slots(const StallPiece& piece);
  void see_stall(const StallPiece& piece);
  /// Adds to its warp what the seat has counted.
  void end_warp(StallSeat& seat);
  void share_all_causes(const StallKind& kind);
  /// What is left to add when nothing more is seen.
  void end();
};

void StallAccountant::Sums::see(const CycleState& state) {
  if (state.is_last_flush) {
    see_flush(state.cycles);
    return;
  }
  if (!state.changed.empty()) {
    share_out();
    if (seats.size() < state.warps.size()) seats.resize(state.warps.size());
    for (const std::uint32_t context : state.changed) {
      leave(seats[context]);
      enter(seats[context], state.warps[context]);
    }
  }
  for (std::uint64_t left = state.cycles; left > 0;) {
    const std::uint64_t cycles = std::min(left, windows.cycles_left());
    if (state.issued == 0 && state.changed.empty()) {
      put_aside(state.busy, cycles);
    } else {
      share(state.busy, cycles, state.issued);
    }
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

void StallAccountant::Sums::put_aside(const Busy& busy, std::uint64_t cycles) {
  const auto found = std::find_if(waits.begin(), waits.end(),
                                  [&](const StallWait& each) { return each.busy == busy; });
  if (found != waits.end()) {
    found->cycles += cycles;
  } else {
    waits.push_back({.busy = busy, .cycles = cycles});
  }
}

void StallAccountant::Sums::share_out() {
  for (const StallWait& each : waits) share(each.busy, each.cycles, 0);
  waits.clear();
}

void StallAccountant::Sums::share(const Busy& busy, std::uint64_t cycles, std::uint32_t issued) {
  StallPiece piece{.cycles = static_cast<double>(cycles), .issued = issued};
  std::array<StallPhase*, facility_count> phases{};
  std::size_t count = 0;
  for (std::uint32_t left = in_use; left != 0; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    StallUse& each = uses[place];
    if (each.phases[each.now].busy != busy[place]) begin_phase(place, busy[place]);
    StallPhase& phase = each.phases[each.now];
    phase.shares.there += cycles;
    piece.blocked += phase.blocked;
    piece.found = static_cast<StallSet>(piece.found | phase.found);
    phases[count++] = &phase;
  }
  piece.phases = std::span(phases).first(count);
  see_slots(piece);
  if (issued > 0) {
    add(gsi.cycles, Stall::none, piece.cycles);
  } else {
    see_stall(piece);
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
  share_out();
  for (StallSeat& each : seats) settle(each);
  Breakdown window;
  add(window, gsi, 1.0);
  add(window, gsi_before, -1.0);
  gsi_before = gsi;
  for (StallKind& each : kinds) {
    const double blamed = each.blamed - each.blamed_before;
    if (blamed != 0.0) add_with_part(window, each, blamed);
    each.blamed_before = each.blamed;
  }
  return window;
}

std::uint32_t StallAccountant::Sums::search_kind(Causes causes) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [causes](const StallKind& each) {
    return each.causes == causes;
  });
  const auto place = static_cast<std::uint32_t>(found - kinds.begin());
  if (found == kinds.end()) {
    const Stall stall = classify_instruction(conditions_of(causes), priorities);
    kinds.push_back({.causes = causes,
                     .causes_count = static_cast<double>(std::popcount(causes)),
                     .stall = stall,
                     .part = part_of(stall, causes)});
  }
  return place;
}

void StallAccountant::Sums::begin_phase(std::size_t facility, Causes busy) {
  StallUse& use = uses[facility];
  const auto found = std::find_if(use.phases.begin(), use.phases.end(),
                                  [busy](const StallPhase& each) { return each.busy == busy; });
  use.now = static_cast<std::size_t>(found - use.phases.begin());
  if (found != use.phases.end()) return;
  use.phases.push_back({.busy = busy});
  for (StallSeat& each : seats) {
    if (place_of(each.needs) != facility || each.own == cause::idle) continue;
    each.stays.resize(use.phases.size());
    begin(each.stays.back(), use.phases.back(), each.own);
  }
}

void StallAccountant::Sums::enter(StallSeat& seat, const WarpState& warp) {
  seat.own = warp.causes;
  if (warp.causes == cause::idle) return;
  if (seat.number != warp.number || !seat.warp) {
    end_warp(seat);
    seat.number = warp.number;
    seat.warp = warp_of(warp.number);
  }
  seat.needs = warp.needs;
  seat.load = warp.load;
  StallUse& use = use_of(seat.needs);
  if (use.warps++ == 0) in_use |= 1U << place_of(seat.needs);
  std::vector<StallPhase>& phases = use.phases;
  if (seat.stays.size() < phases.size()) seat.stays.resize(phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) begin(seat.stays[i], phases[i], seat.own);
}

/// One without a cause has issued or is about to end, which is as good as not being there.
[[gnu::always_inline]] inline void StallAccountant::Sums::begin(StallStay& stay, StallPhase& phase,
                                                                Causes own) {
  stay.causes = own | phase.busy;
  stay.kind = kind_of(stay.causes);
  stay.there = phase.shares.there;
  if (stay.causes == 0) return;
  stay.stall = kinds[stay.kind].stall;
  stay.open_slots = phase.shares.open_slots;
  stay.blamed = phase.shares.blamed[static_cast<std::size_t>(stay.stall)];
  phase.count(stay.stall, 1);
}

void StallAccountant::Sums::leave(StallSeat& seat) {
  if (seat.own == cause::idle) return;
  StallUse& use = use_of(seat.needs);
  if (--use.warps == 0) in_use &= ~(1U << place_of(seat.needs));
  std::vector<StallPhase>& phases = use.phases;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    StallStay& stay = seat.stays[i];
    if (stay.there != phases[i].shares.there) settle(seat, stay, phases[i]);
    if (stay.causes != 0) phases[i].count(stay.stall, -1);
  }
}

void StallAccountant::Sums::settle(StallSeat& seat) {
  if (seat.own == cause::idle) return;
  const std::vector<StallPhase>& phases = use_of(seat.needs).phases;
  for (std::size_t i = 0; i < phases.size(); ++i) settle(seat, seat.stays[i], phases[i]);
}

[[gnu::always_inline]] inline void StallAccountant::Sums::settle(StallSeat& seat, StallStay& stay,
                                                                 const StallPhase& phase) {
  const std::uint64_t there = phase.shares.there - std::exchange(stay.there, phase.shares.there);
  if (seat.cycles.size() <= stay.kind) seat.cycles.resize(kinds.size());
  seat.cycles[stay.kind] += there;
  if (stay.causes == 0) return;
  const double all_blamed = phase.shares.blamed[static_cast<std::size_t>(stay.stall)];
  const double blamed = all_blamed - std::exchange(stay.blamed, all_blamed);
  const double open_slots =
      phase.shares.open_slots - std::exchange(stay.open_slots, phase.shares.open_slots);
  StallKind& kind = kinds[stay.kind];
  kind.blamed += blamed;
  kind.open_slots += open_slots;
  if ((stay.causes & cause::memory_data) == 0) return;
  LoadWaits& waited = waited_for(seat.load);
  waited.all_causes += open_slots / kind.causes_count;
  if (stay.stall != Stall::memory_data) return;
  waited.gsi += blamed;
  waited.warp += static_cast<double>(there);
  waited.number = seat.number;
  windows.wait(seat.load, blamed);
}

void StallAccountant::Sums::end_warp(StallSeat& seat) {
  for (std::size_t place = 0; place < seat.cycles.size(); ++place) {
    if (seat.cycles[place] == 0) continue;
    add_with_part(warps[*seat.warp], kinds[place], static_cast<double>(seat.cycles[place]));
  }
  seat.cycles.clear();
}

/// As many slots as could have issued: those of the machine, or of the warps that are there.
[[gnu::always_inline]] inline void StallAccountant::Sums::see_slots(const StallPiece& piece) {
  const std::uint64_t slots = std::min(issue_width, piece.issued + piece.blocked);
  if (slots == 0) {
    add(all_causes.cycles, Stall::idle, piece.cycles);
    return;
  }
  const double filled = static_cast<double>(piece.issued) / static_cast<double>(slots);
  add(all_causes.cycles, Stall::none, piece.cycles * filled);
  if (piece.issued == slots) return;
  const double share = piece.cycles * (1.0 - filled) / static_cast<double>(piece.blocked);
  for (StallPhase* const each : piece.phases) each->shares.open_slots += share;
}

[[gnu::always_inline]] inline void StallAccountant::Sums::see_stall(const StallPiece& piece) {
  const Stall stall = classify_cycle(piece.found, priorities);
  if (piece.found == 0) {
    add(gsi.cycles, stall, piece.cycles);
    return;
  }
  const auto type = static_cast<std::size_t>(stall);
  std::uint64_t blocked = 0;
  for (const StallPhase* const each : piece.phases) blocked += each->blocked_by[type];
  const double share = piece.cycles / static_cast<double>(blocked);
  for (StallPhase* const each : piece.phases) each->shares.blamed[type] += share;
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

void StallAccountant::Sums::end() {
  share_out();
  for (StallSeat& each : seats) {
    leave(each);
    end_warp(each);
  }
  for (const StallKind& each : kinds) {
    if (each.blamed > 0.0) add_with_part(gsi, each, each.blamed);
    if (each.open_slots > 0.0) share_all_causes(each);
  }
  for (const LoadWaits& each : loads) {
    add(gsi.memory_data, each.level, each.gsi);
    add(all_causes.memory_data, each.level, each.all_causes);
    if (each.warp > 0.0) {
      add(warps[warp_of(each.number)].memory_data, each.level, each.warp);
    }
  }
}

StallAccountant::StallAccountant(const Machine& machine, const Accounting& accounting)
    : sums_(std::make_unique<Sums>(machine.core.issue_width, accounting)) {
  observer_.cycles = [sums = sums_.get()](const CycleState& state) { sums->see(state); };
  observer_.served = [sums = sums_.get()](std::uint64_t load, Level level) {
    LoadWaits& waited = sums->waited_for(load);
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
