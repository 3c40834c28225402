// SPDX-License-Identifier: Apache-2.0
// Work for a simulated compute unit: streams of warp instructions, in loops, so that a chase of a
// hundred thousand hops is a few lines and one table.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "clprobe/machine.hpp"

namespace clprobe::simulator {

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

}  // namespace clprobe::simulator
