// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulator/memory_system.hpp"

#include <algorithm>

namespace clprobe::simulator {

MemorySystem::MemorySystem(const Machine& machine, const Trace& trace, Shared& shared,
                           std::size_t unit, std::uint64_t seed)
    : machine_(machine),
      tables_(trace.tables),
      locks_(trace.locks),
      unit_(unit),
      l1_(machine.l1.bytes, machine.l1.line_bytes, machine.l1.ways),
      ports_(machine.l1_banks),
      table_(machine.pending),
      far_(machine, shared.far, unit, seed),
      lock_states_(shared.locks),
      banks_(machine.local),
      keeps_loads_(machine.l1.keeps_loads && l1_.exists()),
      stores_(machine_, l1_, stash_, far_),
      copies_(machine_, table_, far_),
      units_(machine.load_store_units.count) {
  shared.far.add_unit(l1_);
  make_resident(trace);
}

void MemorySystem::make_resident(const Trace& trace) {
  const std::uint64_t line_bytes = machine_.l1.line_bytes;
  const auto all_sectors =
      static_cast<std::uint32_t>((std::uint64_t{1} << (line_bytes / machine_.l1.sector_bytes)) - 1);
  const auto touch = [&](Resident::Home home, std::uint64_t line) {
    far_.make_resident(line, all_sectors);
    if (home == Resident::Home::l2 || !l1_.exists()) return;
    CacheLine evicted;
    l1_.find_or_put(line, evicted).sectors = all_sectors;
  };
  for (const Resident& each : trace.resident) {
    if (each.table == Lanes::no_table) {
      const std::uint64_t end = (each.base + each.bytes + line_bytes - 1) / line_bytes;
      for (std::uint64_t line = each.base / line_bytes; line < end; ++line) touch(each.home, line);
      continue;
    }
    const std::vector<std::uint64_t>& table = tables_[each.table];
    for (std::uint64_t k = 0; k < each.count; ++k) {
      touch(each.home, (each.base + table[(each.first + k) % table.size()]) / line_bytes);
    }
  }
}

MemorySystem::Unit& MemorySystem::unit_for(Operation operation) {
  const auto end = units_.begin() + units_for(operation);
  return *std::min_element(units_.begin(), end, [](const Unit& a, const Unit& b) {
    return a.queue.size() < b.queue.size();
  });
}

std::uint64_t MemorySystem::next_event() const {
  std::uint64_t first = copies_.next_event();
  for (const Unit& unit : units_) {
    const bool waits_for_entry = unit.blocked == cause::full_mshr;
    first = std::min(first, waits_for_entry ? table_.next_answer() : unit.next_action);
  }
  return first;
}

void MemorySystem::process(std::uint64_t now) {
  const bool engine_is_due = copies_.next_event() <= now;
  const bool has_answer = table_.next_answer() <= now;
  if (has_answer) table_.receive(now, [&](const Answer& answer) { take(answer); });
  for (Unit& unit : units_) {
    const bool is_due = unit.blocked == cause::full_mshr ? has_answer : unit.next_action <= now;
    if (!is_due) continue;
    act(now, unit);
    while (unit.blocked == 0 && unit.next_action <= now) act(now, unit);
  }
  if (engine_is_due) copies_.process(now);
}

void MemorySystem::take(const Answer& answer) {
  if (answer.fills == Fills::nothing) return;
  if (answer.fills == Fills::stash) stash_.add(answer.line, answer.sectors);
  if (answer.fills == Fills::stash || answer.fills == Fills::local) {
    Ports::fill(ports_.of_local(), answer.ready);
    return;
  }
  Ports::fill(ports_.of_l1(answer.line), answer.ready);
  CacheLine evicted;
  l1_.find_or_put(answer.line, evicted).sectors |= answer.sectors;
  stores_.write_back(answer.ready, evicted);
}

Causes MemorySystem::busy_causes(Operation operation) const {
  const auto end = units_.begin() + units_for(operation);
  const auto blocked =
      std::find_if(units_.begin(), end, [](const Unit& unit) { return unit.blocked != 0; });
  if (blocked != end) return blocked->blocked;
  const Access& first = units_.front().queue.front();
  // After a wait for a bank, the access is served one cycle late. This last cycle counts as a bank
  // conflict; the cycle in which the access issued is no stall.
  const bool is_lost_cycle = first.is_late && first.is_done;
  const bool has_conflict = is_lost_cycle || first.ways.ways > first.ways.parts;
  return has_conflict ? cause::bank_conflict : cause::serial_requests;
}

void MemorySystem::accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
                          const Execution& execution, std::uint64_t load) {
  Unit& unit = unit_for(instruction.operation);
  Access& access = unit.queue.emplace_back();
  access.instruction = &instruction;
  access.completion = {.operation = instruction.operation,
                       .context = context,
                       .writes = instruction.writes,
                       .load = load};
  const Lanes& lanes = instruction.lanes;
  switch (instruction.operation) {
    case Operation::local_load:
    case Operation::local_store:
      find_addresses(lanes, execution, tables_, addresses_);
      access.ways = banks_.count(addresses_, lanes.bytes);
      break;
    case Operation::acquire:
    case Operation::release:
      access.requests.assign(1, {locks_[instruction.id].address / machine_.l1.line_bytes, 1});
      break;
    default:
      find_addresses(lanes, execution, tables_, addresses_);
      coalesce(addresses_, lanes.bytes, machine_.l1, access.requests);
      break;
  }
  if (unit.queue.size() == 1) {
    unit.next_action = now;
    act(now, unit);
    access.is_late = unit.blocked == cause::bank_conflict;
  }
}

void MemorySystem::act(std::uint64_t now, Unit& unit) {
  Access& access = unit.queue.front();
  if (access.is_done) {
    leave_queue(now, unit);
    return;
  }
  const Operation operation = access.instruction->operation;
  if (operation == Operation::local_load || operation == Operation::local_store) {
    act_locally(now, unit);
  } else {
    send_lines(now, unit);
  }
}

bool MemorySystem::finds_free(const std::uint64_t* port, std::uint64_t now, Unit& unit) {
  if (port == nullptr || *port <= now) return true;
  unit.blocked = cause::bank_conflict;
  unit.next_action = *port;
  return false;
}

void MemorySystem::act_locally(std::uint64_t now, Unit& unit) {
  unit.blocked = 0;
  std::uint64_t* const port = ports_.of_local();
  if (!finds_free(port, now, unit)) return;
  Access& access = unit.queue.front();
  const std::uint64_t way_cycles = machine_.local.way_cycles;
  access.completion.ready =
      now + machine_.local.latency_cycles + (access.ways.ways - 1) * way_cycles;
  finish(access);
  unit.next_action = now + access.ways.ways * way_cycles;
  if (port != nullptr) *port = unit.next_action;
}

void MemorySystem::leave_queue(std::uint64_t now, Unit& unit) {
  unit.queue.pop_front();
  has_room_again_ = true;
  unit.next_action = unit.queue.empty() ? never : now;
}

void MemorySystem::finish(Access& access) {
  access.is_done = true;
  if (access.has_entry) table_.end_at(access.completion.ready);
  const Operation operation = access.instruction->operation;
  if (operation == Operation::store || operation == Operation::local_store) return;
  // Acquires and releases complete when the answer to their lock request arrives.
  if (operation == Operation::acquire || operation == Operation::release) return;
  completions_.push_back(access.completion);
}

void MemorySystem::start_copy(std::uint64_t now, const Instruction& instruction,
                              const Execution& execution, const CopyOwner& owner) {
  find_addresses(instruction.lanes, execution, tables_, addresses_);
  copies_.start(now, instruction, addresses_.front(), owner);
}

void MemorySystem::report(Result& result) const {
  result.served_by = served_by_;
  result.full_table_cycles = full_table_cycles_;
  result.max_pending = table_.max_in_use();
  result.lines_written = stores_.lines_written();
}

// Service of requests for lines.

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
    note(access.completion,
         now + (is_local ? machine_.local.latency_cycles : machine_.l1.latency_cycles), Level::l1);
    return true;
  }
  const auto service =
      request_line(now, table_, far_, {.line = request.line, .sectors = missing}, is_remote, fills,
                   now + machine_.l1.latency_cycles, access.has_entry);
  if (!service) {
    unit.blocked = cause::full_mshr;
    unit.blocked_since = now;
    return false;
  }
  note(access.completion, service->ready, service->level);
  return true;
}

void MemorySystem::send_lines(std::uint64_t now, Unit& unit) {
  Access& access = unit.queue.front();
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
      note(access.completion, far_.atomic(now, request.line), Level::l2);
      return true;
    case Operation::acquire:
    case Operation::release:
      request_lock(now, access);
      return true;
    default:
      return send_load(now, unit, access, request);
  }
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

void MemorySystem::request_lock(std::uint64_t now, const Access& access) {
  std::uint64_t flushed = now;
  if (access.instruction->operation == Operation::release) {
    flushed = std::max(now, stores_.flush(now));
    if (!machine_.synchronization.stores_pass_releases) {
      stores_held_until_ = std::max(stores_held_until_, flushed);
    }
  }
  LockRequest request{.unit = unit_,
                      .completion = access.completion,
                      .lock = access.instruction->id,
                      .line = access.requests.front().line};
  if (owns(locks_[request.lock])) {
    const std::uint64_t near = flushed + machine_.l1.latency_cycles;
    lock_states_.serve(request, near, near);
    take(request.completion);
    return;
  }
  request.way = far_.send_atomic(now, flushed, request.line);
  lock_states_.send(now, request);
}

}  // namespace clprobe::simulator
