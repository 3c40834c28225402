// SPDX-License-Identifier: Apache-2.0
// What becomes of a request for a line, once it is its turn: loads, stores, atomics and locks.
#include <algorithm>
#include <utility>

#include "simulator/memory_system.hpp"

namespace clprobe::simulator {

void MemorySystem::wait_for_entry(std::uint64_t now, Unit& unit) {
  unit.blocked = cause::full_mshr;
  unit.blocked_since = now;
}

std::uint64_t* MemorySystem::port_of(const Instruction& instruction, std::uint64_t line) {
  if (instruction.operation != Operation::load && instruction.operation != Operation::store) {
    return nullptr;
  }
  if (instruction.is_mapped) return ports_.of_local();
  const bool uses_l1 = instruction.operation == Operation::store
                           ? l1_.exists()
                           : filled_by(instruction) == Fills::l1;
  return uses_l1 ? ports_.of_l1(line) : nullptr;
}

std::uint32_t MemorySystem::missing_of(const LineRequest& request, const Instruction& instruction) {
  const Fills fills = filled_by(instruction);
  if (fills == Fills::nothing || instruction.is_written_elsewhere) {
    return request.sectors;
  }
  if (fills == Fills::stash) {
    return request.sectors & ~stash_.sectors_of(request.line);
  }
  const CacheLine* const line = l1_.find(request.line);
  return line == nullptr ? request.sectors : request.sectors & ~line->sectors;
}

bool MemorySystem::send_load(std::uint64_t now, Unit& unit, Access& access,
                             const LineRequest& request) {
  const Instruction& instruction = *access.instruction;
  const Fills fills = filled_by(instruction);
  const bool is_remote = instruction.is_written_elsewhere && stores_.owns_lines();
  const std::uint32_t missing = missing_of(request, instruction);
  if (missing == 0) {
    const bool is_local = fills == Fills::stash;
    note(access, now + (is_local ? machine_.local.latency_cycles : machine_.l1.latency_cycles),
         Level::l1);
    return true;
  }
  if (PendingLine* const pending = table_.find(request.line); pending != nullptr) {
    return merge(now, unit, access, *pending, missing, is_remote, fills);
  }
  const bool is_prt = table_.kind() == PendingKind::prt;
  const bool needs_entry = !is_prt || !access.has_entry;
  if (needs_entry && table_.is_full()) {
    wait_for_entry(now, unit);
    return false;
  }
  if (is_prt && !access.has_entry) {
    table_.take();
    access.has_entry = true;
  }
  const Service service = far_.read(now, request.line, missing, is_remote);
  table_.add(request.line, missing, service.ready, fills);
  note(access, service.ready, service.level);
  return true;
}

void MemorySystem::send_lines(std::uint64_t now, Unit& unit) {
  Access& access = unit.first();
  if (unit.blocked == cause::full_mshr) full_table_cycles_ += now - unit.blocked_since;
  unit.blocked = 0;
  for (std::uint64_t k = 0; k < machine_.load_store.lines_per_interval; ++k) {
    if (access.next == access.requests.size()) break;
    if (!send(now, unit, access, access.requests[access.next])) return;
    ++access.next;
  }
  unit.next_action = now + machine_.load_store.interval_cycles;
  if (access.next == access.requests.size()) finish(access);
}

bool MemorySystem::send(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request) {
  if (!ports_.exist()) return forward(now, unit, access, request);
  std::uint64_t* const port = port_of(*access.instruction, request.line);
  if (!finds_free(port, now, unit) || !forward(now, unit, access, request)) return false;
  if (port != nullptr) *port = now + 1;
  return true;
}

bool MemorySystem::forward(std::uint64_t now, Unit& unit, Access& access,
                           const LineRequest& request) {
  switch (access.instruction->operation) {
    case Operation::store:
      return send_store(now, unit, access, request);
    case Operation::atomic:
      note(access, far_.atomic(now, request.line), Level::l2);
      return true;
    case Operation::acquire:
      do_acquire(now, access);
      return true;
    case Operation::release:
      do_release(now, access);
      return true;
    default:
      return send_load(now, unit, access, request);
  }
}

bool MemorySystem::merge(std::uint64_t now, Unit& unit, Access& access, PendingLine& pending,
                         std::uint32_t missing, bool is_remote, Fills fills) {
  if (!table_.can_merge(pending)) {
    wait_for_entry(now, unit);
    return false;
  }
  ++pending.requests;
  std::uint64_t ready = std::max(pending.ready, now + machine_.l1.latency_cycles);
  Level level = Level::l1_coalescing;
  const std::uint32_t others = missing & ~pending.sectors;
  if (others != 0) {
    const Service service = far_.read(now, pending.line, others, is_remote);
    table_.extend(pending, others, service.ready, fills);
    if (service.ready >= ready) level = service.level;
    ready = std::max(ready, service.ready);
  }
  note(access, ready, level);
  return true;
}

bool MemorySystem::send_store(std::uint64_t now, Unit& unit, const Access& access,
                              const LineRequest& request) {
  const auto full_until = stores_.take(now, request, *access.instruction);
  if (!full_until) return true;
  unit.blocked = cause::full_store_buffer;
  unit.next_action = *full_until;
  return false;
}

bool MemorySystem::owns(const Lock& lock) const {
  return machine_.synchronization.owns_atomics && !lock.is_shared &&
         lock.held_elsewhere == Latency{};
}

LockRequest MemorySystem::request_of(const Access& access) const {
  return {.unit = unit_,
          .context = access.context,
          .lock = access.instruction->id,
          .is_release = access.instruction->operation == Operation::release,
          .line = access.requests.front().line};
}

void MemorySystem::do_acquire(std::uint64_t now, const Access& access) {
  LockRequest request = request_of(access);
  if (owns(locks_[request.lock])) {
    const std::uint64_t near = now + machine_.l1.latency_cycles;
    const bool has_lock = lock_states_.take(request.lock, near);
    take(LockAnswer{request, has_lock ? near : near + lock_states_.next_delay(), has_lock});
    return;
  }
  request.way = far_.send_atomic(now, now, request.line);
  lock_states_.send(now, request);
}

void MemorySystem::do_release(std::uint64_t now, const Access& access) {
  const std::uint64_t flushed = stores_.flush(now);
  if (!machine_.synchronization.stores_pass_releases) {
    stores_held_until_ = std::max(stores_held_until_, flushed);
  }
  LockRequest request = request_of(access);
  if (owns(locks_[request.lock])) {
    const std::uint64_t near = std::max(now, flushed) + machine_.l1.latency_cycles;
    lock_states_.free(request.lock, near);
    take(LockAnswer{request, near, false});
    return;
  }
  request.way = far_.send_atomic(now, flushed, request.line);
  lock_states_.send(now, request);
}

void MemorySystem::take(const LockAnswer& answer) {
  const auto operation = answer.request.is_release ? Operation::release : Operation::acquire;
  completions_.push_back({.operation = operation,
                          .context = answer.request.context,
                          .ready = answer.ready,
                          .level = Level::l2,
                          .has_lock = answer.has_lock});
}

}  // namespace clprobe::simulator
