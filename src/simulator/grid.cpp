// SPDX-License-Identifier: Apache-2.0
// The clock: which cycles there are, and which are passed over since nothing can change in them.
#include "simulator/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clprobe::simulator {

Grid::Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
           std::span<const Observer* const> observers)
    : options_(options), shared_(machine, trace, units, options.seed), due_(units, 0) {
  for (std::size_t unit = 0; unit < units; ++unit) {
    units_.push_back(std::make_unique<ComputeUnit>(machine, trace, options, shared_, unit,
                                                   observers.empty() ? nullptr : observers[unit]));
  }
}

std::vector<Result> Grid::run() {
  dispatch();
  for (std::uint64_t now = 0;;) {
    const std::uint64_t next = step(now);
    if (next == never && has_ended()) return finish();
    if (next == never) report_deadlock(now);
    // Step by step, too, nothing may stand still for ever.
    if (next > options_.max_cycles) report_deadlock(options_.max_cycles);
    now = next;
  }
}

/// Work-groups in turn to all units: none has a second one before all have one.
void Grid::dispatch() {
  bool has_room = true;
  while (has_room) {
    has_room = false;
    for (const auto& unit : units_) {
      if (unit->dispatch_one(0)) has_room = true;
    }
  }
}

std::uint64_t Grid::step(std::uint64_t now) {
  shared_.locks.process(now, [&](const LockRequest& request, std::uint64_t ready, bool has_lock) {
    units_[request.unit]->deliver(request, ready, has_lock);
    due_[request.unit] = now;
  });
  std::uint64_t next = never;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (due_[unit] <= now) due_[unit] = units_[unit]->step(now);
    next = std::min(next, due_[unit]);
  }
  // A request that has arrived in this cycle is served in the next.
  return std::min(next, std::max(shared_.locks.next_event(), now + 1));
}

bool Grid::has_ended() const {
  return std::all_of(units_.begin(), units_.end(),
                     [](const auto& unit) { return unit->has_ended(); });
}

void Grid::report_deadlock(std::uint64_t now) const {
  std::string where;
  for (const auto& unit : units_) {
    if (where.empty()) where = unit->find_standstill();
  }
  throw Deadlock(fmt::format("no progress after cycle {}{}", now, where));
}

std::vector<Result> Grid::finish() {
  std::uint64_t last_warp_end = 0;
  std::uint64_t end = 0;
  for (const auto& unit : units_) {
    last_warp_end = std::max(last_warp_end, unit->last_warp_end());
    end = std::max(end, unit->end());
  }
  std::vector<Result> results;
  for (const auto& unit : units_) results.push_back(unit->finish(last_warp_end, end));
  return results;
}

}  // namespace clprobe::simulator
