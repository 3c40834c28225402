// SPDX-License-Identifier: Apache-2.0
// Which warps issue in a cycle, and what their instructions do.
#include <algorithm>
#include <bit>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {

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
