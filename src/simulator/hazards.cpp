// SPDX-License-Identifier: Apache-2.0
// Why a warp cannot issue: data, function units, memory, copies.
#include <algorithm>
#include <bit>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t all_registers = ~std::uint64_t{0};

bool is_for_memory(Operation operation) {
  switch (operation) {
    case Operation::load:
    case Operation::store:
    case Operation::atomic:
    case Operation::local_load:
    case Operation::local_store:
    case Operation::acquire:
    case Operation::release:
      return true;
    default:
      return false;
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

void ComputeUnit::find_memory_hazards(Warp& warp, const Instruction& instruction, std::uint64_t now,
                                      Blockage& found) const {
  if (!memory_.accepts(instruction.operation)) {
    found.add(memory_.busy_causes(instruction.operation), never);
    found.waiting = Waiting::room;
    warp.wanted = instruction.operation;
  }
  if (instruction.operation == Operation::store && memory_.stores_held_until() > now) {
    found.add(cause::pending_release, memory_.stores_held_until());
  }
  if (!is_local(instruction.operation) || instruction.id == 0) return;
  const std::uint64_t until = memory_.copies().local_blocked_until(warp.serial, instruction.id);
  if (until <= now) return;
  found.add(cause::pending_copy, until);
  if (memory_.copies().is_blocked()) found.add(cause::full_mshr, until);
  if (until == never && found.waiting == Waiting::nothing) found.waiting = Waiting::copies;
}

/// `all`: every cause; else the first one found will do.
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
  if (is_for_memory(next.operation)) {
    find_memory_hazards(warp, next, now, found);
  } else if (next.operation == Operation::alu || next.operation == Operation::special) {
    const bool is_special = next.operation == Operation::special;
    const auto& free = is_special ? special_free_ : alu_free_;
    const std::uint64_t first = *std::min_element(free.begin(), free.end());
    if (first > now) found.add(is_special ? cause::busy_special : cause::busy_arithmetic, first);
  } else if (next.operation == Operation::copy_wait) {
    const std::uint64_t until = memory_.copies().copies_until(warp.group, next.id);
    if (until > now) found.add(cause::copy_wait, until);
    if (until == never) found.waiting = Waiting::copies;
  }
  return found;
}

// For issuing, and for observers.
template ComputeUnit::Blockage ComputeUnit::find_blockage<false>(Warp& warp, std::uint64_t now);
template ComputeUnit::Blockage ComputeUnit::find_blockage<true>(Warp& warp, std::uint64_t now);

}  // namespace clprobe::simulator
