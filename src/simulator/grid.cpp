// SPDX-License-Identifier: Apache-2.0
// The clock: which cycles there are, and which are passed over since nothing can change in them.
#include "simulator/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "simulator/meeting.hpp"
#include "simulator/pace.hpp"

namespace clprobe::simulator {
namespace {

/// Of units, some milliseconds: long against the start of threads, short against what is worth it.
constexpr std::uint64_t stretch_steps = 1U << 14U;

/// However few steps there have been in them.
constexpr double max_stretch_cycles = 1e12;

/// In how many threads units can be stepped. Where lines are owned, a unit takes them out of the
/// first level of another one, which it looks at in nearly every cycle: nothing could run apart.
std::size_t max_threads_for(const Machine& machine, std::uint64_t units, std::uint64_t max_cycles) {
  const bool owns_lines = machine.sharing.coherence == Coherence::ownership && machine.l1.bytes > 0;
  const bool has_moments = max_cycles < end_of_time / (2 * units) - 1;
  return owns_lines || !has_moments ? 1 : static_cast<std::size_t>(units);
}

/// Who asks for a lock asks again and again, so that a standstill looks like work. So long no lock
/// is held by those that are not simulated, nor is a flush or an answer on its way.
std::uint64_t max_spin_cycles_for(const Trace& trace) {
  std::uint64_t longest = 0;
  for (const Lock& lock : trace.locks) longest = std::max(longest, lock.held_elsewhere.high);
  for (const Program& program : trace.programs) {
    for (const Instruction& each : program) {
      if (each.operation == Operation::acquire) longest = std::max(longest, each.count);
    }
  }
  constexpr std::uint64_t way_cycles = 1U << 20U;
  return way_cycles + 2 * longest;
}

}  // namespace

Grid::Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
           std::span<const Observer* const> observers)
    : options_(options),
      shared_(machine, trace, units, options.seed),
      seats_(units),
      max_threads_(max_threads_for(machine, units, options.max_cycles)),
      max_spin_cycles_(max_spin_cycles_for(trace)) {
  for (std::size_t unit = 0; unit < units; ++unit) {
    seats_[unit].unit = std::make_unique<ComputeUnit>(
        machine, trace, options, shared_, unit, observers.empty() ? nullptr : observers[unit]);
  }
  dispatch();
  const bool is_watched = std::any_of(observers.begin(), observers.end(),
                                      [](const Observer* each) { return each != nullptr; });
  const std::uint64_t window = window_of(machine, trace, units, options, is_watched);
  if (window > 0) lookahead_.emplace(seats_, window);
}

std::vector<Result> Grid::run() {
  // Step by step, too, nothing may stand still for ever.
  const std::uint64_t end = options_.max_cycles == never ? never : options_.max_cycles + 1;
  if (max_threads_ == 1 || options_.cores == nullptr) {
    // Units that run ahead have no locks.
    const std::uint64_t max_steps = lookahead_ ? never : stretch_steps;
    do {
      run_alone(end, max_steps);
      refuse_standstill();
    } while (next() < end);
  } else {
    run_by_pace(end);
  }
  if (next() != never) report_deadlock(options_.max_cycles);
  if (!has_ended()) report_deadlock(last_);
  return finish();
}

void Grid::run_until(std::uint64_t end, std::size_t threads, Progress::Clock::time_point patience) {
  if (std::min(threads, max_threads_) == 1) {
    run_alone(end, never);
  } else {
    run_in_threads(end, std::min(threads, max_threads_), patience);
  }
}

void Grid::run_by_pace(std::uint64_t end) {
  Pace pace;
  double cycles = 1.0;  // that a stretch is likely to have
  for (std::uint64_t first = next(); first < end; first = next()) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t stretch_end =
        first + std::min(end - first, static_cast<std::uint64_t>(cycles));
    // Of the cores that others leave free, for a stretch.
    const std::size_t taken = pace.uses_threads() ? options_.cores->take(max_threads_ - 1) : 0;
    const std::uint64_t steps =
        taken == 0 ? run_alone(end, stretch_steps)
                   : run_in_threads(stretch_end, 1 + taken, began + pace.patience(stretch_steps));
    options_.cores->give_back(taken);
    refuse_standstill();
    pace.note(taken > 0, steps, std::chrono::steady_clock::now() - began);
    if (steps == 0) continue;
    cycles = static_cast<double>(last_ - first + 1) * static_cast<double>(stretch_steps) /
             static_cast<double>(steps);
    cycles = std::clamp(cycles, 1.0, max_stretch_cycles);
  }
}

std::uint64_t Grid::run_ahead(std::uint64_t end, std::size_t threads, std::uint64_t max_steps,
                              Progress::Clock::time_point patience) {
  const std::uint64_t before = lookahead_->steps();
  lookahead_->run(end, threads, max_steps, patience);
  last_ = std::max(last_, lookahead_->last());
  return lookahead_->steps() - before;
}

std::uint64_t Grid::run_alone(std::uint64_t end, std::uint64_t max_steps) {
  if (lookahead_) return run_ahead(end, 1, max_steps, Progress::Clock::time_point::max());
  Stepper stepper(shared_, seats_);
  stepper.run(end, max_steps);
  last_ = std::max(last_, stepper.last());
  return stepper.steps();
}

std::uint64_t Grid::run_in_threads(std::uint64_t end, std::size_t threads,
                                   Progress::Clock::time_point patience) {
  if (lookahead_) return run_ahead(end, threads, never, patience);
  Progress progress(threads, Stepper::moments_of_cycle(threads, seats_.size()), patience);
  std::vector<Stepper> steppers;
  steppers.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) steppers.emplace_back(shared_, seats_, progress, i);
  const auto act = [&](std::size_t thread) { steppers[thread].run_guarded(end); };
  if (!run_together(threads, act)) return run_alone(end, never);

  std::uint64_t steps = 0;
  const Stepper* failed = nullptr;
  for (const Stepper& each : steppers) {
    steps += each.steps();
    last_ = std::max(last_, each.last());
    const bool is_first = failed == nullptr || each.moment() < failed->moment();
    if (each.failure() && is_first) failed = &each;
  }
  if (failed != nullptr) std::rethrow_exception(failed->failure());
  return steps;
}

/// Work-groups in turn to all units: none has a second one before all have one.
void Grid::dispatch() {
  bool has_room = true;
  while (has_room) {
    has_room = false;
    for (const Seat& seat : seats_) {
      if (seat.unit->dispatch_one(0)) has_room = true;
    }
  }
}

std::uint64_t Grid::next() const {
  std::uint64_t first = never;
  for (const Seat& seat : seats_) first = std::min(first, seat.next());
  return first;
}

bool Grid::has_ended() const {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const Seat& seat) { return seat.unit->has_ended(); });
}

void Grid::refuse_standstill() const {
  std::uint64_t progress = 0;
  for (const Seat& seat : seats_) progress = std::max(progress, seat.unit->last_progress());
  if (last_ <= progress + max_spin_cycles_) return;
  const bool is_standstill = std::all_of(seats_.begin(), seats_.end(),
                                         [](const Seat& seat) { return seat.unit->only_waits(); });
  if (is_standstill) report_deadlock(progress);
}

void Grid::report_deadlock(std::uint64_t now) const {
  std::string where;
  for (const Seat& seat : seats_) {
    if (where.empty()) where = seat.unit->find_standstill();
  }
  throw Deadlock(fmt::format("no progress after cycle {}{}", now, where));
}

std::vector<Result> Grid::finish() {
  std::uint64_t last_warp_end = 0;
  std::uint64_t end = 0;
  for (const Seat& seat : seats_) {
    last_warp_end = std::max(last_warp_end, seat.unit->last_warp_end());
    end = std::max(end, seat.unit->end());
  }
  std::vector<Result> results;
  for (const Seat& seat : seats_) results.push_back(seat.unit->finish(last_warp_end, end));
  return results;
}

}  // namespace clprobe::simulator
