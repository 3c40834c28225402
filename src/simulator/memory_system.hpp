// SPDX-License-Identifier: Apache-2.0
// The load/store unit and all that it feeds: first-level cache, pending table, store buffer, copy
// engine, far memory. It acts at certain cycles only, and says at which one next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/addresses.hpp"
#include "simulator/cache.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

/// Who started a copy, and whom it concerns.
struct CopyOwner {
  std::uint64_t group{0};
  std::uint64_t warp{0};
};

/// The load/store unit is through with an instruction, and it is known when its result is there.
struct Completion {
  Operation operation{Operation::load};
  std::uint32_t context{0};
  std::uint64_t writes{0};
  std::uint64_t load{0};
  std::uint64_t ready{0};
  Level level{Level::l1};
  bool has_lock{false};  ///< acquire: whether it got it
};

class MemorySystem {
 public:
  MemorySystem(const Machine& machine, const Trace& trace, std::uint64_t seed);

  /// Does what is due at `now`. To be called with every cycle that `next_event` names.
  void process(std::uint64_t now);
  /// The next cycle in which something here can change; `never` when nothing will by itself.
  [[nodiscard]] std::uint64_t next_event() const;

  [[nodiscard]] bool accepts() const { return used_ < queue_.size(); }
  /// Why the unit does not accept.
  [[nodiscard]] Causes busy_causes() const;
  /// Takes a warp instruction. `accepts()` holds.
  void accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
              const Execution& execution, std::uint64_t load);

  void start_copy(std::uint64_t now, const Instruction& instruction, const Execution& execution,
                  const CopyOwner& owner);
  /// Until when copies `id` of a group, in any direction, are under way: 0 when there are none,
  /// `never` when that is not known yet.
  [[nodiscard]] std::uint64_t copies_until(std::uint64_t group, std::uint32_t id) const;
  /// The same for a local access that needs copy `id`, by the machine's granularity.
  [[nodiscard]] std::uint64_t local_blocked_until(std::uint64_t warp, std::uint32_t id) const;
  /// Whether the copy engine waits for an entry of the pending table, or is about to.
  [[nodiscard]] bool copy_is_blocked() const;

  /// Until when stores are held back by a release.
  [[nodiscard]] std::uint64_t stores_held_until() const { return stores_held_until_; }
  void invalidate_l1() { l1_.invalidate(); }
  /// Writes out what is left. Returns when all of it, and of earlier writes, has arrived.
  std::uint64_t flush(std::uint64_t now);
  [[nodiscard]] std::uint64_t last_copy_done() const { return last_copy_done_; }

  /// News since they were last taken.
  [[nodiscard]] bool has_news() const {
    return !completions_.empty() || has_room_again_ || copies_changed_;
  }
  std::vector<Completion>& completions() { return completions_; }
  bool take_room_again() { return std::exchange(has_room_again_, false); }
  bool take_copies_changed() { return std::exchange(copies_changed_, false); }

  void report(Result& result) const;

 private:
  /// A warp instruction in the load/store unit.
  struct Access {
    const Instruction* instruction{nullptr};
    std::uint32_t context{0};
    std::uint64_t load{0};
    std::vector<LineRequest> requests{};
    std::size_t next{0};
    std::uint64_t ready{0};
    Level level{Level::l1};
    bool has_entry{false};  ///< of a pending-request table
    bool is_done{false};
    Ways ways{};
  };
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
  struct LockState {
    bool is_held{false};
    std::uint64_t free_from{0};
    std::uint64_t releases{0};
  };
  struct Written {
    std::uint64_t line{0};
    std::uint32_t sectors{0};
    bool is_remote{false};
  };

  [[nodiscard]] std::uint64_t next_unit_action() const;
  [[nodiscard]] std::uint64_t next_engine_action() const;
  void make_resident(const Trace& trace);
  void receive(std::uint64_t now);
  void act(std::uint64_t now);
  void leave_queue(std::uint64_t now);
  void send_lines(std::uint64_t now, Access& access);
  void finish(Access& access);
  void wait_for_entry(std::uint64_t now);
  /// Each returns false when the unit has to wait; then next_action_ says until when.
  bool send(std::uint64_t now, Access& access, const LineRequest& request);
  bool send_load(std::uint64_t now, Access& access, const LineRequest& request);
  bool send_store(std::uint64_t now, const Access& access, const LineRequest& request);
  bool merge(std::uint64_t now, Access& access, PendingLine& pending, std::uint32_t missing,
             bool is_remote, bool fills_l1);
  void note(Access& access, std::uint64_t ready, Level level);
  void do_acquire(std::uint64_t now, Access& access);
  void do_release(std::uint64_t now, Access& access);
  void write_back(std::uint64_t now, const CacheLine& evicted);
  void keep_owned(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  void copy_lines(std::uint64_t now);
  bool copy_line(std::uint64_t now, Copy& copy);
  void finish_copy(Copy& copy);

  Machine machine_;
  std::span<const std::vector<std::uint64_t>> tables_;
  std::span<const Lock> locks_;
  std::uint64_t seed_;
  Cache l1_;
  PendingTable table_;
  FarMemory far_;
  LocalBanks banks_;
  bool keeps_loads_;
  bool owns_lines_;

  std::vector<Access> queue_;  // a ring
  std::size_t head_{0};
  std::size_t used_{0};
  std::uint64_t next_action_{never};
  Causes blocked_{0};  // full_mshr: then the next answer counts, not next_action_
  std::uint64_t blocked_since_{0};
  std::vector<std::uint64_t> addresses_{};

  std::vector<Written> written_{};             // in the store buffer, not yet under way
  std::vector<std::uint64_t> acknowledged_{};  // when those under way arrive, rising by position
  std::uint64_t last_write_{0};
  std::uint64_t stores_held_until_{0};
  std::vector<LockState> lock_states_;

  std::vector<Copy> copies_{};
  std::uint64_t next_copy_action_{never};
  bool copy_is_blocked_{false};
  std::uint64_t last_copy_done_{0};

  std::vector<Completion> completions_{};
  bool has_room_again_{false};
  bool copies_changed_{false};

  std::array<std::uint64_t, level_count> served_by_{};
  std::uint64_t full_table_cycles_{0};
  std::uint64_t lines_written_{0};
};

}  // namespace clprobe::simulator
