// SPDX-License-Identifier: Apache-2.0
// Compute units in one clock that share their second level, main memory and locks. Cycles in which
// nothing can change are passed over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

/// The longest time for which locks are held by units that are not simulated, or a flush or an
/// answer is on its way. Warps that want a lock ask again and again, so that a standstill looks
/// like work.
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

class Grid {
 public:
  /// Keeps references to all. `observers`: one per unit, or none at all.
  Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
       std::span<const Observer* const> observers)
      : shared_(machine, trace, units, options.seed),
        seats_(units),
        options_(options),
        max_spin_cycles_(max_spin_cycles_for(trace)) {
    for (std::size_t unit = 0; unit < units; ++unit) {
      seats_[unit].unit = std::make_unique<ComputeUnit>(
          machine, trace, options, shared_, unit, observers.empty() ? nullptr : observers[unit]);
    }
    dispatch();
  }

  std::vector<Result> run() {
    const std::uint64_t end = options_.max_cycles == never ? never : options_.max_cycles + 1;
    while (run_stretch(end)) refuse_to_go_on();
    if (next() != never) report_deadlock(options_.max_cycles);
    const bool have_ended = std::all_of(seats_.begin(), seats_.end(),
                                        [](const Seat& seat) { return seat.unit->has_ended(); });
    if (!have_ended) report_deadlock(last_);
    return finish();
  }

 private:
  /// A compute unit and the cycle in which it has to be stepped.
  struct Seat {
    std::unique_ptr<ComputeUnit> unit{};
    std::uint64_t due{0};
  };

  /// Deals work-groups to the units in turn: none has a second one before all have one.
  void dispatch() {
    bool has_room = true;
    while (has_room) {
      has_room = false;
      for (const Seat& seat : seats_) {
        if (seat.unit->dispatch_one(0)) has_room = true;
      }
    }
  }

  /// The first cycle in which anything is to be done.
  [[nodiscard]] std::uint64_t next() const {
    std::uint64_t first = shared_.locks.next();
    for (const Seat& seat : seats_) first = std::min(first, seat.due);
    return first;
  }

  /// Does some thousand steps before cycle `end`. Returns false when that has come.
  bool run_stretch(std::uint64_t end) {
    constexpr std::uint64_t stretch_steps = 1U << 14U;
    for (std::uint64_t steps = 0; steps < stretch_steps; ++steps) {
      const std::uint64_t now = next();
      if (now >= end) return false;
      answer_locks(now);
      for (Seat& seat : seats_) {
        if (seat.due > now) continue;
        last_ = now;
        seat.due = seat.unit->step(now);
      }
    }
    return true;
  }

  /// Each cycle begins with the locks.
  void answer_locks(std::uint64_t now) {
    if (shared_.locks.next() > now) return;
    shared_.locks.process(now, [&](const LockRequest& request) {
      Seat& seat = seats_[request.unit];
      seat.unit->take(request.completion);
      seat.due = now;
    });
  }

  /// Throws Cancelled, and Deadlock where nobody is left who could release the locks that all
  /// others want.
  void refuse_to_go_on() const {
    if (options_.cancelled && options_.cancelled()) throw Cancelled("interrupted");
    std::uint64_t progress = 0;
    for (const Seat& seat : seats_) progress = std::max(progress, seat.unit->last_progress());
    if (last_ <= progress + max_spin_cycles_) return;
    const bool is_standstill = std::all_of(
        seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.unit->only_waits(); });
    if (is_standstill) report_deadlock(progress);
  }

  [[noreturn]] void report_deadlock(std::uint64_t now) const {
    std::string where;
    for (const Seat& seat : seats_) {
      if (where.empty()) where = seat.unit->find_standstill();
    }
    throw Deadlock(fmt::format("no progress after cycle {}{}", now, where));
  }

  std::vector<Result> finish() {
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

  Shared shared_;
  std::vector<Seat> seats_;
  Options options_;
  std::uint64_t max_spin_cycles_;  // a warp that is to have a lock has it sooner
  std::uint64_t last_{0};          // the last cycle in which any of them did anything
};

}  // namespace

Result simulate(const Machine& machine, const Trace& trace, const Options& options,
                const Observer* observer) {
  return simulate_units(machine, trace, 1, options, std::span(&observer, 1)).front();
}

std::vector<Result> simulate_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                                   const Options& options,
                                   std::span<const Observer* const> observers) {
  check(machine);
  check(trace, machine);
  return Grid(machine, trace, units, options, observers).run();
}

Result sum_of(std::vector<Result> units) {
  Result sum = std::move(units.front());
  for (std::size_t i = 1; i < units.size(); ++i) {
    const Result& each = units[i];
    sum.warp_instructions += each.warp_instructions;
    sum.full_table_cycles += each.full_table_cycles;
    sum.max_pending = std::max(sum.max_pending, each.max_pending);
    sum.lines_written += each.lines_written;
    for (std::size_t level = 0; level < level_count; ++level) {
      sum.served_by.at(level) += each.served_by.at(level);
    }
    sum.clock_reads.insert(sum.clock_reads.end(), each.clock_reads.begin(), each.clock_reads.end());
  }
  // The reads of one unit are in the order in which they issued, which the sort keeps.
  std::stable_sort(sum.clock_reads.begin(), sum.clock_reads.end(),
                   [](const ClockRead& a, const ClockRead& b) { return a.cycle < b.cycle; });
  return sum;
}

}  // namespace clprobe::simulator
