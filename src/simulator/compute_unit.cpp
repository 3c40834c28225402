// SPDX-License-Identifier: Apache-2.0
#include "simulator/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t all_registers = ~std::uint64_t{0};
constexpr std::uint32_t none = ~std::uint32_t{0};

bool is_for_memory(Operation operation) {
  switch (operation) {
    case Operation::load:
    case Operation::store:
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::acquire:
    case Operation::release:
      return true;
    default:
      return false;
  }
}

bool is_local(Operation operation) {
  return operation == Operation::local_load || operation == Operation::local_store;
}

}  // namespace

ComputeUnit::ComputeUnit(const Machine& machine, const Trace& trace, const Options& options,
                         const Observer* observer)
    : machine_(machine),
      trace_(trace),
      options_(options),
      observer_(observer),
      memory_(machine, trace, options.seed),
      warps_(machine.core.warp_contexts),
      wake_(machine.core.warp_contexts, never),
      groups_(trace.groups.size()),
      last_issued_(static_cast<std::uint32_t>(machine.core.warp_contexts) - 1),
      alu_free_(machine.alu.count),
      special_free_(machine.special.count),
      states_(observer == nullptr ? 0 : machine.core.warp_contexts) {}

Result ComputeUnit::run() {
  std::uint64_t now = 0;
  for (;;) {
    memory_.process(now);
    take_news(now);
    settle(now);
    if (active_ == 0 && next_group_ == trace_.groups.size()) return finish(now);
    std::uint64_t wake = never;
    const std::uint32_t issued = issue(now, wake);
    std::uint64_t next = now + 1;
    if (observer_ != nullptr) {
      const std::uint64_t change = observe(now, issued);
      if (issued == 0 && options_.skips_idle) next = change;
      tell(now, next == never ? 1 : next - now, issued, false);
    } else if (issued == 0 && options_.skips_idle) {
      next = pass_idle_cycles(now, wake);
    }
    if (next == never) report_deadlock(now);
    // Step by step, too, nothing may stand still for ever.
    if (next > options_.most_cycles) report_deadlock(options_.most_cycles);
    now = next;
  }
}

/// While no warp can issue, lets the memory act until it wakes one.
std::uint64_t ComputeUnit::pass_idle_cycles(std::uint64_t now, std::uint64_t wake) {
  if (memory_.has_news()) return std::min(wake, now + 1);
  for (std::uint64_t next = memory_.next_event(); next < wake; next = memory_.next_event()) {
    if (next > options_.most_cycles) return next;
    memory_.process(next);
    if (memory_.has_news()) return next;
  }
  return wake;
}

void ComputeUnit::take_news(std::uint64_t now) {
  for (const Completion& each : memory_.completions()) complete(each, now);
  memory_.completions().clear();
  if (memory_.take_room_again()) wake_all(Waiting::room, now);
  if (memory_.take_copies_changed()) wake_all(Waiting::copies, now);
}

void ComputeUnit::complete(const Completion& completion, std::uint64_t now) {
  Warp& warp = warps_[completion.context];
  if (completion.operation == Operation::acquire || completion.operation == Operation::release) {
    warp.held_until = completion.ready;
    warp.has_lock_now = completion.has_lock;
    if (completion.has_lock) ++unsettled_;
    wake_[completion.context] = std::max(now, completion.ready);
    return;
  }
  if (completion.load != 0 && observer_ != nullptr && observer_->served) {
    observer_->served(completion.load, completion.level);
  }
  if (completion.writes != 0) {
    warp.ready[static_cast<std::size_t>(std::countr_zero(completion.writes))] = completion.ready;
  }
  wake_[completion.context] = std::min(wake_[completion.context], now);
}

void ComputeUnit::wake_all(Waiting waiting, std::uint64_t now) {
  for (std::size_t context = 0; context < used_contexts_; ++context) {
    if (warps_[context].waiting != waiting) continue;
    warps_[context].waiting = Waiting::nothing;
    wake_[context] = std::min(wake_[context], now);
  }
}

void ComputeUnit::dispatch(std::uint64_t now) {
  while (next_group_ < trace_.groups.size()) {
    const Group& group = trace_.groups[next_group_];
    if (warps_.size() - active_ < group.warps.size()) return;
    std::uint32_t context = 0;
    for (const WarpWork& work : group.warps) {
      while (warps_[context].is_active) ++context;
      start(context, work, next_group_, now);
    }
    ++next_group_;
  }
}

void ComputeUnit::start(std::uint32_t context, const WarpWork& work, std::size_t group,
                        std::uint64_t now) {
  Warp& warp = warps_[context];
  warp.is_active = true;
  warp.has_lock_now = false;
  warp.waiting = Waiting::nothing;
  warp.hold_cause = 0;
  warp.lanes = work.lanes;
  warp.number = work.number;
  warp.program = work.program;
  warp.at = 0;
  warp.locks_held = 0;
  warp.group = group;
  warp.serial = ++serial_;
  warp.held_until = 0;
  warp.pending = 0;
  warp.pending_loads = 0;
  warp.turns.assign(trace_.programs[work.program].size(), 0);
  wake_[context] = now;
  groups_[group].contexts.push_back(context);
  ++groups_[group].live;
  ++active_;
  by_age_.push_back(context);
  used_contexts_ = std::max(used_contexts_, context + 1);
}

/// What happens to warps without taking an issue slot: a lock has come, the last result is there.
void ComputeUnit::settle(std::uint64_t now) {
  for (std::uint32_t context = 0; unsettled_ > 0 && context < used_contexts_; ++context) {
    if (wake_[context] > now && options_.skips_idle) continue;
    Warp& warp = warps_[context];
    if (!warp.is_active || warp.held_until > now) continue;
    if (warp.has_lock_now) {
      warp.has_lock_now = false;
      --unsettled_;
      ++warp.locks_held;
      memory_.invalidate_l1();
      advance(warp, now);
    }
    if (is_at_end(warp) && find_blockage<false>(warp, now).causes == 0) end_warp(context, now);
  }
  if (!has_ended_) return;
  has_ended_ = false;
  dispatch(now);
}

void ComputeUnit::end_warp(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  if (warp.locks_held > 0) {
    throw Deadlock(fmt::format("warp {} ends with a lock at cycle {}", warp.number, now));
  }
  warp.is_active = false;
  warp.waiting = Waiting::nothing;
  wake_[context] = never;
  --unsettled_;
  by_age_.erase(std::find(by_age_.begin(), by_age_.end(), context));
  --active_;
  has_ended_ = true;
  GroupState& group = groups_[warp.group];
  --group.live;
  group.contexts.erase(std::find(group.contexts.begin(), group.contexts.end(), context));
  if (group.live > 0 && group.arrived == group.live) open_barrier(group, now);
}

void ComputeUnit::open_barrier(GroupState& group, std::uint64_t now) {
  group.arrived = 0;
  for (const std::uint32_t context : group.contexts) {
    warps_[context].held_until = now + machine_.core.barrier_cycles;
    wake_[context] = warps_[context].held_until;
  }
}

void ComputeUnit::find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                    Blockage& found) {
  std::uint64_t last_ready = 0;
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
      found.add(cause::compute_data, ready);
    }
  }
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

void ComputeUnit::find_memory_hazards(const Warp& warp, const Instruction& instruction,
                                      std::uint64_t now, Blockage& found) const {
  if (!memory_.accepts()) {
    found.add(memory_.busy_causes(), never);
    found.waiting = Waiting::room;
  }
  if (instruction.operation == Operation::store && memory_.stores_held_until() > now) {
    found.add(cause::pending_release, memory_.stores_held_until());
  }
  if (!is_local(instruction.operation) || instruction.id == 0) return;
  const std::uint64_t until = memory_.local_blocked_until(warp.serial, instruction.id);
  if (until <= now) return;
  found.add(cause::pending_copy, until);
  if (memory_.copy_is_blocked()) found.add(cause::full_mshr, until);
  if (until == never && found.waiting == Waiting::nothing) found.waiting = Waiting::copies;
}

/// `all`: every cause; else the first one found will do.
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
  if (is_for_memory(next.operation)) {
    find_memory_hazards(warp, next, now, found);
  } else if (next.operation == Operation::alu || next.operation == Operation::special) {
    const auto& free = next.operation == Operation::alu ? alu_free_ : special_free_;
    const std::uint64_t first = *std::min_element(free.begin(), free.end());
    if (first > now) found.add(cause::compute_structural, first);
  } else if (next.operation == Operation::copy_wait) {
    const std::uint64_t until = memory_.copies_until(warp.group, next.id);
    if (until > now) found.add(cause::copy_wait, until);
    if (until == never) found.waiting = Waiting::copies;
  }
  return found;
}

std::uint32_t ComputeUnit::issue(std::uint64_t now, std::uint64_t& next_wake) {
  const std::uint32_t contexts = used_contexts_;
  const bool is_greedy = machine_.core.scheduler == Scheduler::greedy_then_oldest;
  const auto count = is_greedy ? static_cast<std::uint32_t>(by_age_.size()) + 1 : contexts;
  const std::uint32_t first = last_issued_;
  std::uint32_t issued = 0;
  std::uint32_t round_robin = first;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (++round_robin >= contexts) round_robin = 0;
    const std::uint32_t context = !is_greedy ? round_robin : i == 0 ? first : by_age_[i - 1];
    if (wake_[context] > now && options_.skips_idle) {
      next_wake = std::min(next_wake, wake_[context]);
      continue;
    }
    if (!warps_[context].is_active || (is_greedy && i > 0 && context == first)) continue;
    if (!try_issue(context, now)) {
      next_wake = std::min(next_wake, wake_[context]);
      continue;
    }
    last_issued_ = context;
    if (++issued == machine_.core.issue_width) break;
  }
  return issued;
}

bool ComputeUnit::try_issue(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  const Blockage blockage = find_blockage<false>(warp, now);
  if (blockage.causes != 0) {
    warp.waiting = blockage.waiting;
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
  }
  ++result_.warp_instructions;
  wake_[context] = now + 1;
  execute(context, instruction, now);
  return true;
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
      warp.hold_cause = cause::control;
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
  warp.ready[static_cast<std::size_t>(std::countr_zero(instruction.writes))] =
      now + units.latency_cycles;
}

void ComputeUnit::advance(Warp& warp, std::uint64_t now) {
  ++warp.turns[warp.at++];
  for (;;) {
    const Program& program = trace_.programs[warp.program];
    if (warp.at == program.size()) {
      const std::uint32_t next = trace_.next_program ? trace_.next_program(warp.number, now) : none;
      if (next >= trace_.programs.size()) {
        ++unsettled_;
        return;
      }
      warp.program = next;
      warp.at = 0;
      warp.turns.assign(trace_.programs[next].size(), 0);
      return;
    }
    const Instruction& instruction = program[warp.at];
    if (instruction.operation != Operation::repeat) return;
    if (++warp.turns[warp.at] < instruction.count) {
      warp.at = instruction.target;
      return;
    }
    warp.turns[warp.at++] = 0;
  }
}

std::uint64_t ComputeUnit::observe(std::uint64_t now, std::uint32_t issued) {
  std::uint64_t change = memory_.has_news() ? now + 1 : memory_.next_event();
  for (std::size_t context = 0; context < warps_.size(); ++context) {
    WarpState& state = states_[context];
    if (issued > 0 && state.has_issued) continue;
    Warp& warp = warps_[context];
    if (!warp.is_active) {
      state = {.causes = cause::idle};
      continue;
    }
    const Blockage blockage = find_blockage<true>(warp, now);
    state = {.causes = blockage.causes,
             .load = blockage.load,
             .number = warp.number,
             .program = warp.program,
             .instruction = warp.at};
    change = std::min(change, blockage.changes);
    // An end that could not be settled in this cycle is in the next one.
    if (blockage.causes == 0) change = std::min(change, now + 1);
  }
  return change;
}

void ComputeUnit::tell(std::uint64_t now, std::uint64_t cycles, std::uint32_t issued,
                       bool is_last_flush) {
  if (observer_->cycles) {
    observer_->cycles({.first = now,
                       .cycles = cycles,
                       .issued = issued,
                       .is_last_flush = is_last_flush,
                       .warps = states_});
  }
  for (WarpState& each : states_) each.has_issued = false;
}

void ComputeUnit::report_deadlock(std::uint64_t now) {
  std::string where;
  for (const Warp& warp : warps_) {
    if (!warp.is_active || !where.empty()) continue;
    where = fmt::format(": warp {} stands at instruction {} of program {}", warp.number, warp.at,
                        warp.program);
  }
  throw Deadlock(fmt::format("no progress after cycle {}{}", now, where));
}

Result ComputeUnit::finish(std::uint64_t now) {
  std::uint64_t end = now;
  // The copy engine may still be at work.
  while (memory_.next_event() != never) {
    end = std::max(end, memory_.next_event());
    memory_.process(end);
  }
  end = std::max(memory_.flush(end), memory_.last_copy_done());
  if (observer_ != nullptr && end > now) {
    for (WarpState& each : states_) each = {.causes = cause::idle};
    tell(now, end - now, 0, true);
  }
  result_.cycles = end;
  result_.flush_cycles = end - now;
  memory_.report(result_);
  return std::move(result_);
}

}  // namespace clprobe::simulator
