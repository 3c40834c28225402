// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "clprobe/trace.hpp"
#include "clprobe/trace_file.hpp"

namespace clprobe::simulator {
namespace {

std::uint64_t bits_of(Registers registers) {
  std::uint64_t bits = 0;
  for (const Register each : registers) {
    if (each >= register_count) {
      throw TraceError(fmt::format("expected a register from 0 to 63, found {}", each));
    }
    bits |= std::uint64_t{1} << each;
  }
  return bits;
}

Instruction make(Operation operation, Registers reads) {
  Instruction instruction;
  instruction.operation = operation;
  instruction.reads = bits_of(reads);
  return instruction;
}

Instruction make(Operation operation, Registers reads, Register result) {
  Instruction instruction = make(operation, reads);
  instruction.writes = bits_of({result});
  return instruction;
}

Instruction make_copy(Operation operation, std::uint32_t copy, const Lanes& lanes,
                      std::uint64_t bytes) {
  Instruction instruction = make(operation, {});
  instruction.id = copy;
  instruction.lanes = lanes;
  instruction.count = bytes;
  return instruction;
}

Instruction with_lanes(Instruction instruction, const Lanes& lanes) {
  instruction.lanes = lanes;
  return instruction;
}

Instruction with_id(Instruction instruction, std::uint32_t id) {
  instruction.id = id;
  return instruction;
}

bool has_lanes(Operation operation) {
  switch (operation) {
    case Operation::load:
    case Operation::store:
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::copy_in:
    case Operation::copy_out:
      return true;
    default:
      return false;
  }
}

/// What is wrong with an instruction; empty when nothing is.
std::string problem_of(const Instruction& instruction, std::size_t place, const Program& program,
                       const Trace& trace) {
  const Lanes& lanes = instruction.lanes;
  if (std::popcount(instruction.writes) > 1) return "expected at most one result";
  if (has_lanes(instruction.operation)) {
    if (lanes.lane_group == 0 || lanes.warp_group == 0) return "expected groups of at least 1";
    if (lanes.bytes == 0 || lanes.bytes > 64) return "expected accesses of 1 to 64 bytes";
    if (lanes.table != Lanes::no_table &&
        (lanes.table >= trace.tables.size() || trace.tables[lanes.table].empty())) {
      return fmt::format("expected one of {} tables, and not an empty one", trace.tables.size());
    }
  }
  switch (instruction.operation) {
    case Operation::acquire:
    case Operation::release:
      if (instruction.id < trace.locks.size()) return {};
      return fmt::format("expected one of {} locks, found {}", trace.locks.size(), instruction.id);
    case Operation::copy_in:
    case Operation::copy_out:
      return instruction.count == 0 ? "expected bytes to copy" : "";
    case Operation::repeat: {
      if (instruction.count == 0) return "expected at least one repetition";
      if (instruction.target >= place) return "expected a body before the repeat";
      const auto begin = program.begin() + static_cast<std::ptrdiff_t>(instruction.target);
      const bool does_something =
          std::any_of(begin, program.begin() + static_cast<std::ptrdiff_t>(place),
                      [](const Instruction& each) { return each.operation != Operation::repeat; });
      return does_something ? "" : "expected a body with instructions";
    }
    default:
      return {};
  }
}

void check_group(const Group& group, std::size_t place, const Trace& trace,
                 const Machine& machine) {
  const Core& core = machine.core;
  const auto refuse = [&](const std::string& problem) {
    throw TraceError(fmt::format("groups[{}]: {}", place, problem));
  };
  if (group.warps.empty()) refuse("expected at least one warp");
  if (group.warps.size() > core.warp_contexts) {
    refuse(
        fmt::format("expected at most {} warps, found {}", core.warp_contexts, group.warps.size()));
  }
  if (group.local_bytes > machine.local.bytes) {
    refuse(fmt::format("expected at most {} bytes of local memory, found {}", machine.local.bytes,
                       group.local_bytes));
  }
  for (const WarpWork& warp : group.warps) {
    if (warp.program >= trace.programs.size()) {
      refuse(fmt::format("expected one of {} programs, found {}", trace.programs.size(),
                         warp.program));
    }
    if (warp.lanes == 0 || warp.lanes > core.warp_width) {
      refuse(fmt::format("expected warps of 1 to {} lanes, found {}", core.warp_width, warp.lanes));
    }
  }
}

/// The locks of a launch are those that its units want; nobody else holds them once all are there.
void share_locks(std::vector<Lock>& locks, bool are_all_there) {
  for (Lock& lock : locks) {
    lock.is_shared = true;
    if (are_all_there) lock.held_elsewhere = {};
  }
}

}  // namespace

Instruction alu(Register result, Registers reads) { return make(Operation::alu, reads, result); }

Instruction special(Register result, Registers reads) {
  return make(Operation::special, reads, result);
}

Instruction load(Register result, const Lanes& lanes, Registers reads) {
  return with_lanes(make(Operation::load, reads, result), lanes);
}

Instruction store(const Lanes& lanes, Registers reads) {
  return with_lanes(make(Operation::store, reads), lanes);
}

Instruction atomic(Register result, const Lanes& lanes, Registers reads) {
  return with_lanes(make(Operation::atomic, reads, result), lanes);
}

Instruction local_load(Register result, const Lanes& lanes, Registers reads) {
  return with_lanes(make(Operation::local_load, reads, result), lanes);
}

Instruction local_store(const Lanes& lanes, Registers reads) {
  return with_lanes(make(Operation::local_store, reads), lanes);
}

Instruction barrier(Registers reads) { return make(Operation::barrier, reads); }

Instruction acquire(std::uint32_t lock) { return with_id(make(Operation::acquire, {}), lock); }

Instruction release(std::uint32_t lock) {
  Instruction instruction = with_id(make(Operation::release, {}), lock);
  instruction.reads = ~std::uint64_t{0};  // what was loaded under the lock must have come
  return instruction;
}

Instruction copy_in(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes) {
  return make_copy(Operation::copy_in, copy, lanes, bytes);
}

Instruction copy_out(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes) {
  return make_copy(Operation::copy_out, copy, lanes, bytes);
}

Instruction copy_wait(std::uint32_t copy) { return with_id(make(Operation::copy_wait, {}), copy); }

Instruction branch(Registers reads) { return make(Operation::branch, reads); }

Instruction read_clock(std::uint32_t id, Registers reads) {
  return with_id(make(Operation::clock, reads), id);
}

Instruction repeat(std::uint32_t target, std::uint64_t times) {
  Instruction instruction = make(Operation::repeat, {});
  instruction.target = target;
  instruction.count = times;
  return instruction;
}

void check(const Trace& trace, const Machine& machine) {
  for (std::size_t p = 0; p < trace.programs.size(); ++p) {
    const Program& program = trace.programs[p];
    if (program.empty()) throw TraceError(fmt::format("programs[{}]: expected instructions", p));
    for (std::size_t i = 0; i < program.size(); ++i) {
      const std::string problem = problem_of(program[i], i, program, trace);
      if (!problem.empty()) throw TraceError(fmt::format("programs[{}][{}]: {}", p, i, problem));
    }
  }
  for (std::size_t g = 0; g < trace.groups.size(); ++g) {
    check_group(trace.groups[g], g, trace, machine);
  }
  for (std::size_t r = 0; r < trace.resident.size(); ++r) {
    const std::uint32_t table = trace.resident[r].table;
    if (table == Lanes::no_table || (table < trace.tables.size() && !trace.tables[table].empty())) {
      continue;
    }
    throw TraceError(fmt::format("resident[{}]: expected one of {} tables, and not an empty one", r,
                                 trace.tables.size()));
  }
}

Group make_group(const Machine& machine, std::uint64_t work_items, std::uint32_t program,
                 std::uint32_t first_number) {
  Group group;
  const std::uint64_t width = machine.core.warp_width;
  for (std::uint64_t first = 0; first < work_items; first += width) {
    group.warps.push_back(
        {.program = program,
         .lanes = static_cast<std::uint32_t>(std::min(width, work_items - first)),
         .number = first_number + static_cast<std::uint32_t>(group.warps.size())});
  }
  return group;
}

std::uint64_t max_units_of(const TraceFile& file, const Machine& machine) {
  return file.groups_of == GroupsOf::unit ? 1 : machine.core.compute_units;
}

Trace share_of_units(const TraceFile& file, const Machine& machine, std::uint64_t units) {
  const Trace& whole = file.trace;
  const std::uint64_t dealt_to = std::max(units, max_units_of(file, machine));
  Trace share{.tables = whole.tables, .resident = whole.resident, .locks = whole.locks};
  if (units > 1) share_locks(share.locks, units == dealt_to);
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  std::vector<std::uint32_t> places(whole.programs.size(), unused);
  for (std::size_t g = 0; g < whole.groups.size(); ++g) {
    if (g % dealt_to >= units) continue;
    Group& group = share.groups.emplace_back(whole.groups[g]);
    for (WarpWork& warp : group.warps) {
      std::uint32_t& place = places.at(warp.program);
      if (place == unused) {
        place = static_cast<std::uint32_t>(share.programs.size());
        share.programs.push_back(whole.programs[warp.program]);
      }
      warp.program = place;
    }
  }
  return share;
}

}  // namespace clprobe::simulator
