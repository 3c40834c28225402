// SPDX-License-Identifier: Apache-2.0
// Warps from their dispatch through their programs to their end, with barriers and locks between.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

}  // namespace

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
  Warp& warp = warps_[context];
  warp.is_active = true;
  warp.has_lock_now = false;
  warp.waiting = Waiting::nothing;
  warp.hold_cause = cause::warp_start;
  warp.lanes = work.lanes;
  warp.number = work.number;
  warp.program = work.program;
  warp.at = 0;
  warp.locks_held = 0;
  warp.group = group;
  warp.serial = ++serial_;
  warp.held_until = now + machine_.instructions.start_cycles;
  warp.pending = 0;
  warp.pending_loads = 0;
  warp.turns.assign(trace_.programs[work.program].size(), 0);
  wake_[context] = warp.held_until;
  forget_told(context);
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
      forget_told(context);
      advance(warp, now);
    }
    if (is_at_end(warp) && find_blockage<false>(warp, now).causes == 0) end_warp(context, now);
  }
  if (!has_room_) return;
  has_room_ = false;
  while (dispatch_one(now)) {
  }
}

void ComputeUnit::end_warp(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  if (warp.locks_held > 0) {
    throw Deadlock(fmt::format("warp {} holds a lock when it ends at cycle {}", warp.number, now));
  }
  warp.is_active = false;
  warp.waiting = Waiting::nothing;
  wake_[context] = never;
  forget_told(context);
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
    forget_told(context);
  }
}

/// What is shared out while running is shared by all units.
std::uint32_t ComputeUnit::choose_program(const Warp& warp, std::uint64_t now) {
  return trace_.next_program ? trace_.next_program(warp.number, now) : none;
}

void ComputeUnit::advance(Warp& warp, std::uint64_t now) {
  last_progress_ = now;
  ++warp.turns[warp.at++];
  for (;;) {
    const Program& program = trace_.programs[warp.program];
    if (warp.at == program.size()) {
      const std::uint32_t next = choose_program(warp, now);
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

}  // namespace clprobe::simulator
