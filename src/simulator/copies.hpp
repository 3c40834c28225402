// SPDX-License-Identifier: Apache-2.0
// Copies between local memory and far memory that run beside the warps, a few lines a cycle.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

/// Who started a copy, and whom it concerns.
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
             const CopyOwner& owner);
  /// Sends lines. To be called with every cycle that `next_event` names.
  void process(std::uint64_t now);
  [[nodiscard]] std::uint64_t next_event() const {
    return is_stuck_ ? table_.next_answer() : next_action_;
  }

  /// Until when copies `id` of a group, in any direction, are under way: 0 when there are none,
  /// `never` when that is not known yet.
  [[nodiscard]] std::uint64_t copies_until(std::uint64_t group, std::uint32_t id) const;
  /// The same for a local access that needs copy `id`, by the machine's granularity.
  [[nodiscard]] std::uint64_t local_blocked_until(std::uint64_t warp, std::uint32_t id) const;
  /// Whether it waits for an entry of the pending table, or is about to.
  [[nodiscard]] bool is_blocked() const;
  [[nodiscard]] std::uint64_t last_done() const { return last_done_; }

  /// Whether the end of a copy has become known since that was last taken.
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  bool take_changed() { return std::exchange(has_changed_, false); }
  /// How many copies have begun, and how many ends have become known.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

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

  /// Each returns false when there is no room in the pending table.
  bool send_line(std::uint64_t now, Copy& copy);
  bool merge(std::uint64_t now, Copy& copy, PendingLine& pending);
  void finish(Copy& copy);
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
  std::uint64_t changes_{0};
  std::uint64_t last_done_{0};
};

}  // namespace clprobe::simulator
