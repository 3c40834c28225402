// SPDX-License-Identifier: Apache-2.0
// What the accountant of stalls keeps. What several warps wait for is busy for one reason at a
// time, and for another one with nearly every request of a load: what warps get is kept apart by
// that, so that none of them has to be looked at when it changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/stalls.hpp"

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

}  // namespace clprobe::simulator
