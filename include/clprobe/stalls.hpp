// SPDX-License-Identifier: Apache-2.0
// The causes of a simulated kernel's cycles: GSI's one cause per cycle, and in a second view all
// causes at once. Source: Alsop, GSI: A GPU stall inspector, 2016, sections 4.1 to 4.4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"

namespace clprobe::simulator {

/// GSI's stall types, in the order of its Algorithm 1, the strongest first.
enum class Stall : std::uint8_t {
  idle,
  control,
  synchronization,
  memory_data,
  memory_structural,
  compute_data,
  compute_structural,
  none,  ///< an instruction was able to issue
};
inline constexpr std::size_t stall_count = 8;
std::string_view to_word(Stall stall);

/// A sub-class of a stall type, or all of a type that has none.
struct StallPart {
  Stall stall{};
  std::string_view word{};  ///< "full MSHR"; empty for what is in no sub-class
  Causes cause{0};          ///< the first part of a type whose cause holds is chosen
};

/// All sub-classes by type, in the order in which they are tested: a copy engine that waits for an
/// MSHR is a full MSHR and no pending copy. Those of memory data are in the order of `Level`: the
/// load that was waited for decides. GSI sub-classifies memory stalls alone and names control and
/// compute stalls as future work (Alsop, chapter 7); the sub-classes of these and of
/// synchronization, and serial requests, are ours. The parts of control and compute stalls without
/// a word are those of documents from before there were sub-classes.
inline constexpr std::array stall_parts{
    StallPart{Stall::idle, "", cause::idle},
    StallPart{Stall::control, "branch", cause::branch},
    StallPart{Stall::control, "start of a sub-group", cause::warp_start},
    StallPart{Stall::control, "", 0},
    StallPart{Stall::synchronization, "barrier", cause::barrier},
    StallPart{Stall::synchronization, "acquire", cause::acquire},
    StallPart{Stall::synchronization, "release", cause::release},
    StallPart{Stall::synchronization, "copy wait", cause::copy_wait},
    StallPart{Stall::memory_data, "L1", cause::memory_data},
    StallPart{Stall::memory_data, "L1 coalescing", cause::memory_data},
    StallPart{Stall::memory_data, "L2", cause::memory_data},
    StallPart{Stall::memory_data, "remote L1", cause::memory_data},
    StallPart{Stall::memory_data, "main memory", cause::memory_data},
    StallPart{Stall::memory_structural, "full MSHR", cause::full_mshr},
    StallPart{Stall::memory_structural, "full store buffer", cause::full_store_buffer},
    StallPart{Stall::memory_structural, "bank conflict", cause::bank_conflict},
    StallPart{Stall::memory_structural, "serial requests", cause::serial_requests},
    StallPart{Stall::memory_structural, "pending release", cause::pending_release},
    StallPart{Stall::memory_structural, "pending DMA", cause::pending_copy},
    StallPart{Stall::compute_data, "arithmetic result", cause::arithmetic_result},
    StallPart{Stall::compute_data, "special-function result", cause::special_result},
    StallPart{Stall::compute_data, "", 0},
    StallPart{Stall::compute_structural, "busy arithmetic units", cause::busy_arithmetic},
    StallPart{Stall::compute_structural, "busy special-function units", cause::busy_special},
    StallPart{Stall::compute_structural, "", 0},
    StallPart{Stall::none, "", 0},
};

/// "memory data: L2"; the type's word alone where it has no sub-classes.
std::string label_of(const StallPart& part);

/// Several stall types: bit n stands for the n-th of `Stall`.
using StallSet = std::uint8_t;
constexpr StallSet bit_of(Stall stall) {
  return static_cast<StallSet>(1U << static_cast<unsigned>(stall));
}

/// The order of types: where several hold, the first wins. "No stall" is in neither: it is
/// an instruction for which none holds, and it wins every cycle (Alsop, section 4.2: the priorities
/// may be tailored to what a profile is for). The defaults are the thesis's.
struct Priorities {
  static constexpr std::size_t count = stall_count - 1;

  /// Algorithm 1: the types of one instruction, the strongest first.
  std::array<Stall, count> instruction{Stall::idle,
                                       Stall::control,
                                       Stall::synchronization,
                                       Stall::memory_data,
                                       Stall::memory_structural,
                                       Stall::compute_data,
                                       Stall::compute_structural};
  /// Algorithm 2: the types of a cycle's instructions, the weakest first. No inversion of
  /// Algorithm 1: memory and synchronization come before computing in both.
  std::array<Stall, count> cycle{Stall::memory_structural,
                                 Stall::memory_data,
                                 Stall::synchronization,
                                 Stall::compute_structural,
                                 Stall::compute_data,
                                 Stall::control,
                                 Stall::idle};
};

/// The conditions of Algorithm 1 that hold for an instruction with these causes.
StallSet conditions_of(Causes causes);
/// Algorithm 1: the first of the conditions that hold; `none` when none does.
Stall classify_instruction(StallSet conditions, const Priorities& priorities = {});
/// Algorithm 2: the first of the types that the instructions of a cycle were given. Without any
/// instruction there is no active warp, which is idle.
Stall classify_cycle(StallSet found, const Priorities& priorities = {});
/// The place in `stall_parts` of the first part of this type whose cause holds: with memory data
/// that of L1, to which the load's level is added.
std::size_t part_of(Stall stall, Causes causes);

/// Cycles by the place in `stall_parts`.
struct Breakdown {
  std::array<double, stall_parts.size()> cycles{};

  [[nodiscard]] double of(Stall stall) const;
  [[nodiscard]] double of(Level level) const;
  /// The parts with any of these causes: "of(cause::compute_data)".
  [[nodiscard]] double of(Causes causes) const;
  [[nodiscard]] double total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }
};

struct StallAccount {
  Result result{};
  /// Algorithms 1 and 2. Their authors do not say to which sub-class a cycle belongs in which
  /// several instructions have the cycle's type for different reasons: here these share it equally.
  Breakdown gsi{};
  /// All causes at once, in the manner of GCStack (IEEE CAL 23(2), 2024). A cycle has as many slots
  /// as could issue, those of the machine or the warps that are there. Filled ones are no stall;
  /// the others are shared equally by the warps that something blocks, and a warp's part by all
  /// that blocks it. On a machine that issues one instruction a cycle, cycles with an instruction
  /// are no stall, as in GSI's view.
  Breakdown all_causes{};
};

/// Adds up what an `Observer` sees.
class StallAccountant {
 public:
  explicit StallAccountant(const Machine& machine, const Priorities& priorities = {})
      : issue_width_(machine.core.issue_width), priorities_(priorities) {}

  void see(const CycleState& state);
  void serve(std::uint64_t load, Level level) { waits_for(load).level = level; }
  /// Calls `see` and `serve`; valid as long as this object, which must stay where it is.
  [[nodiscard]] Observer observer();
  /// The account of the cycles seen so far, with the result of the simulation.
  [[nodiscard]] StallAccount account(Result result) const;

 private:
  /// A set of causes: its type and part by Algorithm 1, and the empty slots that it got.
  struct Kind {
    Stall stall{Stall::none};
    std::size_t part{0};
    double causes_count{0.0};
    double slots{0.0};
  };
  /// Cycles that waited for one load, in each view.
  struct LoadWaits {
    double gsi{0.0};
    double all_causes{0.0};
    Level level{Level::l1};
  };
  /// A warp that something blocks.
  struct BlockedWarp {
    Kind* kind{nullptr};
    std::uint64_t load{0};  ///< 0 unless it waits for one
  };

  Kind& kind_of(Causes causes);
  LoadWaits& waits_for(std::uint64_t load);
  void share_slots(double cycles, std::uint64_t issued);
  void share_cycle(double cycles, StallSet found);

  std::uint64_t issue_width_;
  Priorities priorities_;
  Breakdown gsi_{};         // without the waits for loads
  Breakdown all_causes_{};  // without these and without the slots of `kinds_`
  std::map<Causes, Kind> kinds_{};
  std::vector<LoadWaits> loads_{};      // by number
  std::vector<BlockedWarp> blocked_{};  // in the cycles that are being seen
};

/// Simulates and accounts. Throws what `simulate` throws.
StallAccount account_stalls(const Machine& machine, const Trace& trace,
                            const Options& options = {});

/// The accounts of compute units that were simulated together.
struct GridAccount {
  std::vector<StallAccount> units{};  ///< by unit, each over the whole time of the launch
  /// Views of the mean unit; the result is the `sum_of` all units.
  StallAccount mean{};
};

/// Simulates and accounts several compute units, see `simulate_units`.
GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options = {}, const Priorities& priorities = {});

}  // namespace clprobe::simulator
