// SPDX-License-Identifier: Apache-2.0
// The clock: what happens in each cycle, and which cycles are passed over.
#include "simulator/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace clprobe::simulator {

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
      load_waiters_(machine.core.warp_contexts),
      other_waiters_(machine.core.warp_contexts),
      groups_(trace.groups.size()),
      last_issued_(static_cast<std::uint32_t>(machine.core.warp_contexts) - 1),
      alu_free_(machine.alu.count),
      special_free_(machine.special.count),
      states_(observer == nullptr ? 0 : machine.core.warp_contexts),
      told_(states_.size()),
      holds_until_(states_.size()),
      needing_{static_cast<std::uint32_t>(states_.size())} {}

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
    const std::uint64_t end = std::min(alone_until, shared_.locks.next());
    if (next >= end) return next;
    now = next;
    memory_.process(now);
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

ComputeUnit::CopyState ComputeUnit::find_copy_state() const {
  return {.changes = memory_.copies().changes(), .is_blocked = memory_.copies().is_blocked()};
}

std::uint64_t ComputeUnit::observe_warp(std::uint32_t context, std::uint64_t now) {
  Told& told = told_[context];
  if (told.issued_at == now) {
    need(told, Facility::none);
    told.depends_on_copies = false;
    changed_.push_back(context);
    return now + 1;
  }
  Warp& warp = warps_[context];
  WarpState state{.causes = cause::idle};
  Blockage blockage;
  if (warp.is_active) {
    blockage = find_blockage<true>(warp, now);
    state = {.causes = blockage.causes,
             .needs = blockage.needs,
             .load = blockage.load,
             .number = warp.number,
             .program = warp.program,
             .instruction = warp.at};
    // An end that could not be settled in this cycle is in the next one.
    if (is_at_end(warp) && blockage.causes == 0) blockage.changes = now + 1;
  }
  need(told, state.needs);
  told.depends_on_copies = blockage.depends_on_copies;
  if (state != states_[context]) {
    states_[context] = state;
    changed_.push_back(context);
  }
  return blockage.changes;
}

void ComputeUnit::need(Told& told, Facility facility) {
  const auto bit = [](Facility each) { return each == Facility::none ? 0U : 1U << place_of(each); };
  if (--needing_[place_of(told.needs)] == 0) needed_ &= ~bit(told.needs);
  if (needing_[place_of(facility)]++ == 0) needed_ |= bit(facility);
  told.needs = facility;
}

/// Forgets how long warps hold whose state depends on what has changed; when every cycle is
/// stepped, of all warps, so that tests see whether one was passed over.
void ComputeUnit::forget_changed() {
  const CopyState before = std::exchange(copy_state_, find_copy_state());
  if (options_.skips_idle && copy_state_ == before) return;
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    if (!options_.skips_idle || told_[context].depends_on_copies) holds_until_[context] = 0;
  }
}

std::uint64_t ComputeUnit::observe(std::uint64_t now) {
  forget_changed();
  changed_.clear();
  std::uint64_t first_change = never;
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    std::uint64_t& until = holds_until_[context];
    if (until <= now) until = observe_warp(context, now);
    first_change = std::min(first_change, until);
  }
  return std::min(first_change, find_all_busy(now, busy_));
}

bool ComputeUnit::observe_between(std::uint64_t now) {
  if (copy_state_ != find_copy_state()) return false;
  Busy busy;
  wake_at_ = std::min(wake_at_, find_all_busy(now, busy));
  if (busy == busy_) return true;
  tell_until(now);
  busy_ = busy;
  changed_.clear();
  return true;
}

void ComputeUnit::tell(std::uint64_t first, std::uint64_t cycles, std::uint32_t issued,
                       bool is_last_flush) {
  if (!observer_->cycles) return;
  observer_->cycles({.first = first,
                     .cycles = cycles,
                     .issued = issued,
                     .is_last_flush = is_last_flush,
                     .busy = busy_,
                     .warps = std::span(states_).first(used_contexts_),
                     .changed = changed_});
}

void ComputeUnit::tell_until(std::uint64_t now) {
  if (observer_ == nullptr || phase_ != Phase::runs || now == told_until_) return;
  tell(told_until_, now - told_until_, issued_, false);
  told_until_ = now;
}

void ComputeUnit::tell_idle(std::uint64_t until, bool is_last_flush) {
  if (observer_ == nullptr || until == told_until_) return;
  changed_.clear();
  busy_ = {};
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    states_[context] = {.causes = cause::idle};
    changed_.push_back(context);
  }
  tell(told_until_, until - told_until_, 0, is_last_flush);
  told_until_ = until;
}

}  // namespace clprobe::simulator
