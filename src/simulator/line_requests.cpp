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
  const bool is_sure_to_miss = std::exchange(unit.is_sure_to_miss, false);
  const std::uint32_t missing =
      is_sure_to_miss ? request.sectors : missing_of(request, instruction);
  if (missing == 0) {
    const bool is_local = fills == Fills::stash;
    note(access, now + (is_local ? machine_.local.latency_cycles : machine_.l1.latency_cycles),
         Level::l1);
    return true;
  }
  PendingLine* const pending = is_sure_to_miss ? nullptr : table_.find(request.line);
  if (pending != nullptr) {
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
  if (is_ahead_) {
    PendingLine& line = table_.add_empty_line(request.line, table_.bucket_of(request.line));
    send_later(now, access, line, missing, 0, fills);
    return true;
  }
  const Service service = far_.read(now, request.line, missing, is_remote);
  table_.add(request.line, missing, service.ready, fills);
  note(access, service.ready, service.level);
  return true;
}

/// Whether it is clear by now that the next request will find no entry in the next cycle, so that
/// nobody has to try it. Not where that is told to somebody, who wants to know of each cycle.
bool MemorySystem::foresees_full_table(std::uint64_t now, const Access& access) {
  if (watched_ != Watched::by_nobody || !table_.is_full()) return false;
  if (machine_.load_store.interval_cycles != 1) return false;
  // Nor where an answer comes by then, with which it is tried anyway.
  if (table_.next_answer() <= now + 1 || !outbox_.is_empty()) return false;
  // Who else could ask for the same line until then.
  if (units_.size() > 1 || copies_.next_event() != never) return false;
  if (access.instruction->operation != Operation::load || access.has_entry) return false;
  const LineRequest& request = access.requests[access.next];
  const std::uint64_t* const port =
      ports_.exist() ? port_of(*access.instruction, request.line) : nullptr;
  const bool is_free = port == nullptr || *port <= now + 1;
  return is_free && missing_of(request, *access.instruction) != 0 &&
         table_.find(request.line) == nullptr;
}

/// Of a request that waits for an entry: nothing that was asked for brings the line, and nobody
/// asks for it without an entry. (Of a line of which other sectors are there, a search would make
/// it the most recently used.)
bool MemorySystem::is_sure_to_miss_later(const Instruction& instruction) const {
  return table_.kind() == PendingKind::mshr && !instruction.is_mapped &&
         machine_.l1.sector_bytes == machine_.l1.line_bytes;
}

void MemorySystem::go_on(std::uint64_t now, Unit& unit) {
  Access& access = unit.first();
  unit.next_action = now + machine_.load_store.interval_cycles;
  if (access.next == access.requests.size()) {
    finish(access);
  } else if (foresees_full_table(now, access)) {
    wait_for_entry(unit.next_action, unit);
    unit.is_sure_to_miss = is_sure_to_miss_later(*access.instruction);
  }
}

void MemorySystem::send_lines(std::uint64_t now, Unit& unit) {
  Access& access = unit.first();
  stop_waiting(now, unit);
  for (std::uint64_t k = 0; k < machine_.load_store.lines_per_interval; ++k) {
    if (access.next == access.requests.size()) break;
    if (!send(now, unit, access, access.requests[access.next])) return;
    ++access.next;
  }
  go_on(now, unit);
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
  if (is_ahead_ && (others != 0 || pending.sent != 0)) {
    send_later(now, access, pending, others, now + machine_.l1.latency_cycles, fills);
    return true;
  }
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

void MemorySystem::send_to_lock(std::uint64_t now, LockRequest request) {
  // What arrives in this cycle is served in the next.
  request.served = std::max(request.way.arrival, now + 1);
  lock_answers_.push_back(request.served);
  next_lock_answer_ = std::min(next_lock_answer_, request.served);
  lock_states_.send(request);
}

void MemorySystem::do_acquire(std::uint64_t now, const Access& access) {
  gate_.pass();
  LockRequest request = request_of(access);
  if (owns(locks_[request.lock])) {
    const std::uint64_t near = now + machine_.l1.latency_cycles;
    const bool has_lock = lock_states_.take(request.lock, near);
    deliver(request, has_lock ? near : near + lock_states_.next_delay(), has_lock);
    return;
  }
  request.way = far_.send_atomic(now, now, request.line);
  send_to_lock(now, request);
}

void MemorySystem::do_release(std::uint64_t now, const Access& access) {
  gate_.pass();
  const std::uint64_t flushed = stores_.flush(now);
  if (!machine_.synchronization.stores_pass_releases) {
    stores_held_until_ = std::max(stores_held_until_, flushed);
  }
  LockRequest request = request_of(access);
  if (owns(locks_[request.lock])) {
    const std::uint64_t near = std::max(now, flushed) + machine_.l1.latency_cycles;
    lock_states_.free(request.lock, near);
    deliver(request, near, false);
    return;
  }
  request.way = far_.send_atomic(now, flushed, request.line);
  send_to_lock(now, request);
}

void MemorySystem::take_lock_answers() {
  std::vector<LockAnswer>& answers = lock_states_.answers_for(unit_);
  for (const LockAnswer& each : answers) {
    lock_answers_.erase(std::find(lock_answers_.begin(), lock_answers_.end(), each.request.served));
    deliver(each.request, each.ready, each.has_lock);
  }
  answers.clear();
  next_lock_answer_ = never;
  for (const std::uint64_t cycle : lock_answers_) {
    next_lock_answer_ = std::min(next_lock_answer_, cycle);
  }
}

void MemorySystem::deliver(const LockRequest& request, std::uint64_t ready, bool has_lock) {
  const auto operation = request.is_release ? Operation::release : Operation::acquire;
  completions_.push_back({.operation = operation,
                          .context = request.context,
                          .ready = ready,
                          .level = Level::l2,
                          .has_lock = has_lock});
}

}  // namespace clprobe::simulator
