// SPDX-License-Identifier: Apache-2.0
// Copies between local memory and far memory that run beside the warps, a few lines a cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"
#include "simulator/addresses.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

/// Requests the missing sectors of a line: joins a request that is on its way, or makes a new one.
/// A value that was requested before is there at `earliest` or later. Nothing when there is no room
/// in the table. `has_entry`: the instruction has an entry of a table of warp instructions.
inline std::optional<Service> request_line(std::uint64_t now, PendingTable& table, FarLink& far,
                                           const LineRequest& missing, bool is_remote, Fills fills,
                                           std::uint64_t earliest, bool& has_entry) {
  if (PendingLine* const pending = table.find(missing.line); pending != nullptr) {
    if (!table.can_merge(*pending)) return std::nullopt;
    ++pending->requests;
    Service merged{std::max(pending->ready, earliest), Level::l1_coalescing};
    const std::uint32_t others = missing.sectors & ~pending->sectors;
    if (others == 0) return merged;
    const Service service = far.read(now, missing.line, others, is_remote);
    table.extend(*pending, others, service.ready, fills);
    return service.ready >= merged.ready ? service : merged;
  }
  const bool is_prt = table.kind() == PendingKind::prt;
  const bool needs_entry = !is_prt || !has_entry;
  if (needs_entry && table.is_full()) return std::nullopt;
  if (is_prt && !has_entry) {
    table.take();
    has_entry = true;
  }
  const Service service = far.read(now, missing.line, missing.sectors, is_remote);
  table.add(missing.line, missing.sectors, service.ready, fills);
  return service;
}

/// The group and the warp that started a copy.
struct CopyOwner {
  std::uint64_t group{0};
  std::uint64_t warp{0};
};

class Copies {
 public:
  /// Shares the pending table and far memory with the load/store unit; keeps references to all.
  Copies(const Machine& machine, PendingTable& table, FarLink& far)
      : machine_(machine), table_(table), far_(far) {}

  /// `first`: the first byte in far memory.
  void start(std::uint64_t now, const Instruction& instruction, std::uint64_t first,
             const CopyOwner& owner) {
    const std::uint64_t line_bytes = machine_.l1.line_bytes;
    std::erase_if(copies_, [&](const Copy& each) { return each.done <= now; });
    copies_.push_back({.owner = owner,
                       .id = instruction.id,
                       .is_inward = instruction.operation == Operation::copy_in,
                       .next_line = first / line_bytes,
                       .end_line = (first + instruction.count + line_bytes - 1) / line_bytes});
    // The engine begins in the cycle after the instruction.
    if (!is_stuck_ && next_action_ == never) next_action_ = now + 1;
  }
  /// Sends lines. To be called with every cycle that `next_event` names.
  void process(std::uint64_t now) {
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
  [[nodiscard]] std::uint64_t next_event() const {
    return is_stuck_ ? table_.next_answer() : next_action_;
  }

  /// The end of copies `id` of a group, in both directions: 0 when there are none,
  /// `never` when that is not known yet.
  [[nodiscard]] std::uint64_t copies_until(std::uint64_t group, std::uint32_t id) const {
    std::uint64_t until = 0;
    for (const Copy& each : copies_) {
      if (each.owner.group == group && each.id == id) until = std::max(until, each.done);
    }
    return until;
  }
  /// The end of the copies that block a local access which needs copy `id`, by the machine's
  /// granularity: 0 or `never` as above.
  [[nodiscard]] std::uint64_t local_blocked_until(std::uint64_t warp, std::uint32_t id) const {
    const bool blocks_all = machine_.copy.granularity == CopyGranularity::core;
    std::uint64_t until = 0;
    for (const Copy& each : copies_) {
      const bool concerns = blocks_all || (each.owner.warp == warp && each.id == id);
      if (each.is_inward && concerns) until = std::max(until, each.done);
    }
    return until;
  }
  /// True if the engine waits for an entry of the pending table, or is about to. An engine that has
  /// just taken the last entry counts as blocked: otherwise every line that it sends would count as
  /// a cycle in which it is not.
  [[nodiscard]] bool is_blocked() const {
    if (is_stuck_) return true;
    if (next_action_ == never || !table_.is_full()) return false;
    const auto next = std::find_if(copies_.begin(), copies_.end(),
                                   [](const Copy& each) { return each.done == never; });
    return next != copies_.end() && next->is_inward;
  }
  [[nodiscard]] std::uint64_t last_done() const { return last_done_; }

  /// True if the end of a copy has become known since take_changed().
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  bool take_changed() { return std::exchange(has_changed_, false); }

 private:
  struct Copy {
    CopyOwner owner{};
    std::uint32_t id{0};
    bool is_inward{true};
    std::uint64_t next_line{0};
    std::uint64_t end_line{0};
    std::uint64_t done{never};
    std::uint64_t last_ready{0};
    bool has_entry{false};
  };

  /// Returns false when there is no room in the pending table.
  bool send_line(std::uint64_t now, Copy& copy) {
    if (!copy.is_inward) {
      copy.last_ready = std::max(copy.last_ready, far_.write(now, copy.next_line, all_sectors()));
      return true;
    }
    const LineRequest whole{.line = copy.next_line, .sectors = all_sectors()};
    const auto service =
        request_line(now, table_, far_, whole, false, Fills::local, 0, copy.has_entry);
    if (service) copy.last_ready = std::max(copy.last_ready, service->ready);
    return service.has_value();
  }
  void finish(Copy& copy) {
    copy.done = copy.last_ready;
    if (copy.has_entry) table_.end_at(copy.done);
    last_done_ = std::max(last_done_, copy.done);
    has_changed_ = true;
  }
  [[nodiscard]] std::uint32_t all_sectors() const {
    const std::uint64_t count = machine_.l1.line_bytes / machine_.l1.sector_bytes;
    return static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
  }

  const Machine& machine_;
  PendingTable& table_;
  FarLink& far_;
  std::vector<Copy> copies_{};
  std::uint64_t next_action_{never};
  bool is_stuck_{false};
  bool has_changed_{false};
  std::uint64_t last_done_{0};
};

}  // namespace clprobe::simulator
