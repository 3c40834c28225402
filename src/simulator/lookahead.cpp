// SPDX-License-Identifier: Apache-2.0
#include "simulator/lookahead.hpp"

#include <algorithm>
#include <stdexcept>

namespace clprobe::simulator {
namespace {

/// Shorter windows are over before a warp has gone on.
constexpr std::uint64_t min_window_cycles = 16;

/// Steps in a window, of all units, that are worth a meeting of threads before and behind it, and
/// that units move to other cores. Of four units a chase has 8, loads of 32 lines 33, whose
/// requests one thread serves anyway, a stream 196 and arithmetic 1,052: of these in two threads
/// only the last is faster than in one.
constexpr std::uint64_t min_shared_steps = 400;

/// Whether an instruction touches more of what is shared than lines that it reads, and lines that
/// it writes from the store buffer.
bool needs_others(const Instruction& instruction) {
  switch (instruction.operation) {
    case Operation::atomic:
    case Operation::acquire:
    case Operation::release:
    case Operation::copy_in:
    case Operation::copy_out:
    case Operation::copy_wait:
      return true;
    default:
      return instruction.is_mapped || instruction.is_written_elsewhere;
  }
}

bool may_run_ahead(const Trace& trace) {
  return !trace.next_program && !has_any(trace, needs_others);
}

/// A value is there some time after its request at the earliest, wherever it is found; and loads go
/// one after another, each line of which has an MSHR.
bool may_run_ahead(const Machine& machine) {
  return machine.pending.kind == PendingKind::mshr && machine.load_store.units == 1 &&
         machine.l1.latency_cycles > 0 && machine.local.latency_cycles > 0 &&
         (machine.sharing.coherence == Coherence::gpu || machine.l1.bytes == 0);
}

}  // namespace

std::uint64_t window_of(const Machine& machine, const Trace& trace, std::uint64_t units,
                        const Options& options, bool is_watched) {
  if (units == 1 || is_watched || !options.skips_idle) return 0;
  if (!may_run_ahead(machine) || !may_run_ahead(trace)) return 0;
  const std::uint64_t window =
      std::min(machine.l2.latency_cycles.low, machine.memory.latency_cycles.low);
  return window < min_window_cycles ? 0 : window;
}

Lookahead::Lookahead(std::vector<Seat>& seats, std::uint64_t window_cycles)
    : seats_(seats),
      window_cycles_(window_cycles),
      all_{.end = seats.size()},
      unserved_(seats.size()) {
  for (const Seat& seat : seats) seat.unit->run_ahead(true);
}

void Lookahead::run(std::uint64_t end, std::size_t threads, std::uint64_t max_steps,
                    Clock::time_point patience) {
  end_ = end;
  steps_before_ = count_steps();
  max_steps_ = max_steps;
  patience_ = patience;
  share_out(threads);
  Meeting meeting(threads);
  const auto act = [&](std::size_t thread) { run_thread(shares_[thread], meeting); };
  if (threads == 1 || !run_together(threads, act)) {
    share_out(1);
    lead();
  }
  if (all_.failure) std::rethrow_exception(all_.failure);
  for (const Share& each : shares_) {
    if (each.failure) std::rethrow_exception(each.failure);
  }
}

void Lookahead::share_out(std::size_t threads) {
  all_.steps = count_steps();
  all_.last = last();
  shares_.clear();
  for (std::size_t i = 0; i < threads && threads > 1; ++i) {
    shares_.push_back(
        {.first = i * seats_.size() / threads, .end = (i + 1) * seats_.size() / threads});
  }
}

void Lookahead::run_thread(Share& own, Meeting& meeting) {
  const bool leads = &own == &shares_.front();
  for (;;) {
    if (leads) {
      meeting.begin();
      lead();
      meeting.end();
    } else {
      meeting.attend();
    }
    if (!goes_on_) return;
    try {
      run_units(own);
    } catch (...) {
      own.failure = std::current_exception();
    }
  }
}

void Lookahead::lead() {
  try {
    for (;;) {
      goes_on_ = begin_window();
      const bool is_worth_sharing = !shares_.empty() && window_steps_ >= min_shared_steps;
      if (goes_on_ && is_worth_sharing) ++shared_windows_;
      if (!goes_on_ || is_worth_sharing) return;
      run_units(all_);
    }
  } catch (...) {
    all_.failure = std::current_exception();
    goes_on_ = false;
  }
}

bool Lookahead::begin_window() {
  const bool has_failed = std::any_of(shares_.begin(), shares_.end(),
                                      [](const Share& each) { return each.failure != nullptr; });
  if (has_failed) return false;
  window_steps_ = count_steps() - counted_steps_;
  counted_steps_ += window_steps_;
  const auto has_waited = [this] {
    return patience_ != Clock::time_point::max() && Clock::now() > patience_;
  };
  if (count_steps() > steps_before_ && has_waited()) return false;
  for (;;) {
    serve();
    Seat& seat = seats_[find_first()];
    const std::uint64_t now = seat.due;
    if (now >= end_ || count_steps() - steps_before_ >= max_steps_) return false;
    take_served(seat);
    if (seat.due != now) continue;
    if (!seat.unit->needs_order(now)) {
      window_end_ = now + std::min(window_cycles_, end_ - now);
      return true;
    }
    step_in_order(seat);
  }
}

void Lookahead::run_units(Share& share) {
  for (std::size_t i = share.first; i < share.end; ++i) {
    Seat& seat = seats_[i];
    take_served(seat);
    const std::uint64_t end = std::min(window_end_, seat.unit->ahead_until());
    while (seat.due < end && !seat.unit->needs_order(seat.due)) {
      std::uint64_t now = seat.due;
      seat.due = seat.unit->step_ahead(now, end);
      share.last = std::max(share.last, now);
      seat.done_until = now + 1;
      ++share.steps;
    }
  }
}

/// As far as nobody can send anything before it: a unit acts when it is due, or when an answer
/// comes.
void Lookahead::serve() {
  std::size_t first = find_first();
  std::uint64_t first_due = seats_[first].due;
  for (std::size_t unit = 0; unit < seats_.size(); ++unit) {
    unserved_[unit] = seats_[unit].unit->next_unserved();
  }
  for (;;) {
    const std::uint64_t cycle = *std::min_element(unserved_.begin(), unserved_.end());
    if (cycle > first_due || cycle == never) return;
    for (std::size_t unit = 0; unit < seats_.size(); ++unit) {
      Seat& seat = seats_[unit];
      while (unserved_[unit] == cycle) {
        if (cycle == first_due && unit >= first) return;
        seat.due = std::min(seat.due, seat.unit->serve_next());
        unserved_[unit] = seat.unit->next_unserved();
        if (seat.due < first_due || (seat.due == first_due && unit < first)) {
          first = unit;
          first_due = seat.due;
        }
      }
    }
  }
}

void Lookahead::take_served(Seat& seat) {
  seat.due = seat.unit->take_served(seat.due);
  if (seat.due < seat.done_until) throw std::logic_error("an answer came to where a unit has been");
}

void Lookahead::step_in_order(Seat& seat) {
  std::uint64_t now = seat.due;
  seat.done_until = now + 1;
  all_.last = std::max(all_.last, now);
  ++all_.steps;
  ++counted_steps_;  // which threads cannot share
  seat.unit->run_ahead(false);
  seat.due = seat.unit->step(now);
  seat.unit->run_ahead(true);
}

std::size_t Lookahead::find_first() const {
  std::size_t first = 0;
  for (std::size_t unit = 1; unit < seats_.size(); ++unit) {
    if (seats_[unit].due < seats_[first].due) first = unit;
  }
  return first;
}

std::uint64_t Lookahead::count_steps() const {
  std::uint64_t steps = all_.steps;
  for (const Share& each : shares_) steps += each.steps;
  return steps;
}

std::uint64_t Lookahead::last() const {
  std::uint64_t last = all_.last;
  for (const Share& each : shares_) last = std::max(last, each.last);
  return last;
}

}  // namespace clprobe::simulator
