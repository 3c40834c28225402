// SPDX-License-Identifier: Apache-2.0
// A load of many lines that goes on while nothing else can happen: what line_requests.cpp does with
// it, in one loop, and without asking what the machine does not have.
#include "simulator/memory_system.hpp"

namespace clprobe::simulator {

/// Nothing of the machine stands between a load and its entry. Where an observer wants to know of
/// each cycle, a streak ends with it.
bool MemorySystem::may_have_streaks() const {
  return watched_ != Watched::step_by_step && units_.size() == 1 && !ports_.exist() &&
         table_.kind() == PendingKind::mshr && machine_.load_store.lines_per_interval == 1;
}

bool MemorySystem::is_plain(const Access& access) {
  return access.requests.size() > 1 && access.instruction->operation == Operation::load &&
         !access.instruction->is_mapped && !access.instruction->is_written_elsewhere;
}

[[gnu::always_inline]] inline void MemorySystem::receive_in_streak(std::uint64_t now) {
  const auto fill = [this](const Answer& answer) __attribute__((always_inline)) {
    if (answer.fills == Fills::new_in_l1) {
      l1_.put(answer.line).sectors = answer.sectors;
    } else {
      take(answer);
    }
  };
  table_.receive(now, fill);
}

/// A line that is not on its way; `bucket`: its own in the pending table.
[[gnu::always_inline]] inline void MemorySystem::ask_for(const LineRequest& missing,
                                                         std::size_t bucket, std::uint64_t now,
                                                         Access& access, Fills fills) {
  if (is_ahead_) {
    PendingLine& line = table_.add_empty_line(missing.line, bucket);
    send_later(now, access, line, missing.sectors, 0, fills);
    return;
  }
  const Service service = far_.read_alone(now, missing.line, missing.sectors);
  table_.add_line(missing.line, bucket, missing.sectors, service.ready, fills);
  note(access, service.ready, service.level);
}

/// Begins with the cycle in which it is the load's turn, which is before `end`.
std::uint64_t MemorySystem::send_streak(std::uint64_t end) {
  Unit& unit = units_.front();
  Access& access = unit.first();
  const Fills fills = filled_by(*access.instruction);
  const bool looks_in_l1 = fills == Fills::l1;
  const bool keeps_missing = is_sure_to_miss_later(*access.instruction);
  const Fills fills_anew =
      looks_in_l1 && keeps_missing && !stores_.owns_lines() ? Fills::new_in_l1 : fills;
  const LineRequest* request = &access.requests[access.next];
  const LineRequest* const last_request = &access.requests.back();
  bool is_sure_to_miss = std::exchange(unit.is_sure_to_miss, false);
  std::uint64_t now = 0;
  for (std::uint64_t next = next_action_of(unit); next < end;) {
    now = next;
    receive_in_streak(now);
    if (unit.blocked != 0) stop_waiting(now, unit);
    std::uint32_t missing = request->sectors;
    PendingLine* pending = nullptr;
    const std::size_t bucket = table_.bucket_of(request->line);
    if (!std::exchange(is_sure_to_miss, false)) {
      const CacheLine* const line = looks_in_l1 ? l1_.find(request->line) : nullptr;
      if (line != nullptr) missing &= ~line->sectors;
      if (missing != 0) pending = table_.find_line(request->line, bucket);
    }
    if (missing == 0) {
      note(access, now + machine_.l1.latency_cycles, Level::l1);
    } else if (pending != nullptr) {
      if (!merge(now, unit, access, *pending, missing, false, fills)) {
        next = table_.next_answer();
        continue;
      }
    } else {
      // In one go what the next turns of this loop would do.
      while (table_.is_full() && keeps_missing && table_.next_answer() < end) {
        full_table_cycles_ += table_.next_answer() - now;
        now = table_.next_answer();
        receive_in_streak(now);
      }
      if (table_.is_full()) {
        wait_for_entry(now, unit);
        is_sure_to_miss = keeps_missing;
        next = table_.next_answer();
        continue;
      }
      ask_for({request->line, missing}, bucket, now, access, fills_anew);
    }
    next = now + machine_.load_store.interval_cycles;
    unit.next_action = next;
    if (request++ == last_request) {
      finish(access);
      break;
    }
  }
  access.next = static_cast<std::size_t>(request - access.requests.data());
  unit.is_sure_to_miss = is_sure_to_miss;
  return now;
}

}  // namespace clprobe::simulator
