// SPDX-License-Identifier: Apache-2.0
// Compute units with a common clock, which share the second level, main memory and locks. The
// simulation skips cycles without changes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

/// Returns the maximum number of cycles without progress that is no deadlock. In this time, compute
/// units outside the simulation release their locks, and flushes and answers end. A limit is needed
/// because warps that wait for a lock repeat their attempts, so a deadlock looks like work.
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
  /// Keeps references to all arguments except `options`. `observers`: one per unit, or empty.
  Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
       std::span<const Observer* const> observers)
      : shared_(machine, trace, units, options.seed),
        units_(units),
        options_(options),
        max_spin_cycles_(max_spin_cycles_for(trace)) {
    for (std::size_t unit = 0; unit < units; ++unit) {
      units_[unit].unit = std::make_unique<ComputeUnit>(
          machine, trace, options, shared_, unit, observers.empty() ? nullptr : observers[unit]);
    }
    dispatch();
  }

  std::vector<Result> run() {
    const std::uint64_t end = options_.max_cycles == never ? never : options_.max_cycles + 1;
    while (run_stretch(end)) refuse_to_go_on();
    if (next() != never) report_deadlock(options_.max_cycles);
    const bool have_ended = std::all_of(
        units_.begin(), units_.end(), [](const TimedUnit& each) { return each.unit->has_ended(); });
    if (!have_ended) report_deadlock(last_);
    return finish();
  }

 private:
  /// A compute unit with the cycle of its next step.
  struct TimedUnit {
    std::unique_ptr<ComputeUnit> unit{};
    std::uint64_t due{0};
  };

  /// Starts work-groups on the units alternately, until the next group fits into no unit.
  void dispatch() {
    bool has_room = true;
    while (has_room) {
      has_room = false;
      for (const TimedUnit& each : units_) {
        if (each.unit->dispatch_one(0)) has_room = true;
      }
    }
  }

  /// Returns the first cycle in which the state of a unit or a lock can change.
  [[nodiscard]] std::uint64_t next() const {
    std::uint64_t first = shared_.locks.next();
    for (const TimedUnit& each : units_) first = std::min(first, each.due);
    return first;
  }

  /// Simulates up to 2^14 steps. Returns false if no further change occurs before cycle `end`.
  bool run_stretch(std::uint64_t end) {
    constexpr std::uint64_t stretch_steps = 1U << 14U;
    for (std::uint64_t steps = 0; steps < stretch_steps; ++steps) {
      const std::uint64_t now = next();
      if (now >= end) return false;
      answer_locks(now);
      for (TimedUnit& each : units_) {
        if (each.due > now) continue;
        last_ = now;
        each.due = each.unit->step(now);
      }
    }
    return true;
  }

  /// Serves the lock requests that have arrived. Called at the beginning of a cycle.
  void answer_locks(std::uint64_t now) {
    if (shared_.locks.next() > now) return;
    shared_.locks.process(now, [&](const LockRequest& request) {
      TimedUnit& each = units_[request.unit];
      each.unit->take(request.completion);
      each.due = now;
    });
  }

  /// Throws Cancelled if the user cancels, or Deadlock if all warps wait for locks or at barriers
  /// and none has advanced for more than `max_spin_cycles_`.
  void refuse_to_go_on() const {
    if (options_.cancelled && options_.cancelled()) throw Cancelled("interrupted");
    std::uint64_t progress = 0;
    for (const TimedUnit& each : units_) progress = std::max(progress, each.unit->last_progress());
    if (last_ <= progress + max_spin_cycles_) return;
    const bool is_standstill = std::all_of(units_.begin(), units_.end(), [](const TimedUnit& each) {
      return each.unit->only_waits();
    });
    if (is_standstill) report_deadlock(progress);
  }

  [[noreturn]] void report_deadlock(std::uint64_t now) const {
    std::string where;
    for (const TimedUnit& each : units_) {
      if (where.empty()) where = each.unit->find_standstill();
    }
    throw Deadlock(fmt::format("no progress after cycle {}{}", now, where));
  }

  std::vector<Result> finish() {
    std::uint64_t last_warp_end = 0;
    std::uint64_t end = 0;
    for (const TimedUnit& each : units_) {
      last_warp_end = std::max(last_warp_end, each.unit->last_warp_end());
      end = std::max(end, each.unit->end());
    }
    std::vector<Result> results;
    for (const TimedUnit& each : units_) results.push_back(each.unit->finish(last_warp_end, end));
    return results;
  }

  Shared shared_;
  std::vector<TimedUnit> units_;
  Options options_;
  std::uint64_t max_spin_cycles_;  // within this time, a warp gets a free lock
  std::uint64_t last_{0};          // last cycle in which a unit changed its state
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
  // The sort is stable, because reads of one unit are in the order of issue.
  std::stable_sort(sum.clock_reads.begin(), sum.clock_reads.end(),
                   [](const ClockRead& a, const ClockRead& b) { return a.cycle < b.cycle; });
  return sum;
}

}  // namespace clprobe::simulator
