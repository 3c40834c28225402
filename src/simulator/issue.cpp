// SPDX-License-Identifier: Apache-2.0
// Which warps issue in a cycle, and what their instructions do.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t all_registers = ~std::uint64_t{0};

Facility facility_for(Operation operation) {
  switch (operation) {
    case Operation::load:
      return Facility::loads;
    case Operation::store:
      return Facility::stores;
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::acquire:
    case Operation::release:
      return Facility::accesses;
    case Operation::alu:
      return Facility::arithmetic;
    case Operation::special:
      return Facility::special;
    default:
      return Facility::none;
  }
}

bool is_local(Operation operation) {
  return operation == Operation::local_load || operation == Operation::local_store;
}

}  // namespace

void ComputeUnit::find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                    Blockage& found) {
  std::uint64_t last_ready = 0;
  std::uint64_t last_result = 0;
  Causes result = 0;
  for (std::uint64_t left = registers & warp.pending; left != 0; left &= left - 1) {
    const auto each = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t bit = std::uint64_t{1} << each;
    const std::uint64_t ready = warp.ready[each];
    if (ready <= now) {
      warp.pending &= ~bit;
      warp.pending_loads &= ~bit;
    } else if ((warp.pending_loads & bit) != 0) {
      found.add(cause::memory_data, ready);
      if (ready > last_ready) found.load = warp.load[each];
      last_ready = std::max(last_ready, ready);
    } else {
      if (ready > last_result) {
        last_result = ready;
        const bool is_special = (warp.pending_special & bit) != 0;
        result = is_special ? cause::special_result : cause::arithmetic_result;
      }
      found.add(result, ready);
    }
  }
  if (result != 0) found.causes = (found.causes & ~cause::compute_data) | result;
}

void ComputeUnit::find_scoreboard_hazard(Warp& warp, std::uint64_t now, Blockage& found) const {
  const std::uint64_t most = machine_.core.pending_loads_per_warp;
  if (most == 0 || static_cast<std::uint64_t>(std::popcount(warp.pending_loads)) < most) return;
  std::uint64_t first_ready = never;
  std::uint64_t first_load = never;
  std::uint64_t count = 0;
  for (std::uint64_t left = warp.pending_loads; left != 0; left &= left - 1) {
    const auto each = static_cast<std::size_t>(std::countr_zero(left));
    if (warp.ready[each] <= now) continue;
    ++count;
    const bool is_earlier = warp.ready[each] < first_ready ||
                            (warp.ready[each] == first_ready && warp.load[each] < first_load);
    if (!is_earlier) continue;
    first_ready = warp.ready[each];
    first_load = warp.load[each];
  }
  if (count < most) return;
  if ((found.causes & cause::memory_data) == 0) found.load = first_load;
  found.add(cause::memory_data, first_ready);
}

[[gnu::always_inline]] inline void ComputeUnit::find_busy(Facility facility, std::uint64_t now,
                                                          Blockage& found) const {
  const auto find_units = [&](Operation operation) {
    if (memory_.accepts(operation)) return;
    found.add(memory_.busy_causes(operation), never);
    found.waiting = Waiting::room;
  };
  const auto find_pipelines = [&](const std::vector<std::uint64_t>& free, Causes cause) {
    const std::uint64_t first = *std::min_element(free.begin(), free.end());
    if (first > now) found.add(cause, first);
  };
  switch (facility) {
    case Facility::loads:
      find_units(Operation::load);
      break;
    case Facility::stores:
      find_units(Operation::store);
      if (memory_.stores_held_until() > now) {
        found.add(cause::pending_release, memory_.stores_held_until());
      }
      break;
    case Facility::accesses:
      find_units(Operation::atomic);
      break;
    case Facility::arithmetic:
      find_pipelines(alu_free_, cause::busy_arithmetic);
      break;
    case Facility::special:
      find_pipelines(special_free_, cause::busy_special);
      break;
    case Facility::none:
      break;
  }
}

/// Of what waits for copies, or accesses what they write.
void ComputeUnit::find_copy_hazards(const Warp& warp, const Instruction& instruction,
                                    std::uint64_t now, Blockage& found) const {
  const bool waits = instruction.operation == Operation::copy_wait;
  if (!waits && (!is_local(instruction.operation) || instruction.id == 0)) return;
  found.depends_on_copies = true;
  const Copies& copies = memory_.copies();
  const std::uint64_t until = waits ? copies.copies_until(warp.group, instruction.id)
                                    : copies.local_blocked_until(warp.serial, instruction.id);
  if (until <= now) return;
  found.add(waits ? cause::copy_wait : cause::pending_copy, until);
  if (!waits && copies.is_blocked()) found.add(cause::full_mshr, until);
  if (until == never && found.waiting == Waiting::nothing) found.waiting = Waiting::copies;
}

/// `all`: every cause but for what keeps busy what it needs, which is the same for all warps; else
/// the first one found will do, whichever it is.
template <bool all>
ComputeUnit::Blockage ComputeUnit::find_blockage(Warp& warp, std::uint64_t now) {
  Blockage found;
  if (warp.held_until > now) {
    found.add(warp.hold_cause, warp.held_until);
    return found;
  }
  if (is_at_end(warp)) {
    find_data_hazards(warp, all_registers, now, found);
    return found;
  }
  const Instruction& next = trace_.programs[warp.program][warp.at];
  find_data_hazards(warp, next.reads | next.writes, now, found);
  if (!all && found.causes != 0) return found;
  if (next.operation == Operation::load || next.operation == Operation::atomic) {
    find_scoreboard_hazard(warp, now, found);
    if (!all && found.causes != 0) return found;
  }
  const Facility needs = facility_for(next.operation);
  if constexpr (all) {
    found.needs = needs;
  } else {
    find_busy(needs, now, found);
    if (found.waiting == Waiting::room) warp.wanted = next.operation;
  }
  if (needs == Facility::accesses || needs == Facility::none) {
    find_copy_hazards(warp, next, now, found);
  }
  return found;
}

std::uint64_t ComputeUnit::find_all_busy(std::uint64_t now, Busy& busy) const {
  std::uint64_t until = never;
  busy = {};
  for (std::uint32_t left = needed_; left != 0; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    Blockage found;
    find_busy(static_cast<Facility>(place), now, found);
    busy[place] = found.causes;
    until = std::min(until, found.changes);
  }
  return until;
}

// For issuing, and for observers.
template ComputeUnit::Blockage ComputeUnit::find_blockage<false>(Warp& warp, std::uint64_t now);
template ComputeUnit::Blockage ComputeUnit::find_blockage<true>(Warp& warp, std::uint64_t now);

std::uint32_t ComputeUnit::issue(std::uint64_t now, std::uint64_t& next_wake) {
  const std::uint32_t contexts = used_contexts_;
  const std::uint32_t first = last_issued_;
  // Step by step nobody sleeps.
  const std::uint64_t latest_wake = options_.skips_idle ? now : never;
  std::uint64_t earliest = never;
  std::uint32_t issued = 0;
  const auto takes_last_slot = [&](std::uint32_t context) {
    if (warps_[context].is_active && try_issue(context, now)) {
      last_issued_ = context;
      if (are_waiters_awake_) close_for_waiters();
      if (++issued == machine_.core.issue_width) return true;
    }
    earliest = std::min(earliest, wake_[context]);
    return false;
  };
  const auto sleeps = [&](std::uint32_t context) {
    const std::uint64_t wake = wake_[context];
    if (wake <= latest_wake) return false;
    earliest = std::min(earliest, wake);
    return true;
  };
  const auto issue_from_to = [&](std::uint32_t from, std::uint32_t end) {
    for (std::uint32_t context = from; context < end; ++context) {
      if (!sleeps(context) && takes_last_slot(context)) return true;
    }
    return false;
  };
  const auto issue_all = [&] {
    if (machine_.core.scheduler == Scheduler::greedy_then_oldest) {
      if (!sleeps(first) && takes_last_slot(first)) return;
      for (const std::uint32_t context : by_age_) {
        if (context != first && !sleeps(context) && takes_last_slot(context)) return;
      }
    } else if (!issue_from_to(first + 1, contexts)) {
      issue_from_to(0, std::min(first + 1, contexts));
    }
  };
  issue_all();
  next_wake = std::min(next_wake, earliest);
  return issued;
}

bool ComputeUnit::try_issue(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  const Blockage blockage = find_blockage<false>(warp, now);
  if (warp.waiting != blockage.waiting) wait_for(context, blockage.waiting);
  if (blockage.causes != 0) {
    wake_[context] = blockage.least;
    return false;
  }
  if (is_at_end(warp)) {  // became ready in this cycle; ends in the next
    wake_[context] = now + 1;
    return false;
  }
  const Instruction& instruction = trace_.programs[warp.program][warp.at];
  if (!states_.empty()) {
    states_[context] = {
        .has_issued = true, .number = warp.number, .program = warp.program, .instruction = warp.at};
    told_[context].issued_at = now;
    forget_told(context);
  }
  ++result_.warp_instructions;
  wake_[context] = now + 1;
  execute(context, instruction, now);
  sleep_until_data(context);
  return true;
}

void ComputeUnit::sleep_until_data(std::uint32_t context) {
  const Warp& warp = warps_[context];
  std::uint64_t left = warp.pending;
  if (!is_at_end(warp)) {
    const Instruction& next = trace_.programs[warp.program][warp.at];
    left &= next.reads | next.writes;
  }
  std::uint64_t latest = wake_[context];
  for (; left != 0; left &= left - 1) {
    latest = std::max(latest, warp.ready[static_cast<std::size_t>(std::countr_zero(left))]);
  }
  wake_[context] = latest;
}

void ComputeUnit::execute(std::uint32_t context, const Instruction& instruction,
                          std::uint64_t now) {
  Warp& warp = warps_[context];
  switch (instruction.operation) {
    case Operation::alu:
      compute(warp, instruction, machine_.alu, alu_free_, now);
      break;
    case Operation::special:
      compute(warp, instruction, machine_.special, special_free_, now);
      break;
    case Operation::barrier: {
      GroupState& group = groups_[warp.group];
      warp.hold_cause = cause::barrier;
      warp.held_until = never;
      wake_[context] = never;
      if (++group.arrived == group.live) open_barrier(group, now);
      break;
    }
    case Operation::branch:
      warp.hold_cause = cause::branch;
      warp.held_until = now + machine_.core.branch_cycles;
      wake_[context] = std::max(now + 1, warp.held_until);
      break;
    case Operation::clock:
      result_.clock_reads.push_back({warp.number, instruction.id, now});
      break;
    case Operation::copy_in:
    case Operation::copy_out:
      memory_.start_copy(now, instruction, execution_of(warp), {warp.group, warp.serial});
      break;
    case Operation::copy_wait:
    case Operation::repeat:
      break;
    default:
      send_to_memory(context, instruction, now);
      return;
  }
  advance(warp, now);
}

void ComputeUnit::send_to_memory(std::uint32_t context, const Instruction& instruction,
                                 std::uint64_t now) {
  Warp& warp = warps_[context];
  const bool takes_lock = instruction.operation == Operation::acquire;
  if (takes_lock || instruction.operation == Operation::release) {
    warp.hold_cause = takes_lock ? cause::acquire : cause::release;
    warp.held_until = never;
    wake_[context] = never;
    if (!takes_lock && warp.locks_held > 0) --warp.locks_held;
  }
  std::uint64_t load = 0;
  if (instruction.writes != 0) {
    load = ++loads_;
    const auto result = static_cast<std::size_t>(std::countr_zero(instruction.writes));
    warp.pending |= instruction.writes;
    warp.pending_loads |= instruction.writes;
    warp.ready[result] = never;
    warp.load[result] = load;
  }
  memory_.accept(now, instruction, context, execution_of(warp), load);
  if (!takes_lock) advance(warp, now);  // a lock that is taken is tried again
}

void ComputeUnit::compute(Warp& warp, const Instruction& instruction, const FunctionUnits& units,
                          std::vector<std::uint64_t>& free, std::uint64_t now) {
  *std::min_element(free.begin(), free.end()) = now + units.interval_cycles;
  if (instruction.writes == 0) return;
  warp.pending |= instruction.writes;
  warp.pending_loads &= ~instruction.writes;
  warp.pending_special &= ~instruction.writes;
  if (instruction.operation == Operation::special) warp.pending_special |= instruction.writes;
  warp.ready[static_cast<std::size_t>(std::countr_zero(instruction.writes))] =
      now + units.latency_cycles;
}

}  // namespace clprobe::simulator
