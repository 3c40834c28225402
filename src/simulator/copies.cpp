// SPDX-License-Identifier: Apache-2.0
#include "simulator/copies.hpp"

#include <algorithm>

namespace clprobe::simulator {

void Copies::start(std::uint64_t now, const Instruction& instruction, std::uint64_t first,
                   const CopyOwner& owner) {
  const std::uint64_t line_bytes = machine_.l1.line_bytes;
  std::erase_if(copies_, [&](const Copy& each) { return each.done <= now; });
  copies_.push_back({.owner = owner,
                     .id = instruction.id,
                     .is_inward = instruction.operation == Operation::copy_in,
                     .next_line = first / line_bytes,
                     .end_line = (first + instruction.count + line_bytes - 1) / line_bytes});
  ++changes_;
  // The engine begins in the cycle after the instruction.
  if (!is_stuck_ && next_action_ == never) next_action_ = now + 1;
}

std::uint64_t Copies::copies_until(std::uint64_t group, std::uint32_t id) const {
  std::uint64_t until = 0;
  for (const Copy& each : copies_) {
    if (each.owner.group == group && each.id == id) until = std::max(until, each.done);
  }
  return until;
}

std::uint64_t Copies::local_blocked_until(std::uint64_t warp, std::uint32_t id) const {
  const bool blocks_all = machine_.copy.granularity == CopyGranularity::core;
  std::uint64_t until = 0;
  for (const Copy& each : copies_) {
    const bool concerns = blocks_all || (each.owner.warp == warp && each.id == id);
    if (each.is_inward && concerns) until = std::max(until, each.done);
  }
  return until;
}

/// An engine that has just taken the last entry is as blocked as one that has found none: else
/// every line that it sends would count as a cycle in which it is not.
bool Copies::is_blocked() const {
  if (is_stuck_) return true;
  if (next_action_ == never || !table_.is_full()) return false;
  const auto next = std::find_if(copies_.begin(), copies_.end(),
                                 [](const Copy& each) { return each.done == never; });
  return next != copies_.end() && next->is_inward;
}

void Copies::process(std::uint64_t now) {
  is_stuck_ = false;
  std::uint64_t left = machine_.copy.requests_per_cycle;
  for (Copy& copy : copies_) {
    while (copy.done == never && left > 0) {
      if (!send_line(now, copy)) {
        is_stuck_ = true;
        return;
      }
      --left;
      if (++copy.next_line == copy.end_line) finish(copy);
    }
    if (copy.done == never) {
      next_action_ = now + 1;
      return;
    }
  }
  next_action_ = never;
}

bool Copies::send_line(std::uint64_t now, Copy& copy) {
  if (!copy.is_inward) {
    copy.last_ready = std::max(copy.last_ready, far_.write(now, copy.next_line, all_sectors()));
    return true;
  }
  if (PendingLine* const pending = table_.find(copy.next_line); pending != nullptr) {
    return merge(now, copy, *pending);
  }
  const bool is_prt = table_.kind() == PendingKind::prt;
  if ((!is_prt || !copy.has_entry) && table_.is_full()) return false;
  if (is_prt && !copy.has_entry) {
    table_.take();
    copy.has_entry = true;
  }
  const Service service = far_.read(now, copy.next_line, all_sectors(), false);
  table_.add(copy.next_line, all_sectors(), service.ready, Fills::local);
  copy.last_ready = std::max(copy.last_ready, service.ready);
  return true;
}

bool Copies::merge(std::uint64_t now, Copy& copy, PendingLine& pending) {
  if (!table_.can_merge(pending)) return false;
  ++pending.requests;
  copy.last_ready = std::max(copy.last_ready, pending.ready);
  const std::uint32_t others = all_sectors() & ~pending.sectors;
  if (others == 0) return true;
  const Service service = far_.read(now, copy.next_line, others, false);
  table_.extend(pending, others, service.ready, Fills::local);
  copy.last_ready = std::max(copy.last_ready, service.ready);
  return true;
}

void Copies::finish(Copy& copy) {
  copy.done = copy.last_ready;
  if (copy.has_entry) table_.end_at(copy.done);
  last_done_ = std::max(last_done_, copy.done);
  has_changed_ = true;
  ++changes_;
}

}  // namespace clprobe::simulator
