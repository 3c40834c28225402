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
#include <initializer_list>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/api/machine.hpp"

namespace clprobe::simulator {

// Work for a simulated compute unit: streams of warp instructions, in loops, so that a chase of a
// hundred thousand hops is a few lines and one table.

/// A register of a warp, 0 to 63.
using Register = std::uint8_t;
inline constexpr Register register_count = 64;

/// The addresses of the lanes' accesses. The address of a lane is
///   base + lane / lane_group * lane_step + warp / warp_group * warp_step + turn * turn_step
///        + table[(lane * table_lane + warp * table_warp + turn * table_turn) mod its length],
/// `turn` being how often this warp has executed this instruction before, and `warp` the number
/// that its group gives it. Divisions are those of integers; the table counts where there is one.
/// Groups of lanes or warps share an address (mergers within and across sub-groups).
struct Lanes {
  static constexpr std::uint32_t no_table = ~std::uint32_t{0};

  std::uint64_t base{0};
  std::int64_t lane_step{0};
  std::int64_t warp_step{0};
  std::int64_t turn_step{0};
  std::uint32_t lane_group{1};
  std::uint32_t warp_group{1};
  std::uint32_t active{0};  ///< the first so many lanes; 0: all that the warp has
  std::uint32_t bytes{4};   ///< size of one lane's access
  std::uint32_t table{no_table};
  std::uint32_t table_lane{0};
  std::uint32_t table_warp{0};
  std::uint32_t table_turn{0};
};

enum class Operation : std::uint8_t {
  alu,
  special,
  load,    ///< from global memory
  store,   ///< to global memory, through the store buffer
  atomic,  ///< relaxed, at the second level, one a line
  local_load,
  local_store,
  barrier,    ///< for the work-group; orders no memory by itself
  acquire,    ///< takes lock `id`, trying again until it is free
  release,    ///< flushes the stores, then frees lock `id`
  copy_in,    ///< starts copy `id` of `count` bytes from lane 0's address to local memory
  copy_out,   ///< the other way
  copy_wait,  ///< until all copies `id` that the group has started are complete
  branch,     ///< after which the warp's next instruction is late
  clock,      ///< records the cycle in which it issues, under `id`
  repeat,     ///< goes back to instruction `target`, until the body ran `count` times; free
};

struct Instruction {
  Operation operation{Operation::alu};
  /// Loads and stores: another compute unit wrote this line since this one last had it.
  bool is_written_elsewhere{false};
  bool skips_l1{false};  ///< loads only
  /// Loads and stores: the line is mapped to local memory (a stash), which has it from the first
  /// access on, until the end of the launch. It goes past the first-level cache.
  bool is_mapped{false};
  std::uint64_t reads{0};   ///< bit r: register r
  std::uint64_t writes{0};  ///< at most one bit
  Lanes lanes{};
  std::uint32_t id{0};  ///< lock, copy or clock read; local accesses: the copy they need, 0 is none
  std::uint64_t count{0};
  std::uint32_t target{0};
};

/// Makers of instructions. Each executes when all registers of `reads` and its result are ready.
using Registers = std::initializer_list<Register>;
Instruction alu(Register result, Registers reads = {});
Instruction special(Register result, Registers reads = {});
Instruction load(Register result, const Lanes& lanes, Registers reads = {});
Instruction store(const Lanes& lanes, Registers reads = {});
Instruction atomic(Register result, const Lanes& lanes, Registers reads = {});
Instruction local_load(Register result, const Lanes& lanes, Registers reads = {});
Instruction local_store(const Lanes& lanes, Registers reads = {});
Instruction barrier(Registers reads = {});
Instruction acquire(std::uint32_t lock);
Instruction release(std::uint32_t lock);
Instruction copy_in(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes);
Instruction copy_out(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes);
Instruction copy_wait(std::uint32_t copy);
Instruction branch(Registers reads = {});
Instruction read_clock(std::uint32_t id, Registers reads = {});
/// Runs the instructions from `target` to here `times` times in all.
Instruction repeat(std::uint32_t target, std::uint64_t times);

using Program = std::vector<Instruction>;

struct WarpWork {
  std::uint32_t program{0};  ///< index into the trace's programs
  std::uint32_t lanes{32};   ///< work-items in it
  std::uint32_t number{0};   ///< `warp` in the addresses and in clock reads
};

/// One work-group.
struct Group {
  std::vector<WarpWork> warps{};
  std::uint64_t local_bytes{0};  ///< local memory that it holds while it runs
};

/// Memory that a cache holds before the first cycle, as if touched in this order: the bytes from
/// `base` on, or, with a table, its entries from `first` on, `count` of them, each one access.
struct Resident {
  enum class Home { l1, l2 };
  Home home{Home::l2};
  std::uint64_t base{0};
  std::uint64_t bytes{0};
  std::uint32_t table{Lanes::no_table};
  std::uint64_t first{0};
  std::uint64_t count{0};
};

/// A lock. Compute units that want it and are not simulated hold it for so long after each release.
struct Lock {
  std::uint64_t address{0};
  Latency held_elsewhere{};
  bool is_shared{false};  ///< compute units that are simulated together want it
};

struct Trace {
  std::vector<Program> programs{};
  std::vector<std::vector<std::uint64_t>> tables{};
  std::vector<Group> groups{};
  std::vector<Resident> resident{};
  std::vector<Lock> locks{};
  /// May be empty. Asked when a warp has issued the last instruction of its program: the program to
  /// go on with, or one past the last index to end the warp. For work that is shared out while
  /// running (a queue behind a lock). Must depend on nothing but its arguments and earlier calls.
  std::function<std::uint32_t(std::uint32_t warp_number, std::uint64_t cycle)> next_program{};
};

/// A trace that the machine cannot run: "programs[0][3]: lock 2 of 1".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws TraceError at the first thing that does not fit: registers, tables, locks, loops, a group
/// larger than the machine takes.
void check(const Trace& trace, const Machine& machine);

/// A work-group of so many work-items that all run `program`; its warps are numbered from
/// `first_number`.
Group make_group(const Machine& machine, std::uint64_t work_items, std::uint32_t program = 0,
                 std::uint32_t first_number = 0);

// A trace as text, a line per instruction: for kernels that come from outside. The format, with its
// grammar and limits, is docs/trace.md.

/// The owner of the groups of a file: one compute unit, which runs them all, or a whole launch, of
/// which each unit of a machine runs its share.
enum class GroupsOf { unit, launch };

struct TraceFile {
  std::string kernel{"kernel"};  ///< what it is called in reports: see is_kernel_name()
  GroupsOf groups_of{GroupsOf::unit};
  Trace trace{};
};

/// One line: "line 12: expected a register, r0 to r63, found 'x1'".
class TraceFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Letters, digits and some marks, in ASCII, up to 64 of them.
bool is_kernel_name(std::string_view name);

/// Strict: throws TraceFileError at the first line that is not of the format, or passes a limit
/// that keeps reading and simulating it within the memory and the patience of a person.
TraceFile read_trace_file(std::string_view text);

/// Number of compute units of the machine that run the file: one, or all.
std::uint64_t max_units_of(const TraceFile& file, const Machine& machine);

/// The share of the first `units` compute units of the machine, with the programs that they need.
/// More units than the machine has are a machine with so many. Several units want the same locks,
/// which nobody else holds where all of the units are there.
Trace share_of_units(const TraceFile& file, const Machine& machine, std::uint64_t units);

/// The text of a trace piece by piece, for programs that have no trace as a whole. Throws
/// TraceError for what has no text, such as loops that overlap.
std::string header_text(std::string_view kernel, GroupsOf groups_of);
/// `numbers`: in the text, by table, of those that are not lists with an entry for each active
/// lane.
std::string program_text(const Program& program, std::size_t number,
                         const std::vector<std::vector<std::uint64_t>>& tables,
                         const std::vector<std::uint32_t>& numbers = {});
std::string group_text(const Group& group);

}  // namespace clprobe::simulator

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

namespace clprobe::simulator {

// The causes of a simulated kernel's cycles: GSI's one cause per cycle, and in a second view all
// causes at once. Source: Alsop, GSI: A GPU stall inspector, 2016, sections 4.1 to 4.4.

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
