// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory_system.hpp"

#include <algorithm>

namespace clprobe::simulator {

MemorySystem::MemorySystem(const Machine& machine, const Trace& trace, Shared& shared,
                           std::size_t unit, std::uint64_t seed, Watched watched)
    : machine_(machine),
      watched_(watched),
      tables_(trace.tables),
      locks_(trace.locks),
      unit_(unit),
      l1_(machine.l1.bytes, machine.l1.line_bytes, machine.l1.ways),
      ports_(machine.l1_banks),
      table_(machine.pending),
      far_(machine, shared.far, shared.gates[unit], unit, seed),
      gate_(shared.gates[unit]),
      lock_states_(shared.locks),
      banks_(machine.local),
      keeps_loads_(machine.l1.keeps_loads && l1_.exists()),
      stores_(machine_, l1_, stash_, far_),
      copies_(machine_, table_, far_),
      units_(machine.load_store.units),
      has_streaks_(may_have_streaks()),
      may_begin_streaks_(has_streaks_ && !shared.far.is_shared()) {
  shared.far.add_unit(l1_);
  for (Unit& each : units_) {
    each.size = machine.load_store.queue_instructions;
    each.queue.resize(each.size);
  }
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

std::uint64_t MemorySystem::next_unit_action() const {
  std::uint64_t first = never;
  for (const Unit& unit : units_) first = std::min(first, next_action_of(unit));
  return first;
}

MemorySystem::Unit& MemorySystem::unit_for(Operation operation) {
  const auto end = units_.begin() + units_for(operation);
  return *std::min_element(units_.begin(), end,
                           [](const Unit& a, const Unit& b) { return a.used < b.used; });
}

std::uint64_t MemorySystem::next_event() const {
  return std::min(next_unit_action(), copies_.next_event());
}

void MemorySystem::process_all(std::uint64_t now) {
  const bool engine_is_due = copies_.next_event() <= now;
  const bool has_answer = table_.next_answer() <= now;
  if (has_answer) receive(now);
  for (Unit& unit : units_) {
    const bool is_due = unit.blocked == cause::full_mshr ? has_answer : unit.next_action <= now;
    if (!is_due) continue;
    act(now, unit);
    while (unit.blocked == 0 && unit.next_action <= now) act(now, unit);
  }
  if (engine_is_due) copies_.process(now);
}

void MemorySystem::receive(std::uint64_t now) {
  table_.receive(now, [&](const Answer& answer) { take(answer); });
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
  const Access& first = units_.front().queue[units_.front().head];
  // Its first cycle, in which it issued, was nobody's stall: the last one is what the bank cost.
  const bool is_lost_cycle = first.is_late && first.is_done;
  const bool has_conflict = is_lost_cycle || first.ways.ways > first.ways.parts;
  return has_conflict ? cause::bank_conflict : cause::serial_requests;
}

void MemorySystem::accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
                          const Execution& execution, std::uint64_t load) {
  Unit& unit = unit_for(instruction.operation);
  Access& access = unit.queue[(unit.head + unit.used) % unit.size];
  access.instruction = &instruction;
  access.context = context;
  access.load = load;
  access.next = 0;
  access.ready = 0;
  access.level = Level::l1;
  access.has_entry = false;
  access.is_done = false;
  access.is_late = false;
  access.is_open = false;
  access.ways = {};
  switch (instruction.operation) {
    case Operation::local_load:
    case Operation::local_store:
      access.ways = banks_.count(instruction.lanes, execution, tables_, addresses_);
      break;
    case Operation::acquire:
    case Operation::release:
      access.requests.assign(1, {locks_[instruction.id].address / machine_.l1.line_bytes, 1});
      break;
    default:
      find_requests(instruction.lanes, execution, tables_, machine_.l1, addresses_,
                    access.requests);
      break;
  }
  access.is_plain = has_streaks_ && is_plain(access);
  if (unit.used++ == 0) {
    unit.next_action = now;
    if (access.is_plain && may_begin_streaks_ && copies_.next_event() == never) {
      send_streak(now + 1);
    } else {
      act(now, unit);
    }
    access.is_late = unit.blocked == cause::bank_conflict;
  }
}

void MemorySystem::act(std::uint64_t now, Unit& unit) {
  Access& access = unit.first();
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
  Access& access = unit.first();
  const std::uint64_t way_cycles = machine_.local.way_cycles;
  access.ready = now + machine_.local.latency_cycles + (access.ways.ways - 1) * way_cycles;
  finish(access);
  unit.next_action = now + access.ways.ways * way_cycles;
  if (port != nullptr) *port = unit.next_action;
}

void MemorySystem::leave_queue(std::uint64_t now, Unit& unit) {
  if (++unit.head == unit.size) unit.head = 0;
  --unit.used;
  has_room_again_ = true;
  unit.next_action = unit.used > 0 ? now : never;
}

void MemorySystem::finish(Access& access) {
  access.is_done = true;
  if (access.has_entry) table_.end_at(access.ready);
  const Operation operation = access.instruction->operation;
  if (operation == Operation::store || operation == Operation::local_store) return;
  // Those with a lock have told already, with the outcome.
  if (operation == Operation::acquire || operation == Operation::release) return;
  const Completion completion{.operation = operation,
                              .context = access.context,
                              .writes = access.instruction->writes,
                              .load = access.load,
                              .ready = access.ready,
                              .level = access.level};
  if (access.is_open) {
    outbox_.last().is_last = true;
    ended_.push_back(completion);
  } else {
    completions_.push_back(completion);
  }
}

void MemorySystem::run_ahead(bool is_ahead) {
  is_ahead_ = is_ahead;
  may_begin_streaks_ = has_streaks_ && is_ahead;
}

std::uint64_t MemorySystem::take_served() {
  outbox_.take_served([this](Sent& sent, std::uint32_t number, const Service& answer) {
    take(sent, number, answer);
  });
  if (!outbox_.is_empty()) return outbox_.first_joined_ready();
  ended_.clear();
  taken_ends_ = 0;
  // A load that goes on: it may have no more that is sent so.
  Unit& unit = units_.front();
  if (unit.used == 0 || !unit.first().is_open) return never;
  note_last(unit.first(), open_.ready, open_.level);
  unit.first().is_open = false;
  open_ = {0, Level::l1};
  return never;
}

void MemorySystem::send_later(std::uint64_t now, Access& access, PendingLine& line,
                              std::uint32_t sectors, std::uint64_t joined_ready, Fills fills) {
  access.is_open = true;
  const std::uint32_t number = outbox_.add({.joined_ready = joined_ready,
                                            .sectors = sectors,
                                            .place = table_.place_of(line),
                                            .joined = line.sent,
                                            .fills = fills});
  if (sectors == 0) return;
  line.sectors |= sectors;
  line.sent = number;
  outbox_.ask({.cycle = now,
               .arrival = far_.leave(now, line.line, sectors),
               .line = line.line,
               .sectors = sectors});
}

void MemorySystem::take(Sent& sent, std::uint32_t number, const Service& answer) {
  Service service{sent.joined_ready, Level::l1_coalescing};
  if (sent.sectors == 0) {
    service.ready = std::max(service.ready, outbox_.at(sent.joined).line_ready);
  } else {
    PendingLine& line = table_.at(sent.place);
    if (sent.joined_ready != 0) service.ready = std::max(service.ready, line.ready);
    if (answer.ready >= service.ready) service = answer;
    table_.extend(line, sent.sectors, answer.ready, sent.fills);
    if (line.sent == number) line.sent = 0;
    sent.line_ready = line.ready;
  }
  ++served_by_[static_cast<std::size_t>(service.level)];
  note_last(open_, service.ready, service.level);
  if (!sent.is_last) return;
  Completion& completion = ended_[taken_ends_++];
  note_last(completion, open_.ready, open_.level);
  completions_.push_back(completion);
  open_ = {0, Level::l1};
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

}  // namespace clprobe::simulator
