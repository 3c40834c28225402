// SPDX-License-Identifier: Apache-2.0
#include "simulator/stepper.hpp"

#include <algorithm>

namespace clprobe::simulator {

Stepper::Stepper(Shared& shared, std::vector<Seat>& seats)
    : shared_(shared), places_(1 + seats.size()) {
  for (std::size_t unit = 0; unit < seats.size(); ++unit) {
    own_.push_back({&seats[unit], &shared.gates[unit], unit});
    shared.gates[unit].open();
  }
}

Stepper::Stepper(Shared& shared, std::vector<Seat>& seats, Progress& progress, std::size_t thread)
    : shared_(shared),
      progress_(&progress),
      thread_(thread),
      threads_(progress.threads()),
      places_(moments_of_cycle(threads_, seats.size())) {
  // Neighbours, who then follow each other in a cycle without waiting for another thread.
  const std::size_t end = (thread + 1) * seats.size() / threads_;
  for (std::size_t unit = thread * seats.size() / threads_; unit < end; ++unit) {
    own_.push_back({&seats[unit], &shared.gates[unit], unit});
    shared.gates[unit].guard(progress, thread);
  }
}

std::size_t Stepper::moments_of_cycle(std::size_t threads, std::size_t units) {
  return threads + units;
}

std::uint64_t Stepper::next() const {
  std::uint64_t first = never;
  for (const Own& each : own_) first = std::min(first, each.seat->next());
  return first;
}

void Stepper::run(std::uint64_t end, std::uint64_t max_steps) {
  for (const std::uint64_t before = steps_; steps_ - before < max_steps;) {
    const std::uint64_t now = next();
    if (now >= end) return;
    arrive(moment_of(now, thread_));
    if (progress_ != nullptr &&
        (progress_->has_failed_before(moment_) || progress_->ends_before(now))) {
      return;
    }
    answer_locks(now);
    step_units(now);
    last_ = now;
    if (is_alone()) step_alone(end, max_steps - (steps_ - before));
  }
}

void Stepper::run_guarded(std::uint64_t end) {
  try {
    run(end);
  } catch (const Stopped&) {
    // Another one has failed earlier in time.
  } catch (...) {
    failure_ = std::current_exception();
    progress_->fail(moment_);
  }
  progress_->reach(thread_, end_of_time);
}

void Stepper::arrive(Moment moment) {
  moment_ = moment;
  if (progress_ != nullptr) progress_->reach(thread_, moment);
}

void Stepper::answer_locks(std::uint64_t now) {
  const bool has_answer = std::any_of(own_.begin(), own_.end(), [now](const Own& each) {
    return each.seat->unit->next_lock_answer() <= now;
  });
  if (!has_answer) return;
  if (progress_ != nullptr) progress_->wait(thread_, moment_);
  // Of all units: those of other threads find theirs when they are as far.
  shared_.locks.process(now);
  for (const Own& each : own_) {
    if (each.seat->unit->next_lock_answer() > now) continue;
    each.seat->unit->take_lock_answers();
    each.seat->due = now;
  }
}

void Stepper::step_units(std::uint64_t now) {
  for (const Own& each : own_) {
    if (each.seat->due > now) continue;
    arrive(moment_of(now, threads_ + each.number));
    each.gate->arrive(moment_);
    std::uint64_t cycle = now;
    each.seat->due = each.seat->unit->step(cycle);
    ++steps_;
  }
}

/// Up to where locks have an answer. Who has no others to look after needs nothing but its cycles.
void Stepper::step_alone(std::uint64_t end, std::uint64_t max_steps) {
  Seat& seat = *own_.front().seat;
  std::uint64_t steps = 0;
  for (; steps < max_steps && seat.due < std::min(end, seat.unit->next_lock_answer()); ++steps) {
    last_ = seat.due;
    seat.due = seat.unit->step(last_, end);
  }
  steps_ += steps;
}

}  // namespace clprobe::simulator
