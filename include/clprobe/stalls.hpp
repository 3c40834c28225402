// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a simulated kernel go: GSI's one cause per cycle, and beside it all causes at
// once. Source: Alsop, GSI: A GPU stall inspector, 2016, sections 4.1 to 4.4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
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

/// Which next instruction is not there yet. GSI sub-classifies memory stalls alone, and names
/// control and compute stalls as what may be to follow (Alsop, chapter 7); these sub-classes are
/// ours.
enum class ControlStall : std::uint8_t { branch, warp_start };
inline constexpr std::size_t control_stall_count = 2;

/// Whose result is waited for; of several that which comes last, as of loads.
enum class ComputeDataStall : std::uint8_t { arithmetic, special };
inline constexpr std::size_t compute_data_stall_count = 2;

/// Which pipelines are taken.
enum class ComputeStructuralStall : std::uint8_t { arithmetic, special };
inline constexpr std::size_t compute_structural_stall_count = 2;

/// What a synchronization stall waits for; GSI does not sub-classify these.
enum class SynchronizationStall : std::uint8_t { barrier, acquire, release, copy_wait };
inline constexpr std::size_t synchronization_stall_count = 4;

/// Memory structural stalls in the order in which they are tested: a copy engine that waits for an
/// MSHR is a full MSHR and no pending copy. `serial_requests` is ours: see `Causes`.
enum class StructuralStall : std::uint8_t {
  full_mshr,
  full_store_buffer,
  bank_conflict,
  serial_requests,
  pending_release,
  pending_copy,
};
inline constexpr std::size_t structural_stall_count = 6;

/// Several stall types: bit n stands for the n-th of `Stall`.
using StallSet = std::uint8_t;
constexpr StallSet bit_of(Stall stall) {
  return static_cast<StallSet>(1U << static_cast<unsigned>(stall));
}

/// Which type wins where several hold: the first in these orders. "No stall" is in neither: it is
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

  friend bool operator==(const Priorities&, const Priorities&) = default;
};

/// The conditions of Algorithm 1 that hold for an instruction with these causes.
StallSet conditions_of(Causes causes);
/// Algorithm 1: the first of the conditions that hold; `none` when none does.
Stall classify_instruction(StallSet conditions, const Priorities& priorities = {});
/// Algorithm 2: the first of the types that the instructions of a cycle were given. Without any
/// instruction there is no active warp, which is idle.
Stall classify_cycle(StallSet found, const Priorities& priorities = {});
/// The sub-class, by its place among those of the type: the first one that holds. Nothing for types
/// without sub-classes, and for memory data, of which the causes do not tell.
std::optional<std::size_t> part_of(Stall stall, Causes causes);
/// A sub-class's word by its place among those of its type: "full MSHR", "main memory".
std::string_view part_word(Stall stall, std::size_t place);

/// Cycles by type, and the parts of those types that have parts.
struct Breakdown {
  std::array<double, stall_count> cycles{};
  /// By where the load that was waited for got its value.
  std::array<double, level_count> memory_data{};
  std::array<double, structural_stall_count> memory_structural{};
  std::array<double, synchronization_stall_count> synchronization{};
  std::array<double, control_stall_count> control{};
  std::array<double, compute_data_stall_count> compute_data{};
  std::array<double, compute_structural_stall_count> compute_structural{};

  /// The sub-classes of a type; none of idle and of no stall.
  [[nodiscard]] std::span<double> parts(Stall stall);
  [[nodiscard]] std::span<const double> parts(Stall stall) const;
  [[nodiscard]] double of(Stall stall) const { return cycles[static_cast<std::size_t>(stall)]; }
  [[nodiscard]] double of(Level level) const {
    return memory_data[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] double of(StructuralStall stall) const {
    return memory_structural[static_cast<std::size_t>(stall)];
  }
  [[nodiscard]] double of(SynchronizationStall stall) const {
    return synchronization[static_cast<std::size_t>(stall)];
  }
  [[nodiscard]] double of(ControlStall stall) const {
    return control[static_cast<std::size_t>(stall)];
  }
  [[nodiscard]] double of(ComputeDataStall stall) const {
    return compute_data[static_cast<std::size_t>(stall)];
  }
  [[nodiscard]] double of(ComputeStructuralStall stall) const {
    return compute_structural[static_cast<std::size_t>(stall)];
  }
  [[nodiscard]] double total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }
};

/// Adds a share of `each` to all that `sum` has.
void add(Breakdown& sum, const Breakdown& each, double share);

/// What one warp of the trace did while it was there, by Algorithm 1; `none` is when it issued or
/// only lacked an issue slot. Warps with the same number are one.
struct WarpStalls {
  std::uint32_t number{0};
  Breakdown cycles{};
};

/// GSI's view over the time: windows of the same length one after the other, of which the last one
/// may be shorter. All together they are the whole, the last flush included.
struct Timeline {
  struct Window {
    Breakdown gsi{};
    std::uint64_t flush_cycles{0};  ///< after the last warp has ended
  };
  std::uint64_t window_cycles{0};
  std::vector<Window> windows{};  ///< none where none was asked for
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
  std::vector<WarpStalls> warps{};  ///< by number
  /// After the last warp has ended, for stores on their way: in no type of either view. The views
  /// each add up to the cycles of the result without these.
  std::uint64_t flush_cycles{0};
  Timeline timeline{};
};

/// What is accounted, and how.
struct Accounting {
  Priorities priorities{};
  /// Of the timeline, an even number; there are at least half as many of a launch of as many
  /// cycles: how long it takes is not known before, and two become one when there are too many. 0:
  /// no timeline.
  std::size_t max_windows{0};
};

/// Adds up what an `Observer` sees. `observer` is valid as long as this object, which stays where
/// it is.
class StallAccountant {
 public:
  explicit StallAccountant(const Machine& machine, const Accounting& accounting = {});
  ~StallAccountant();
  StallAccountant(const StallAccountant&) = delete;
  StallAccountant(StallAccountant&&) = delete;
  StallAccountant& operator=(const StallAccountant&) = delete;
  StallAccountant& operator=(StallAccountant&&) = delete;

  [[nodiscard]] const Observer& observer() const;
  /// What has been seen so far, `result` being that of the simulation.
  [[nodiscard]] StallAccount account(Result result) const;

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
  Observer observer_{};
};

/// Simulates and accounts. Throws what `simulate` throws.
StallAccount account_stalls(const Machine& machine, const Trace& trace,
                            const Options& options = {});

/// What compute units did that were simulated together.
struct GridAccount {
  std::vector<StallAccount> units{};  ///< by unit; each is the whole time of the launch
  /// One unit as the mean of all: its views and timeline, and the warps of all. Of the result, what
  /// is counted is that of all units, and the clock reads are in the order of time.
  StallAccount mean{};
};

/// The same on several compute units, see `simulate_units`.
GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options = {}, const Accounting& accounting = {});

}  // namespace clprobe::simulator
