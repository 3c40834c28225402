// SPDX-License-Identifier: Apache-2.0
// Why a warp cannot issue: data, function units, memory, copies.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t all_registers = ~std::uint64_t{0};

Facility facility_for(Operation operation) {
  switch (operation) {
    case Operation::load:
      return Facility::loads;
    case Operation::store:
      return Facility::stores;
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::acquire:
    case Operation::release:
      return Facility::accesses;
    case Operation::alu:
      return Facility::arithmetic;
    case Operation::special:
      return Facility::special;
    default:
      return Facility::none;
  }
}

bool is_local(Operation operation) {
  return operation == Operation::local_load || operation == Operation::local_store;
}

}  // namespace

void ComputeUnit::find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                    Blockage& found) {
  std::uint64_t last_ready = 0;
  std::uint64_t last_result = 0;
  Causes result = 0;
  for (std::uint64_t left = registers & warp.pending; left != 0; left &= left - 1) {
    const auto each = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t bit = std::uint64_t{1} << each;
    const std::uint64_t ready = warp.ready[each];
    if (ready <= now) {
      warp.pending &= ~bit;
      warp.pending_loads &= ~bit;
    } else if ((warp.pending_loads & bit) != 0) {
      found.add(cause::memory_data, ready);
      if (ready > last_ready) found.load = warp.load[each];
      last_ready = std::max(last_ready, ready);
    } else {
      if (ready > last_result) {
        last_result = ready;
        const bool is_special = (warp.pending_special & bit) != 0;
        result = is_special ? cause::special_result : cause::arithmetic_result;
      }
      found.add(result, ready);
    }
  }
  if (result != 0) found.causes = (found.causes & ~cause::compute_data) | result;
}

void ComputeUnit::find_scoreboard_hazard(Warp& warp, std::uint64_t now, Blockage& found) const {
  const std::uint64_t most = machine_.core.pending_loads_per_warp;
  if (most == 0 || static_cast<std::uint64_t>(std::popcount(warp.pending_loads)) < most) return;
  std::uint64_t first_ready = never;
  std::uint64_t first_load = never;
  std::uint64_t count = 0;
  for (std::uint64_t left = warp.pending_loads; left != 0; left &= left - 1) {
    const auto each = static_cast<std::size_t>(std::countr_zero(left));
    if (warp.ready[each] <= now) continue;
    ++count;
    const bool is_earlier = warp.ready[each] < first_ready ||
                            (warp.ready[each] == first_ready && warp.load[each] < first_load);
    if (!is_earlier) continue;
    first_ready = warp.ready[each];
    first_load = warp.load[each];
  }
  if (count < most) return;
  if ((found.causes & cause::memory_data) == 0) found.load = first_load;
  found.add(cause::memory_data, first_ready);
}

[[gnu::always_inline]] inline void ComputeUnit::find_busy(Facility facility, std::uint64_t now,
                                                          Blockage& found) const {
  const auto find_units = [&](Operation operation) {
    if (memory_.accepts(operation)) return;
    found.add(memory_.busy_causes(operation), never);
    found.waiting = Waiting::room;
  };
  const auto find_pipelines = [&](const std::vector<std::uint64_t>& free, Causes cause) {
    const std::uint64_t first = *std::min_element(free.begin(), free.end());
    if (first > now) found.add(cause, first);
  };
  switch (facility) {
    case Facility::loads:
      find_units(Operation::load);
      break;
    case Facility::stores:
      find_units(Operation::store);
      if (memory_.stores_held_until() > now) {
        found.add(cause::pending_release, memory_.stores_held_until());
      }
      break;
    case Facility::accesses:
      find_units(Operation::atomic);
      break;
    case Facility::arithmetic:
      find_pipelines(alu_free_, cause::busy_arithmetic);
      break;
    case Facility::special:
      find_pipelines(special_free_, cause::busy_special);
      break;
    case Facility::none:
      break;
  }
}

/// Of what waits for copies, or accesses what they write.
void ComputeUnit::find_copy_hazards(const Warp& warp, const Instruction& instruction,
                                    std::uint64_t now, Blockage& found) const {
  const bool waits = instruction.operation == Operation::copy_wait;
  if (!waits && (!is_local(instruction.operation) || instruction.id == 0)) return;
  found.depends_on_copies = true;
  const Copies& copies = memory_.copies();
  const std::uint64_t until = waits ? copies.copies_until(warp.group, instruction.id)
                                    : copies.local_blocked_until(warp.serial, instruction.id);
  if (until <= now) return;
  found.add(waits ? cause::copy_wait : cause::pending_copy, until);
  if (!waits && copies.is_blocked()) found.add(cause::full_mshr, until);
  if (until == never && found.waiting == Waiting::nothing) found.waiting = Waiting::copies;
}

/// `all`: every cause but for what keeps busy what it needs, which is the same for all warps; else
/// the first one found will do, whichever it is.
template <bool all>
ComputeUnit::Blockage ComputeUnit::find_blockage(Warp& warp, std::uint64_t now) {
  Blockage found;
  if (warp.held_until > now) {
    found.add(warp.hold_cause, warp.held_until);
    return found;
  }
  if (is_at_end(warp)) {
    find_data_hazards(warp, all_registers, now, found);
    return found;
  }
  const Instruction& next = trace_.programs[warp.program][warp.at];
  find_data_hazards(warp, next.reads | next.writes, now, found);
  if (!all && found.causes != 0) return found;
  if (next.operation == Operation::load || next.operation == Operation::atomic) {
    find_scoreboard_hazard(warp, now, found);
    if (!all && found.causes != 0) return found;
  }
  const Facility needs = facility_for(next.operation);
  if constexpr (all) {
    found.needs = needs;
  } else {
    find_busy(needs, now, found);
    if (found.waiting == Waiting::room) warp.wanted = next.operation;
  }
  if (needs == Facility::accesses || needs == Facility::none) {
    find_copy_hazards(warp, next, now, found);
  }
  return found;
}

std::uint64_t ComputeUnit::find_all_busy(std::uint64_t now, Busy& busy) const {
  std::uint64_t until = never;
  busy = {};
  for (std::uint32_t left = needed_; left != 0; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    Blockage found;
    find_busy(static_cast<Facility>(place), now, found);
    busy[place] = found.causes;
    until = std::min(until, found.changes);
  }
  return until;
}

// For issuing, and for observers.
template ComputeUnit::Blockage ComputeUnit::find_blockage<false>(Warp& warp, std::uint64_t now);
template ComputeUnit::Blockage ComputeUnit::find_blockage<true>(Warp& warp, std::uint64_t now);

}  // namespace clprobe::simulator
