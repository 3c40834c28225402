// SPDX-License-Identifier: Apache-2.0
// Simulates a trace on a machine. The result equals a simulation cycle by cycle, but cycles without
// changes are skipped. Pure and deterministic: machine, trace and seed determine the result on
// every platform.
//
// Not simulated: instruction fetch, register banks, the bandwidth of answers from the caches, and
// the network between the compute units and the second level. Instead, the latency to a line is
// drawn from a range. Each compute unit has a port, and a bank of the second level accepts one
// request per cycle.
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

// Work for a simulated compute unit: programs of warp instructions with loops. For example, a
// pointer chase of a hundred thousand hops needs a few instructions and one table.

/// A register of a warp, from 0 to 63.
using Register = std::uint8_t;
inline constexpr Register register_count = 64;

/// The addresses of a warp's accesses. The address of a lane is
///   base + lane / lane_group * lane_step + warp / warp_group * warp_step + turn * turn_step
///        + table[(lane * table_lane + warp * table_warp + turn * table_turn) mod its length].
/// `turn` is the number of earlier executions of the instruction since the warp began its program.
/// `warp` is WarpWork::number. Divisions are integer divisions. Without a table, the last term is
/// 0, so that `lane_group` neighbouring lanes, and `warp_group` neighbouring warps, have equal
/// addresses. Requests can then be merged within a warp or between warps.
struct Lanes {
  static constexpr std::uint32_t no_table = ~std::uint32_t{0};

  std::uint64_t base{0};
  std::int64_t lane_step{0};
  std::int64_t warp_step{0};
  std::int64_t turn_step{0};
  std::uint32_t lane_group{1};
  std::uint32_t warp_group{1};
  std::uint32_t active{0};  ///< number of active lanes, from lane 0; 0: all lanes of the warp
  std::uint32_t bytes{4};   ///< size of one lane's access
  std::uint32_t table{no_table};
  std::uint32_t table_lane{0};
  std::uint32_t table_warp{0};
  std::uint32_t table_turn{0};
};

enum class Operation : std::uint8_t {
  alu,
  special,
  load,    ///< loads from global memory
  store,   ///< stores to global memory, through the store buffer
  atomic,  ///< performs relaxed atomics at the second level, one per line
  local_load,
  local_store,
  barrier,    ///< waits for all warps of the group; does not order memory accesses
  acquire,    ///< requests lock `id` until the warp gets the lock
  release,    ///< flushes the stores, then releases lock `id`
  copy_in,    ///< starts copy `id` of `count` bytes from lane 0's address to local memory
  copy_out,   ///< starts copy `id` of `count` bytes from local memory to lane 0's address
  copy_wait,  ///< waits until all copies `id` that the group has started are complete
  branch,     ///< delays the next instruction of the warp
  clock,      ///< records the cycle in which it issues, under `id`
  repeat,     ///< jumps to instruction `target` until the body has run `count` times; takes no time
};

struct Instruction {
  Operation operation{Operation::alu};
  /// Loads and stores: true if another compute unit wrote the line after this unit's last access.
  bool is_written_elsewhere{false};
  bool skips_l1{false};  ///< loads: true if the access bypasses the first level
  /// Loads and stores: true if the line is mapped to local memory (a stash) from the first access
  /// to the end of the launch. The access bypasses the first-level cache.
  bool is_mapped{false};
  std::uint64_t reads{0};   ///< bit r: the instruction reads register r
  std::uint64_t writes{0};  ///< bit r: the instruction writes register r; at most one bit
  Lanes lanes{};
  /// Number of a lock, copy or clock read. For a local access: number of the copy that the access
  /// needs; 0 for no copy.
  std::uint32_t id{0};
  std::uint64_t count{0};  ///< bytes of a copy, runs of a loop, or cycles between lock attempts
  std::uint32_t target{0};
};

// Functions that make instructions. They throw TraceError for registers above 63. An instruction
// can issue once the registers of `reads` and its result register are ready.
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
/// Returns a jump. The instructions from `target` to the jump run `times` times in total.
Instruction repeat(std::uint32_t target, std::uint64_t times);

using Program = std::vector<Instruction>;

struct WarpWork {
  std::uint32_t program{0};  ///< index into the trace's programs
  std::uint32_t lanes{32};   ///< number of work-items
  std::uint32_t number{0};   ///< value of `warp` in addresses, and the warp of clock reads
};

/// A work-group with its warps.
struct Group {
  std::vector<WarpWork> warps{};
  std::uint64_t local_bytes{0};  ///< bytes of local memory that the running group needs
};

/// Memory that a cache contains before the first cycle, as if accessed in the order of the list.
/// Without a table: `bytes` bytes from `base` on. With a table: the lines at `base` plus each of
/// `count` table entries, starting with entry `first`.
struct Resident {
  enum class Home { l1, l2 };
  Home home{Home::l2};
  std::uint64_t base{0};
  std::uint64_t bytes{0};
  std::uint32_t table{Lanes::no_table};
  std::uint64_t first{0};
  std::uint64_t count{0};
};

/// A lock. After each release, compute units outside the simulation hold the lock for
/// `held_elsewhere` cycles.
struct Lock {
  std::uint64_t address{0};
  Latency held_elsewhere{};
  bool is_shared{false};  ///< true if two or more simulated compute units use the lock
};

struct Trace {
  std::vector<Program> programs{};
  std::vector<std::vector<std::uint64_t>> tables{};
  std::vector<Group> groups{};
  std::vector<Resident> resident{};
  std::vector<Lock> locks{};
  /// Called after the last instruction of a warp's program. Returns the warp's next program; an
  /// index past the last program ends the warp. Serves work that is distributed while running, such
  /// as a queue with a lock. The result must depend only on the arguments and on earlier calls. May
  /// be empty.
  std::function<std::uint32_t(std::uint32_t warp_number, std::uint64_t cycle)> next_program{};
};

/// Error of an invalid trace: "groups[0]: expected at most 48 warps, found 64".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws TraceError for the first group that has no warps, names an unknown program, or needs more
/// warps, lanes or local memory than the machine has.
void check(const Trace& trace, const Machine& machine);

/// Returns a work-group with `work_items` work-items that all run `program`. The warp numbers start
/// at `first_number`.
Group make_group(const Machine& machine, std::uint64_t work_items, std::uint32_t program = 0,
                 std::uint32_t first_number = 0);

// Traces as text, for kernels of other programs, with one line per instruction. docs/trace.md
// describes the format, its grammar and its limits.

/// The executor of a file's groups. `unit`: one compute unit runs all groups. `launch`: all compute
/// units of the machine share the groups.
enum class GroupsOf { unit, launch };

struct TraceFile {
  std::string kernel{"kernel"};  ///< name in reports: 1 to 64 ASCII letters, digits or _.+-
  GroupsOf groups_of{GroupsOf::unit};
  Trace trace{};
};

/// Error of a trace file, in one line: "line 12: expected a register, r0 to r63, found 'x1'".
class TraceFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a trace file. Throws TraceFileError for the first line with a syntax error, or beyond a
/// limit. The limits bound the memory and the time of a simulation.
TraceFile read_trace_file(std::string_view text);

/// Returns the maximum number of compute units that run the file: 1, or all units of the machine.
std::uint64_t max_units_of(const TraceFile& file, const Machine& machine);

/// Returns the groups that the first `units` of the file's max_units_of() compute units run, and
/// the programs of these groups. Larger values of `units` give all groups. Two or more units share
/// the locks. If these are also all units of the file, no unit outside the simulation holds a lock.
Trace share_of_units(const TraceFile& file, const Machine& machine, std::uint64_t units);

// Writers that return the parts of a trace file, for programs that have no complete trace in
// memory. program_text() throws TraceError for programs without a text form, such as those with
// overlapping loops.
std::string header_text(std::string_view kernel, GroupsOf groups_of);
/// Returns the text of a program. `numbers`: number of each table in the text. The text lists the
/// entries of tables with one entry per active lane in place, so their numbers are unused.
std::string program_text(const Program& program, std::size_t number,
                         const std::vector<std::vector<std::uint64_t>>& tables,
                         const std::vector<std::uint32_t>& numbers = {});
std::string group_text(const Group& group);

}  // namespace clprobe::simulator

namespace clprobe::simulator {

/// The source of a load's value. `l1_coalescing`: the load missed L1, and the answer to an earlier
/// request for the same line served it.
enum class Level : std::uint8_t { l1, l1_coalescing, l2, remote_l1, memory };
inline constexpr std::size_t level_count = 5;

/// The causes that keep a warp's next instruction from issuing, one bit each. Source: Alsop, GSI,
/// 2016, sections 4.1 to 4.4. `serial_requests` is our addition: without a bank conflict, a
/// load/store unit is busy with an instruction of more than one line, or waits for the end of its
/// interval.
using Causes = std::uint32_t;
namespace cause {
inline constexpr Causes idle{1U << 0U};    ///< the context has no warp, or its warp has ended
inline constexpr Causes branch{1U << 1U};  ///< the instruction after a branch is not available yet
inline constexpr Causes barrier{1U << 2U};
inline constexpr Causes acquire{1U << 3U};
inline constexpr Causes release{1U << 4U};
inline constexpr Causes copy_wait{1U << 5U};
inline constexpr Causes memory_data{1U << 6U};
inline constexpr Causes full_mshr{1U << 7U};  ///< also a full request pool or pending-request table
inline constexpr Causes full_store_buffer{1U << 8U};
inline constexpr Causes bank_conflict{1U << 9U};
inline constexpr Causes serial_requests{1U << 10U};
inline constexpr Causes pending_release{1U << 11U};
inline constexpr Causes pending_copy{1U << 12U};
inline constexpr Causes arithmetic_result{1U << 13U};
inline constexpr Causes special_result{1U << 14U};
inline constexpr Causes busy_arithmetic{1U << 15U};
inline constexpr Causes busy_special{1U << 16U};
/// The warp's first instruction is not available yet.
inline constexpr Causes warp_start{1U << 17U};
inline constexpr Causes end{1U << 18U};  ///< the first unused bit

// GSI's categories. An instruction has at most one cause of `compute_data`: the cause of the
// register that is ready last.
inline constexpr Causes control = branch | warp_start;
inline constexpr Causes compute_data = arithmetic_result | special_result;
inline constexpr Causes compute_structural = busy_arithmetic | busy_special;
inline constexpr Causes synchronization = barrier | acquire | release | copy_wait;
inline constexpr Causes memory_structural = full_mshr | full_store_buffer | bank_conflict |
                                            serial_requests | pending_release | pending_copy;
}  // namespace cause

/// The state of one warp context in one cycle.
struct WarpState {
  /// All causes that keep the warp from issuing. 0 if the warp issued, if only an issue slot was
  /// missing, or if the warp ends in the next cycle.
  Causes causes{0};
  bool has_issued{false};
  /// Number of the load behind the cause `memory_data`: the operand that arrives last or, at the
  /// limit of pending loads, the load that arrives first.
  std::uint64_t load{0};
  std::uint32_t number{0};  ///< number of the warp in the trace
  std::uint32_t program{0};
  std::uint32_t instruction{0};  ///< next instruction of the program
};

/// Consecutive cycles in the same state. Cycles in which an instruction issued are not combined.
struct CycleState {
  std::uint64_t first{0};
  std::uint64_t cycles{1};
  std::uint32_t issued{0};
  bool is_last_flush{false};           ///< true if all warps have ended but stores are in flight
  std::span<const WarpState> warps{};  ///< states of all contexts that have had a warp
};

/// Receives all cycles of a simulation, in order and without gaps.
struct Observer {
  std::function<void(const CycleState&)> cycles{};
  /// Called once per load, as soon as the source of the load's last value is known. The result is
  /// not ready yet, but cycles that waited for the load may already have been reported.
  std::function<void(std::uint64_t load, Level)> served{};
};

struct ClockRead {
  std::uint32_t warp{0};
  std::uint32_t id{0};
  std::uint64_t cycle{0};

  friend bool operator==(const ClockRead&, const ClockRead&) = default;
};

struct Result {
  std::uint64_t cycles{0};             ///< cycles until the last store or copy of all units ends
  std::uint64_t flush_cycles{0};       ///< cycles after the end of the last warp
  std::uint64_t warp_instructions{0};  ///< issued instructions, including failed attempts to lock
  std::uint64_t full_table_cycles{0};  ///< cycles in which a request waited for a table entry
  std::uint64_t max_pending{0};        ///< maximum number of entries of the pending table in use
  std::array<std::uint64_t, level_count> served_by{};  ///< requests of loads and atomics, by level
  std::uint64_t lines_written{0};        ///< number of lines that left the store buffer
  std::vector<ClockRead> clock_reads{};  ///< in the order of issue

  friend bool operator==(const Result&, const Result&) = default;
};

struct Options {
  std::uint64_t seed{1};  ///< determines latencies of lines and hold times of locks
  bool skips_idle{true};  ///< false: simulates every cycle, for tests
  std::uint64_t max_cycles{std::uint64_t{1} << 40U};
  /// Returns true to cancel the simulation; called several times per second. May be empty.
  std::function<bool()> cancelled{};
};

/// Error of a trace that makes no progress, or that exceeds `max_cycles`. Examples: a barrier that
/// some warps never reach, and a lock that is never released.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Simulates one compute unit. Throws MachineError, TraceError, Deadlock and Cancelled.
Result simulate(const Machine& machine, const Trace& trace, const Options& options = {},
                const Observer* observer = nullptr);

/// Simulates `units` compute units (at least one) with a common clock. The units share the locks
/// and the second level, whose banks accept one request per cycle. Lines that a unit owns are
/// served by that unit. Each unit has its own bandwidths.
///
/// The units receive the groups of the trace alternately until no unit can start another group.
/// When a warp ends, its unit starts further groups that fit. If no other unit has work, a unit
/// behaves as in a simulation of one unit, except that banks limit its requests. `observers` is
/// empty or has one element per unit, which may be null.
///
/// Returns the results by unit, all with the common number of cycles. A unit without warps is
/// reported as idle until the last warp of all units ends.
std::vector<Result> simulate_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                                   const Options& options = {},
                                   std::span<const Observer* const> observers = {});

/// Returns the sum of the units' results: maximum of `max_pending`, clock reads in order of time.
Result sum_of(std::vector<Result> units);

}  // namespace clprobe::simulator

namespace clprobe::simulator {

// Attribution of a simulated kernel's cycles in two views: GSI's view has one cause per cycle, the
// other view has all causes at once. Source: Alsop, GSI: A GPU stall inspector, 2016, sections 4.1
// to 4.4.

/// GSI's stall types in the order of Algorithm 1, the strongest first.
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

/// A sub-class of a stall type, or the whole type if it has no sub-classes.
struct StallPart {
  Stall stall{};
  std::string_view word{};  ///< example: "full MSHR"; empty for a whole type
  Causes cause{0};          ///< cause of the sub-class; the first that holds counts
};

/// The sub-classes of all types, in the order in which they are tested. For example, a copy engine
/// that waits for an MSHR counts as "full MSHR", not as "pending DMA". The sub-classes of memory
/// data are in the order of `Level`; the source of the load selects one.
///
/// GSI has sub-classes of memory stalls only, and leaves sub-classes of control and compute stalls
/// as future work (Alsop, chapter 7). All other sub-classes, and "serial requests", are our
/// addition. Documents of older versions have control and compute stalls without a sub-class.
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

/// Returns the label of a sub-class, such as "memory data: L2", or the word of a whole type.
std::string label_of(const StallPart& part);

/// A set of stall types. Bit n stands for type n of `Stall`.
using StallSet = std::uint8_t;
constexpr StallSet bit_of(Stall stall) {
  return static_cast<StallSet>(1U << static_cast<unsigned>(stall));
}

/// The priorities of the stall types. "No stall" has no priority, because it wins every cycle in
/// which an instruction issues. Profiles may set other priorities (Alsop, section 4.2). The default
/// priorities come from the thesis.
struct Priorities {
  static constexpr std::size_t count = stall_count - 1;

  /// Priorities in Algorithm 1: the types of one instruction, strongest first.
  std::array<Stall, count> instruction{Stall::idle,
                                       Stall::control,
                                       Stall::synchronization,
                                       Stall::memory_data,
                                       Stall::memory_structural,
                                       Stall::compute_data,
                                       Stall::compute_structural};
  /// Priorities in Algorithm 2: the types of a cycle's instructions, weakest first. The order is
  /// not the inverse of Algorithm 1: memory and synchronization precede compute in both algorithms.
  std::array<Stall, count> cycle{Stall::memory_structural,
                                 Stall::memory_data,
                                 Stall::synchronization,
                                 Stall::compute_structural,
                                 Stall::compute_data,
                                 Stall::control,
                                 Stall::idle};
};

/// Returns the conditions of Algorithm 1 that hold for an instruction with the causes `causes`.
StallSet conditions_of(Causes causes);
/// Returns the first condition that holds, by Algorithm 1; `none` if no condition holds.
Stall classify_instruction(StallSet conditions, const Priorities& priorities = {});
/// Returns the type of a cycle by Algorithm 2: of the types of its instructions, the first in the
/// order of priority. A cycle without an instruction has no active warp and is idle.
Stall classify_cycle(StallSet found, const Priorities& priorities = {});
/// Returns the index in `stall_parts` of the type's first sub-class whose cause holds, or of its
/// last sub-class if none holds. For memory data, returns the index of L1, whatever the level.
std::size_t part_of(Stall stall, Causes causes);

/// Cycles by index in `stall_parts`.
struct Breakdown {
  std::array<double, stall_parts.size()> cycles{};

  [[nodiscard]] double of(Stall stall) const;
  [[nodiscard]] double of(Level level) const;
  /// Returns the sum of the sub-classes with any of the causes: "of(cause::compute_data)".
  [[nodiscard]] double of(Causes causes) const;
  [[nodiscard]] double total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }
};

struct StallAccount {
  Result result{};
  /// GSI's view, by Algorithms 1 and 2. Instructions with the type of the cycle may differ in their
  /// sub-classes. Such instructions share the cycle equally; GSI does not define the shares.
  Breakdown gsi{};
  /// The view of all causes at once, as in GCStack (IEEE CAL 23(2), 2024). A cycle has as many
  /// slots as the issue width or as there are warps, whichever is smaller. A slot with an
  /// instruction is no stall. Blocked warps share the other slots equally, and the causes of a warp
  /// share its slots equally. With an issue width of 1, a cycle with an instruction is no stall, as
  /// in GSI's view.
  Breakdown all_causes{};
};

/// Adds up the cycles that an `Observer` receives.
class StallAccountant {
 public:
  explicit StallAccountant(const Machine& machine, const Priorities& priorities = {})
      : issue_width_(machine.core.issue_width), priorities_(priorities) {}

  void see(const CycleState& state);
  void serve(std::uint64_t load, Level level) { waits_for(load).level = level; }
  /// Returns an observer that calls `see` and `serve`. The accountant must not move, and must
  /// outlive the observer.
  [[nodiscard]] Observer observer();
  /// Returns the account of the observed cycles, with the result of the simulation.
  [[nodiscard]] StallAccount account(Result result) const;

 private:
  /// A set of causes with its type and sub-class by Algorithm 1, and its share of the empty slots.
  struct Kind {
    Stall stall{Stall::none};
    std::size_t part{0};
    double causes_count{0.0};
    double slots{0.0};
  };
  /// Cycles that waited for one load, by view.
  struct LoadWaits {
    double gsi{0.0};
    double all_causes{0.0};
    Level level{Level::l1};
  };
  /// A warp that is blocked in the current cycles.
  struct BlockedWarp {
    Kind* kind{nullptr};
    std::uint64_t load{0};  ///< 0 if the warp waits for no load
  };

  Kind& kind_of(Causes causes);
  LoadWaits& waits_for(std::uint64_t load);
  void share_slots(double cycles, std::uint64_t issued);
  void share_cycle(double cycles, StallSet found);

  std::uint64_t issue_width_;
  Priorities priorities_;
  Breakdown gsi_{};         // without cycles that waited for loads
  Breakdown all_causes_{};  // without waits for loads and the slots of `kinds_`
  std::map<Causes, Kind> kinds_{};
  std::vector<LoadWaits> loads_{};      // one element per load, by its number
  std::vector<BlockedWarp> blocked_{};  // blocked warps of the current cycles
};

/// Simulates one compute unit and attributes its cycles. Throws the errors of `simulate`.
StallAccount account_stalls(const Machine& machine, const Trace& trace,
                            const Options& options = {});

/// The accounts of compute units that were simulated together.
struct GridAccount {
  std::vector<StallAccount> units{};  ///< by unit; each covers the whole time of the launch
  /// Views of the mean unit, with the sum of the units' results.
  StallAccount mean{};
};

/// Simulates `units` compute units as simulate_units() does, and attributes their cycles.
GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options = {}, const Priorities& priorities = {});

}  // namespace clprobe::simulator
