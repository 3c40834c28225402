// SPDX-License-Identifier: Apache-2.0
// The clock: what happens in each cycle, which cycles are passed over, and who is told.
#include "simulator/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace clprobe::simulator {

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
    if (next > options_.max_cycles) report_deadlock(options_.max_cycles);
    now = next;
  }
}

/// While no warp can issue, lets the memory act until it wakes one.
std::uint64_t ComputeUnit::pass_idle_cycles(std::uint64_t now, std::uint64_t wake) {
  if (memory_.has_news()) return std::min(wake, now + 1);
  for (std::uint64_t next = memory_.next_event(); next < wake; next = memory_.next_event()) {
    if (next > options_.max_cycles) return next;
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
  end = std::max(memory_.flush(end), memory_.copies().last_done());
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
