// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/api/simulator.hpp"

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

Instruction make(Operation operation, Registers reads, Registers result = {},
                 const Lanes& lanes = {}) {
  return {
      .operation = operation, .reads = bits_of(reads), .writes = bits_of(result), .lanes = lanes};
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
      refuse(fmt::format("expected the number of one of the trace's {} programs, found {}",
                         trace.programs.size(), warp.program));
    }
    if (warp.lanes == 0 || warp.lanes > core.warp_width) {
      refuse(fmt::format("expected warps of 1 to {} lanes, found {}", core.warp_width, warp.lanes));
    }
  }
}

/// Makes the units of a launch share its locks. If all units are simulated, no unit outside the
/// simulation holds a lock.
void share_locks(std::vector<Lock>& locks, bool are_all_there) {
  for (Lock& lock : locks) {
    lock.is_shared = true;
    if (are_all_there) lock.held_elsewhere = {};
  }
}

}  // namespace

Instruction alu(Register result, Registers reads) { return make(Operation::alu, reads, {result}); }

Instruction special(Register result, Registers reads) {
  return make(Operation::special, reads, {result});
}

Instruction load(Register result, const Lanes& lanes, Registers reads) {
  return make(Operation::load, reads, {result}, lanes);
}

Instruction store(const Lanes& lanes, Registers reads) {
  return make(Operation::store, reads, {}, lanes);
}

Instruction atomic(Register result, const Lanes& lanes, Registers reads) {
  return make(Operation::atomic, reads, {result}, lanes);
}

Instruction local_load(Register result, const Lanes& lanes, Registers reads) {
  return make(Operation::local_load, reads, {result}, lanes);
}

Instruction local_store(const Lanes& lanes, Registers reads) {
  return make(Operation::local_store, reads, {}, lanes);
}

Instruction barrier(Registers reads) { return make(Operation::barrier, reads); }

Instruction acquire(std::uint32_t lock) { return {.operation = Operation::acquire, .id = lock}; }

Instruction release(std::uint32_t lock) {
  // A release waits for all values that were loaded while the warp held the lock.
  return {.operation = Operation::release, .reads = ~std::uint64_t{0}, .id = lock};
}

Instruction copy_in(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes) {
  return {.operation = Operation::copy_in, .lanes = lanes, .id = copy, .count = bytes};
}

Instruction copy_out(std::uint32_t copy, const Lanes& lanes, std::uint64_t bytes) {
  return {.operation = Operation::copy_out, .lanes = lanes, .id = copy, .count = bytes};
}

Instruction copy_wait(std::uint32_t copy) {
  return {.operation = Operation::copy_wait, .id = copy};
}

Instruction branch(Registers reads) { return make(Operation::branch, reads); }

Instruction read_clock(std::uint32_t id, Registers reads) {
  Instruction instruction = make(Operation::clock, reads);
  instruction.id = id;
  return instruction;
}

Instruction repeat(std::uint32_t target, std::uint64_t times) {
  return {.operation = Operation::repeat, .count = times, .target = target};
}

void check(const Trace& trace, const Machine& machine) {
  for (std::size_t g = 0; g < trace.groups.size(); ++g) {
    check_group(trace.groups[g], g, trace, machine);
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
