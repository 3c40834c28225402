// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulator/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace clprobe::simulator {
namespace {

std::size_t index_of(std::uint64_t registers) {
  return static_cast<std::size_t>(std::countr_zero(registers));
}

}  // namespace

ComputeUnit::ComputeUnit(const Machine& machine, const Trace& trace, const Options& options,
                         Shared& shared, std::size_t unit, const Observer* observer)
    : machine_(machine),
      trace_(trace),
      options_(options),
      shared_(shared),
      observer_(observer),
      memory_(machine, trace, shared, unit, options.seed),
      warps_(machine.core.warp_contexts),
      wake_(machine.core.warp_contexts, never),
      groups_(trace.groups.size()),
      last_issued_(static_cast<std::uint32_t>(machine.core.warp_contexts) - 1),
      alu_free_(machine.alu.count),
      special_free_(machine.special.count),
      states_(observer == nullptr ? 0 : machine.core.warp_contexts) {}

// Steps of a cycle.

std::uint64_t ComputeUnit::step(std::uint64_t now) {
  if (phase_ == Phase::ended) return never;
  memory_.process(now);
  if (phase_ == Phase::drains) return drain(now);
  const bool is_watched = observer_ != nullptr;
  if (is_watched) tell_until(now);
  take_news(now);
  // In most steps, all warps wait while requests are in flight.
  if (!is_watched && options_.skips_idle && now < wake_at_) {
    return std::min(wake_at_, memory_.next_event());
  }
  settle(now);
  if (active_ == 0 && !sees_groups()) {
    last_warp_end_ = now;
    phase_ = Phase::drains;
    return drain(now);
  }
  wake_at_ = never;
  issued_ = issue(now);
  // If the issue width is used up, warps remain that the issue stage has not checked in this cycle.
  if (issued_ == machine_.core.issue_width || !options_.skips_idle) wake_at_ = now + 1;
  if (is_watched) {
    observe(now);
    if (memory_.has_news()) return now + 1;
  }
  take_news(now + 1);
  return std::min(wake_at_, memory_.next_event());
}

/// Called after all warps have ended. Returns the cycle of the next step while requests remain to
/// be sent. Otherwise flushes the stores, ends the unit and returns `never`.
std::uint64_t ComputeUnit::drain(std::uint64_t now) {
  if (memory_.next_event() != never) return memory_.next_event();
  end_ = std::max(memory_.flush(now), memory_.copies().last_done());
  phase_ = Phase::ended;
  return never;
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
    if (completion.operation == Operation::acquire && !completion.has_lock) {
      warp.held_until += next_of(warp).count;
    }
    wake_[completion.context] = never;
    wake_by(completion.context, std::max(now, warp.held_until));
    return;
  }
  if (completion.load != 0 && observer_ != nullptr && observer_->served) {
    observer_->served(completion.load, completion.level);
  }
  if (completion.writes != 0) warp.ready[index_of(completion.writes)] = completion.ready;
  wake_by(completion.context, std::max(now, completion.ready));
}

bool ComputeUnit::only_waits() const {
  return std::all_of(warps_.begin(), warps_.end(), [this](const Warp& warp) {
    if (!warp.is_active) return true;
    const bool is_at_barrier = warp.hold_cause == cause::barrier && warp.held_until == never;
    return is_at_barrier || (!is_at_end(warp) && next_of(warp).operation == Operation::acquire);
  });
}

std::string ComputeUnit::find_standstill() const {
  const auto first =
      std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) { return warp.is_active; });
  if (first == warps_.end()) return {};
  return fmt::format(": warp {} waits at instruction {} of program {}", first->number, first->at,
                     first->program);
}

Result ComputeUnit::finish(std::uint64_t last_warp_end, std::uint64_t end) {
  tell_idle(last_warp_end, false);
  tell_idle(end, true);
  result_.cycles = end;
  result_.flush_cycles = end - last_warp_end;
  memory_.report(result_);
  return std::move(result_);
}

// Warps from their dispatch to their end.

bool ComputeUnit::dispatch_one(std::uint64_t now) {
  if (!sees_groups()) return false;
  const Group& group = trace_.groups[shared_.next_group];
  if (warps_.size() - active_ < group.warps.size()) return false;
  if (machine_.local.bytes - local_bytes_ < group.local_bytes) return false;
  local_bytes_ += group.local_bytes;
  std::uint32_t context = 0;
  for (const WarpWork& work : group.warps) {
    while (warps_[context].is_active) ++context;
    start(context, work, shared_.next_group, now);
  }
  ++shared_.next_group;
  return true;
}

void ComputeUnit::start(std::uint32_t context, const WarpWork& work, std::size_t group,
                        std::uint64_t now) {
  Warp warp{.is_active = true,
            .hold_cause = cause::warp_start,
            .lanes = work.lanes,
            .number = work.number,
            .program = work.program,
            .group = group,
            .serial = ++serial_,
            .held_until = now + machine_.instructions.start_cycles};
  warp.turns.assign(trace_.programs[work.program].size(), 0);
  warps_[context] = std::move(warp);
  wake_[context] = warps_[context].held_until;
  groups_[group].contexts.push_back(context);
  ++groups_[group].live;
  ++active_;
  by_age_.push_back(context);
  used_contexts_ = std::max(used_contexts_, context + 1);
}

/// Applies changes that need no issue slot: a warp that has acquired a lock, the end of a warp
/// whose last result is ready, and the start of groups that then fit.
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
    if (is_at_end(warp) && find_blockage(warp, now).causes == 0) end_warp(context, now);
  }
  if (!has_room_) return;
  has_room_ = false;
  while (dispatch_one(now)) {
  }
}

void ComputeUnit::end_warp(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  if (warp.locks_held > 0) {
    throw Deadlock(fmt::format("warp {} ended at cycle {} while holding a lock", warp.number, now));
  }
  warp.is_active = false;
  warp.waiting = Waiting::nothing;
  wake_[context] = never;
  --unsettled_;
  by_age_.erase(std::find(by_age_.begin(), by_age_.end(), context));
  --active_;
  has_room_ = true;
  GroupState& group = groups_[warp.group];
  --group.live;
  group.contexts.erase(std::find(group.contexts.begin(), group.contexts.end(), context));
  if (group.live == 0) local_bytes_ -= trace_.groups[warp.group].local_bytes;
  if (group.live > 0 && group.arrived == group.live) open_barrier(group, now);
}

void ComputeUnit::open_barrier(GroupState& group, std::uint64_t now) {
  group.arrived = 0;
  for (const std::uint32_t context : group.contexts) {
    warps_[context].held_until = now + machine_.core.barrier_cycles;
    wake_[context] = never;
    wake_by(context, warps_[context].held_until);
  }
}

void ComputeUnit::advance(Warp& warp, std::uint64_t now) {
  last_progress_ = now;
  ++warp.turns[warp.at++];
  for (;;) {
    if (is_at_end(warp)) {
      const std::size_t next =
          trace_.next_program ? trace_.next_program(warp.number, now) : trace_.programs.size();
      if (next >= trace_.programs.size()) {
        ++unsettled_;
        return;
      }
      warp.program = static_cast<std::uint32_t>(next);
      warp.at = 0;
      warp.turns.assign(trace_.programs[next].size(), 0);
      return;
    }
    const Instruction& instruction = next_of(warp);
    if (instruction.operation != Operation::repeat) return;
    if (++warp.turns[warp.at] < instruction.count) {
      warp.at = instruction.target;
      return;
    }
    warp.turns[warp.at++] = 0;
  }
}

// Causes that keep a warp from issuing an instruction.

void ComputeUnit::find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                    Blockage& found) {
  std::uint64_t last_ready = 0;
  std::uint64_t last_result = 0;
  Causes result = 0;
  for (std::uint64_t left = registers & warp.pending; left != 0; left &= left - 1) {
    const std::size_t each = index_of(left);
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

void ComputeUnit::find_scoreboard_hazard(const Warp& warp, std::uint64_t now,
                                         Blockage& found) const {
  const std::uint64_t limit = machine_.core.pending_loads_per_warp;
  if (limit == 0 || static_cast<std::uint64_t>(std::popcount(warp.pending_loads)) < limit) return;
  std::uint64_t first_ready = never;
  std::uint64_t first_load = never;
  std::uint64_t count = 0;
  for (std::uint64_t left = warp.pending_loads; left != 0; left &= left - 1) {
    const std::size_t each = index_of(left);
    if (warp.ready[each] <= now) continue;
    ++count;
    const bool is_earlier = warp.ready[each] < first_ready ||
                            (warp.ready[each] == first_ready && warp.load[each] < first_load);
    if (!is_earlier) continue;
    first_ready = warp.ready[each];
    first_load = warp.load[each];
  }
  if (count < limit) return;
  if ((found.causes & cause::memory_data) == 0) found.load = first_load;
  found.add(cause::memory_data, first_ready);
}

/// Adds the causes why the units that an operation needs are busy. All load/store units accept
/// loads, but only the first accepts other accesses. A release may delay stores.
void ComputeUnit::find_busy(Operation operation, std::uint64_t now, Blockage& found) const {
  const auto find_pipelines = [&](const std::vector<std::uint64_t>& free, Causes cause) {
    const std::uint64_t first = *std::min_element(free.begin(), free.end());
    if (first > now) found.add(cause, first);
  };
  switch (operation) {
    case Operation::alu:
      return find_pipelines(alu_free_, cause::busy_arithmetic);
    case Operation::special:
      return find_pipelines(special_free_, cause::busy_special);
    case Operation::store:
      if (memory_.stores_held_until() > now) {
        found.add(cause::pending_release, memory_.stores_held_until());
      }
      break;
    case Operation::load:
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::acquire:
    case Operation::release:
      break;
    default:
      return;
  }
  if (memory_.accepts(operation)) return;
  found.add(memory_.busy_causes(operation), never);
  found.waiting = Waiting::room;
}

/// Adds the causes if an instruction waits for a copy, or for local memory that a copy writes.
void ComputeUnit::find_copy_hazards(const Warp& warp, const Instruction& instruction,
                                    std::uint64_t now, Blockage& found) const {
  const bool waits = instruction.operation == Operation::copy_wait;
  const bool is_local = instruction.operation == Operation::local_load ||
                        instruction.operation == Operation::local_store;
  if (!waits && (!is_local || instruction.id == 0)) return;
  const Copies& copies = memory_.copies();
  const std::uint64_t until = waits ? copies.copies_until(warp.group, instruction.id)
                                    : copies.local_blocked_until(warp.serial, instruction.id);
  if (until <= now) return;
  found.add(waits ? cause::copy_wait : cause::pending_copy, until);
  if (!waits && copies.is_blocked()) found.add(cause::full_mshr, until);
  if (until == never) found.waiting = Waiting::copies;
}

ComputeUnit::Blockage ComputeUnit::find_blockage(Warp& warp, std::uint64_t now) const {
  Blockage found;
  if (warp.held_until > now) {
    found.add(warp.hold_cause, warp.held_until);
    return found;
  }
  if (is_at_end(warp)) {
    find_data_hazards(warp, ~std::uint64_t{0}, now, found);
    return found;
  }
  const Instruction& next = next_of(warp);
  find_data_hazards(warp, next.reads | next.writes, now, found);
  if (next.operation == Operation::load || next.operation == Operation::atomic) {
    find_scoreboard_hazard(warp, now, found);
  }
  find_copy_hazards(warp, next, now, found);
  find_busy(next.operation, now, found);
  return found;
}

// The issue stage, and the effects of instructions.

/// Issues instructions in this cycle. Returns the number of warps that issued.
std::uint32_t ComputeUnit::issue(std::uint64_t now) {
  const std::uint32_t first = last_issued_;
  std::uint32_t issued = 0;
  const auto takes_last_slot = [&](std::uint32_t context) {
    const bool sleeps = options_.skips_idle && wake_[context] > now;
    if (!sleeps && warps_[context].is_active && try_issue(context, now)) {
      last_issued_ = context;
      if (++issued == machine_.core.issue_width) return true;
    }
    wake_at_ = std::min(wake_at_, wake_[context]);
    return false;
  };
  if (machine_.core.scheduler == Scheduler::greedy_then_oldest) {
    bool is_full = takes_last_slot(first);
    for (std::size_t i = 0; !is_full && i < by_age_.size(); ++i) {
      is_full = by_age_[i] != first && takes_last_slot(by_age_[i]);
    }
    return issued;
  }
  const std::uint32_t before = std::min(first, used_contexts_ - 1);
  for (std::uint32_t i = 1; i <= used_contexts_; ++i) {
    if (takes_last_slot((before + i) % used_contexts_)) break;
  }
  return issued;
}

/// Tries to issue the warp's next instruction. Returns true if it issued. Sets the next attempt.
bool ComputeUnit::try_issue(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  const Blockage blockage = find_blockage(warp, now);
  warp.waiting = blockage.waiting;
  if (blockage.causes != 0) {
    wake_[context] = blockage.earliest;
    return false;
  }
  wake_[context] = now + 1;
  // The warp's last result became ready in this cycle, so the warp ends in the next cycle.
  if (is_at_end(warp)) return false;
  const Instruction& instruction = next_of(warp);
  warp.issued_at = now;
  if (observer_ != nullptr) {
    states_[context] = {
        .has_issued = true, .number = warp.number, .program = warp.program, .instruction = warp.at};
  }
  ++result_.warp_instructions;
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
      warp.hold_cause = cause::branch;
      warp.held_until = now + machine_.core.branch_cycles;
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
      return send_to_memory(context, instruction, now);
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
    warp.pending |= instruction.writes;
    warp.pending_loads |= instruction.writes;
    warp.ready[index_of(instruction.writes)] = never;
    warp.load[index_of(instruction.writes)] = load;
  }
  memory_.accept(now, instruction, context, execution_of(warp), load);
  if (!takes_lock) advance(warp, now);  // a warp repeats an acquire until it has the lock
}

void ComputeUnit::compute(Warp& warp, const Instruction& instruction, const FunctionUnits& units,
                          std::vector<std::uint64_t>& free, std::uint64_t now) {
  *std::min_element(free.begin(), free.end()) = now + units.interval_cycles;
  if (instruction.writes == 0) return;
  warp.pending |= instruction.writes;
  warp.pending_loads &= ~instruction.writes;
  warp.pending_special &= ~instruction.writes;
  if (instruction.operation == Operation::special) warp.pending_special |= instruction.writes;
  warp.ready[index_of(instruction.writes)] = now + units.latency_cycles;
}

// Reports to the observer.

void ComputeUnit::observe(std::uint64_t now) {
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    wake_at_ = std::min(wake_at_, observe_warp(context, now));
  }
}

/// Updates the reported state of a context. Returns the cycle until which the state is constant.
std::uint64_t ComputeUnit::observe_warp(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  if (warp.issued_at == now) return now + 1;
  if (!warp.is_active) {
    states_[context] = {.causes = cause::idle};
    return never;
  }
  const Blockage blockage = find_blockage(warp, now);
  states_[context] = {.causes = blockage.causes,
                      .load = blockage.load,
                      .number = warp.number,
                      .program = warp.program,
                      .instruction = warp.at};
  // A warp that reached its end in this cycle is removed only in the next cycle.
  return is_at_end(warp) && blockage.causes == 0 ? now + 1 : blockage.changes;
}

/// Reports the cycles since the last step. Before the next step, their number is unknown.
void ComputeUnit::tell_until(std::uint64_t now, bool is_last_flush) {
  if (now == told_until_) return;
  if (observer_->cycles) {
    observer_->cycles({.first = told_until_,
                       .cycles = now - told_until_,
                       .issued = issued_,
                       .is_last_flush = is_last_flush,
                       .warps = std::span(states_).first(used_contexts_)});
  }
  told_until_ = now;
}

void ComputeUnit::tell_idle(std::uint64_t until, bool is_last_flush) {
  if (observer_ == nullptr) return;
  issued_ = 0;
  std::fill(states_.begin(), states_.end(), WarpState{.causes = cause::idle});
  tell_until(until, is_last_flush);
}

}  // namespace clprobe::simulator
