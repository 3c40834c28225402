// SPDX-License-Identifier: Apache-2.0
// What observers are told: why each warp does not issue. Most warps are as they were in the cycle
// before, and are not looked at; where a load/store unit goes on to its next request, none is.
#include <algorithm>
#include <bit>
#include <utility>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {

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

/// Those whose state depends on what has changed, and step by step all, so that tests see whether
/// anything was passed over.
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
