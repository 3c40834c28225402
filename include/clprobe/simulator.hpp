// SPDX-License-Identifier: Apache-2.0
// Runs a trace on a machine, cycle by cycle in effect: cycles in which nothing can change are
// skipped. Pure and deterministic: machine, trace and seed decide the result on every platform.
//
// Not simulated: instruction fetch, register banks, the way back from the caches as a bottleneck,
// and the network between the units and the second level. A latency is drawn from a range by unit
// and place, each unit has a port, and a bank of the second level takes one request a cycle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"

namespace clprobe::simulator {

/// The source of a load's value. `l1_coalescing`: the load missed, and the answer to another
/// request for the same line served it.
enum class Level : std::uint8_t { l1, l1_coalescing, l2, remote_l1, memory };
inline constexpr std::size_t level_count = 5;

/// The causes that keep a warp's next instruction from issuing: a set of bits. Sources: Alsop, GSI,
/// 2016, sections 4.1 to 4.4; `serial_requests` is ours, a load/store unit that is busy with an
/// instruction of several lines or with its interval, and conflicts with nothing.
using Causes = std::uint32_t;
namespace cause {
inline constexpr Causes idle{1U << 0U};    ///< this context has no warp, or its warp has ended
inline constexpr Causes branch{1U << 1U};  ///< the instruction behind one is not there yet
inline constexpr Causes barrier{1U << 2U};
inline constexpr Causes acquire{1U << 3U};
inline constexpr Causes release{1U << 4U};
inline constexpr Causes copy_wait{1U << 5U};
inline constexpr Causes memory_data{1U << 6U};
inline constexpr Causes full_mshr{1U << 7U};  ///< or a full pool or pending-request table
inline constexpr Causes full_store_buffer{1U << 8U};
inline constexpr Causes bank_conflict{1U << 9U};
inline constexpr Causes serial_requests{1U << 10U};
inline constexpr Causes pending_release{1U << 11U};
inline constexpr Causes pending_copy{1U << 12U};
inline constexpr Causes arithmetic_result{1U << 13U};
inline constexpr Causes special_result{1U << 14U};
inline constexpr Causes busy_arithmetic{1U << 15U};
inline constexpr Causes busy_special{1U << 16U};
inline constexpr Causes warp_start{1U << 17U};  ///< its first instruction is not there yet
inline constexpr Causes end{1U << 18U};         ///< one past the last

/// GSI's categories. Of `compute_data` an instruction has one at most: the result that comes last.
inline constexpr Causes control = branch | warp_start;
inline constexpr Causes compute_data = arithmetic_result | special_result;
inline constexpr Causes compute_structural = busy_arithmetic | busy_special;
inline constexpr Causes synchronization = barrier | acquire | release | copy_wait;
inline constexpr Causes memory_structural = full_mshr | full_store_buffer | bank_conflict |
                                            serial_requests | pending_release | pending_copy;
}  // namespace cause

/// One warp context in one cycle.
struct WarpState {
  /// All that keeps it from issuing. One that issued, or could have with more issue slots, has
  /// none.
  Causes causes{0};
  bool has_issued{false};
  /// With memory_data: the load that its instruction waits for, the last to come of several.
  std::uint64_t load{0};
  std::uint32_t number{0};  ///< the warp's number in the trace
  std::uint32_t program{0};
  std::uint32_t instruction{0};  ///< the next one in its program
};

/// Some cycles in which the same holds: more than one only where nothing was issued.
struct CycleState {
  std::uint64_t first{0};
  std::uint64_t cycles{1};
  std::uint32_t issued{0};
  bool is_last_flush{false};           ///< all warps have ended, stores are still on their way
  std::span<const WarpState> warps{};  ///< all contexts that had a warp so far
};

/// Is told about every cycle, in order and without gaps. Costs nothing where it is not given.
struct Observer {
  std::function<void(const CycleState&)> cycles{};
  /// Once for each load, when it is known from where its last value comes; always before the load's
  /// result is ready, but often after cycles that waited for it.
  std::function<void(std::uint64_t load, Level)> served{};
};

struct ClockRead {
  std::uint32_t warp{0};
  std::uint32_t id{0};
  std::uint64_t cycle{0};

  friend bool operator==(const ClockRead&, const ClockRead&) = default;
};

struct Result {
  std::uint64_t cycles{0};             ///< until the last store has arrived, of all units
  std::uint64_t flush_cycles{0};       ///< cycles after the last warp has ended
  std::uint64_t warp_instructions{0};  ///< issued; a lock tried again counts again
  std::uint64_t full_table_cycles{0};  ///< cycles of waiting for an entry
  std::uint64_t max_pending{0};        ///< entries of the table that were in use at once
  std::array<std::uint64_t, level_count> served_by{};  ///< requests of loads, by level
  std::uint64_t lines_written{0};                      ///< lines that left the store buffer
  std::vector<ClockRead> clock_reads{};                ///< in the order of issue

  friend bool operator==(const Result&, const Result&) = default;
};

struct Options {
  std::uint64_t seed{1};  ///< places lines within the ranges of the latencies
  bool skips_idle{true};  ///< false: every cycle one by one, for the tests
  std::uint64_t max_cycles{std::uint64_t{1} << 40U};
  /// Returns true to give up; called some times a second. Empty: never.
  std::function<bool()> cancelled{};
};

/// The trace can make no progress (a barrier that not all reach, a lock never released), or passed
/// `max_cycles`.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MachineError and TraceError for what cannot be simulated, Deadlock, and Cancelled.
Result simulate(const Machine& machine, const Trace& trace, const Options& options = {},
                const Observer* observer = nullptr);

/// Simulates several compute units (at least one) in one clock. They share the second level, of
/// which each line's bank takes one request a cycle, and the locks; a line that one unit owns comes
/// to others from it. Bandwidths are those that each unit gets. The trace's groups go to units in
/// turn while there is room, then to whichever has room first. A unit that finds the others empty
/// does what it does alone. `observers`: one per unit, each may be null, or none at all.
///
/// The results are by unit, and have the cycles of the whole in common. A unit without warps is
/// told as idle until the last warp of any unit ends.
std::vector<Result> simulate_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                                   const Options& options = {},
                                   std::span<const Observer* const> observers = {});

/// The results of units together: what is counted of all of them, clock reads in the order of time.
Result sum_of(std::vector<Result> units);

}  // namespace clprobe::simulator
