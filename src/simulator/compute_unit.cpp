// SPDX-License-Identifier: Apache-2.0
// The clock: what happens in each cycle, and which cycles are passed over.
#include "simulator/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace clprobe::simulator {

namespace {

bool is_store(const Instruction& each) { return each.operation == Operation::store; }

}  // namespace

ComputeUnit::ComputeUnit(const Machine& machine, const Trace& trace, const Options& options,
                         Shared& shared, std::size_t unit, const Observer* observer)
    : machine_(machine),
      trace_(trace),
      options_(options),
      shared_(shared),
      gate_(shared.gates[unit]),
      observer_(observer),
      memory_(machine, trace, shared, unit, options.seed,
              !options.skips_idle   ? Watched::step_by_step
              : observer != nullptr ? Watched::by_observer
                                    : Watched::by_nobody),
      warps_(machine.core.warp_contexts),
      wake_(machine.core.warp_contexts, never),
      load_waiters_(machine.core.warp_contexts),
      other_waiters_(machine.core.warp_contexts),
      groups_(trace.groups.size()),
      last_issued_(static_cast<std::uint32_t>(machine.core.warp_contexts) - 1),
      alu_free_(machine.alu.count),
      special_free_(machine.special.count),
      states_(observer == nullptr ? 0 : machine.core.warp_contexts),
      told_(states_.size()),
      holds_until_(states_.size()),
      needing_{static_cast<std::uint32_t>(states_.size())},
      may_store_(has_any(trace, is_store)) {}

void ComputeUnit::run_ahead(bool is_ahead) {
  memory_.run_ahead(is_ahead);
  if (is_ahead) {
    gate_.close();
  } else {
    gate_.open();
  }
}

std::uint64_t ComputeUnit::take_served(std::uint64_t due) {
  if (!memory_.has_served()) return due;
  ahead_until_ = memory_.take_served();
  take_news(0);  // values that are all there later than any step so far
  if (phase_ != Phase::runs) return due;
  return std::min({wake_at_, memory_.next_event(), ahead_until_});
}

bool ComputeUnit::needs_order(std::uint64_t now) const {
  if (phase_ != Phase::runs || active_ == 0) return true;
  if (may_store_ && memory_.may_flush(now)) return true;
  if (unsettled_ == 0) return false;
  // Who ends makes room for a group, or is the last one.
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    const Warp& warp = warps_[context];
    if (wake_[context] <= now && warp.is_active && is_at_end(warp)) return true;
  }
  return false;
}

std::uint64_t ComputeUnit::step(std::uint64_t& now, std::uint64_t alone_until) {
  if (phase_ == Phase::ended) return never;
  memory_.process(now);
  if (phase_ == Phase::drains) return drain(now);
  const bool is_watched = observer_ != nullptr;
  if (!is_watched) take_news(now);
  // Mostly all warps sleep, and requests come and go.
  while (options_.skips_idle && now < wake_at_ && !memory_.has_news()) {
    if (is_watched && !observe_between(now)) break;
    const std::uint64_t next = std::min(wake_at_, memory_.next_event());
    const std::uint64_t end = std::min(alone_until, memory_.next_lock_answer());
    if (next >= end) return next;
    now =
        memory_.process(next, is_watched ? next + 1 : std::max(next + 1, std::min(end, wake_at_)));
    if (!is_watched) take_news(now);
  }
  if (is_watched) {
    tell_until(now);
    take_news(now);
  }
  settle(now);
  if (active_ == 0 && !sees_groups()) {
    last_warp_end_ = now;
    phase_ = Phase::drains;
    return drain(now);
  }
  wake_at_ = never;
  issued_ = issue(now, wake_at_);
  gate_.leave();
  // Nobody has looked at those that come behind the last one that issued.
  if (issued_ == machine_.core.issue_width || !options_.skips_idle) wake_at_ = now + 1;
  if (is_watched) {
    wake_at_ = std::min(wake_at_, observe(now));
    if (memory_.has_news()) return now + 1;
  } else {
    take_news(now + 1);
  }
  return std::min(wake_at_, memory_.next_event());
}

/// All warps have ended, but the copy engine may still be at work, and stores are on their way.
std::uint64_t ComputeUnit::drain(std::uint64_t now) {
  if (memory_.next_event() != never) return memory_.next_event();
  end_ = std::max(memory_.flush(now), memory_.copies().last_done());
  phase_ = Phase::ended;
  return never;
}

void ComputeUnit::take_news(std::uint64_t now) {
  for (const Completion& each : memory_.completions()) complete(each, now);
  memory_.completions().clear();
  if (memory_.take_room_again()) wake_for_room(now);
  if (memory_.take_copies_changed()) wake_for_copies(now);
}

void ComputeUnit::complete(const Completion& completion, std::uint64_t now) {
  Warp& warp = warps_[completion.context];
  forget_told(completion.context);
  if (completion.operation == Operation::acquire || completion.operation == Operation::release) {
    warp.held_until = completion.ready;
    warp.has_lock_now = completion.has_lock;
    if (completion.has_lock) ++unsettled_;
    if (completion.operation == Operation::acquire && !completion.has_lock) {
      warp.held_until += trace_.programs[warp.program][warp.at].count;
    }
    wake_[completion.context] = never;
    wake_by(completion.context, std::max(now, warp.held_until));
    return;
  }
  if (completion.load != 0 && observer_ != nullptr && observer_->served) {
    observer_->served(completion.load, completion.level);
  }
  if (completion.writes != 0) {
    warp.ready[static_cast<std::size_t>(std::countr_zero(completion.writes))] = completion.ready;
  }
  // No sooner can anything that it was waited for go on.
  wake_by(completion.context, std::max(now, completion.ready));
}

void ComputeUnit::wake_for_copies(std::uint64_t now) {
  for (std::size_t context = 0; context < used_contexts_; ++context) {
    if (warps_[context].waiting == Waiting::copies) wake_by(context, now);
  }
}

void ComputeUnit::wake_for_room(std::uint64_t now) {
  const auto wake = [&](std::size_t context) {
    wake_[context] = now;
    wake_at_ = now;
  };
  load_waiters_.for_each(wake);
  other_waiters_.for_each(wake);
  are_waiters_awake_ = true;
}

void ComputeUnit::close_for_waiters() {
  const bool has_load_room = memory_.accepts(Operation::load);
  const bool has_other_room = memory_.accepts(Operation::store);
  const auto close = [this](std::size_t context) { wake_[context] = never; };
  if (!has_load_room) load_waiters_.for_each(close);
  if (!has_other_room) other_waiters_.for_each(close);
  are_waiters_awake_ = has_load_room || has_other_room;
}

void ComputeUnit::wait_for(std::uint32_t context, Waiting waiting) {
  Warp& warp = warps_[context];
  // What it wants stays the same for as long as it waits.
  if (warp.waiting == Waiting::room) waiters_for(warp.wanted).erase(context);
  if (waiting == Waiting::room) waiters_for(warp.wanted).insert(context);
  warp.waiting = waiting;
}

bool ComputeUnit::only_waits() const {
  return std::all_of(warps_.begin(), warps_.end(), [this](const Warp& warp) {
    if (!warp.is_active) return true;
    const bool is_at_barrier = warp.hold_cause == cause::barrier && warp.held_until == never;
    return is_at_barrier || (!is_at_end(warp) && trace_.programs[warp.program][warp.at].operation ==
                                                     Operation::acquire);
  });
}

std::string ComputeUnit::find_standstill() const {
  const auto first =
      std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) { return warp.is_active; });
  if (first == warps_.end()) return {};
  return fmt::format(": warp {} stands at instruction {} of program {}", first->number, first->at,
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

}  // namespace clprobe::simulator
