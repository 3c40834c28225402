// SPDX-License-Identifier: Apache-2.0
// The load/store units, the parts that they feed (first-level cache, pending table, store buffer,
// far memory), and the copy engine. The memory acts in certain cycles only, and reports the next.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/addresses.hpp"
#include "simulator/cache.hpp"
#include "simulator/copies.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/locks.hpp"
#include "simulator/pending_table.hpp"
#include "simulator/stores.hpp"

namespace clprobe::simulator {

/// The ports of the near memories: the cycles until which lines and requests take the banks of the
/// first level, and local memory.
class Ports {
 public:
  explicit Ports(const FirstLevelBanks& config) : l1_(config.count), local_(config.count > 0) {}

  [[nodiscard]] bool exist() const { return !local_.empty(); }
  /// The cycle in which the port takes the next request; null where there is no port.
  [[nodiscard]] std::uint64_t* of_l1(std::uint64_t line) {
    return l1_.empty() ? nullptr : &l1_[line % l1_.size()];
  }
  [[nodiscard]] std::uint64_t* of_local() { return local_.empty() ? nullptr : &local_.front(); }

  /// A line that comes at `cycle` has its port for a cycle, after earlier ones.
  static void fill(std::uint64_t* port, std::uint64_t cycle) {
    if (port != nullptr) *port = std::max(*port, cycle) + 1;
  }

 private:
  std::vector<std::uint64_t> l1_;
  std::vector<std::uint64_t> local_;
};

/// The parts that the compute units share.
struct Shared {
  FarMemory far;
  Locks locks;
  std::size_t next_group{0};  ///< the first group of the trace that no unit has begun

  Shared(const Machine& machine, const Trace& trace, std::uint64_t units, std::uint64_t seed)
      : far(machine, units), locks(trace.locks, far, seed) {}
};

class MemorySystem {
 public:
  /// `unit`: its place among the units of `shared`. Keeps references to all.
  MemorySystem(const Machine& machine, const Trace& trace, Shared& shared, std::size_t unit,
               std::uint64_t seed);
  // Its parts refer to each other.
  MemorySystem(const MemorySystem&) = delete;
  MemorySystem& operator=(const MemorySystem&) = delete;
  MemorySystem(MemorySystem&&) = delete;
  MemorySystem& operator=(MemorySystem&&) = delete;
  ~MemorySystem() = default;

  /// Does the work that is due at `now`. To be called with every cycle that `next_event` names.
  void process(std::uint64_t now);
  /// The next cycle in which something here can change; `never` when nothing will by itself.
  [[nodiscard]] std::uint64_t next_event() const;

  /// True if a load/store unit has room for such an instruction.
  [[nodiscard]] bool accepts(Operation operation) const {
    for (const Unit& unit : units_) {
      if (unit.queue.size() < machine_.load_store.queue_instructions) return true;
      if (operation != Operation::load) return false;  // the first one alone takes those
    }
    return false;
  }
  /// The causes that keep the load/store units from taking such an instruction.
  [[nodiscard]] Causes busy_causes(Operation operation) const;
  /// Takes a warp instruction, for which `accepts` must be true.
  void accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
              const Execution& execution, std::uint64_t load);

  void start_copy(std::uint64_t now, const Instruction& instruction, const Execution& execution,
                  const CopyOwner& owner);
  [[nodiscard]] const Copies& copies() const { return copies_; }

  /// The cycle until which a release holds stores back.
  [[nodiscard]] std::uint64_t stores_held_until() const { return stores_held_until_; }
  void invalidate_l1() { l1_.invalidate(); }
  /// Writes out the store buffer. Returns the cycle in which the last write has arrived.
  std::uint64_t flush(std::uint64_t now) { return stores_.flush(now); }

  /// Takes the completion of one of its requests for locks.
  void take(const Completion& completion) { completions_.push_back(completion); }

  /// Changes since they were last taken.
  [[nodiscard]] bool has_news() const {
    return !completions_.empty() || has_room_again_ || copies_.has_changed();
  }
  std::vector<Completion>& completions() { return completions_; }
  bool take_room_again() { return std::exchange(has_room_again_, false); }
  bool take_copies_changed() { return copies_.take_changed(); }

  void report(Result& result) const;

 private:
  /// A warp instruction in the load/store unit.
  struct Access {
    const Instruction* instruction{nullptr};
    Completion completion{};
    std::vector<LineRequest> requests{};
    std::size_t next{0};
    bool has_entry{false};  ///< it holds an entry of a pending-request table
    bool is_done{false};
    bool is_late{false};  ///< for a bank, since the cycle in which it issued
    Ways ways{};
  };
  /// A load/store unit: a queue of instructions of which the first is at work.
  struct Unit {
    std::deque<Access> queue{};
    std::uint64_t next_action{never};
    Causes blocked{0};  ///< full_mshr: then the next answer counts, not next_action
    std::uint64_t blocked_since{0};
  };

  /// The number of load/store units, the first ones, that may take such an instruction.
  [[nodiscard]] std::ptrdiff_t units_for(Operation operation) const {
    return operation == Operation::load ? std::ssize(units_) : 1;
  }
  Unit& unit_for(Operation operation);
  void make_resident(const Trace& trace);
  void take(const Answer& answer);
  void act(std::uint64_t now, Unit& unit);
  void leave_queue(std::uint64_t now, Unit& unit);
  void send_lines(std::uint64_t now, Unit& unit);
  void finish(Access& access);
  /// These return false when the unit has to wait, until its next_action.
  bool send(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_load(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_store(std::uint64_t now, Unit& unit, const Access& access, const LineRequest& request);
  /// Returns true where the port is free, or null. Otherwise makes the unit wait.
  static bool finds_free(const std::uint64_t* port, std::uint64_t now, Unit& unit);
  /// The port that a line of this instruction goes through; null if it needs none.
  std::uint64_t* port_of(const Instruction& instruction, std::uint64_t line);
  [[nodiscard]] Fills filled_by(const Instruction& instruction) const {
    if (instruction.is_mapped) return Fills::stash;
    return keeps_loads_ && !instruction.skips_l1 ? Fills::l1 : Fills::nothing;
  }
  /// The sectors that the near memory does not have.
  std::uint32_t missing_of(const LineRequest& request, const Instruction& instruction);
  void act_locally(std::uint64_t now, Unit& unit);
  bool forward(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  void note(Completion& completion, std::uint64_t ready, Level level) {
    ++served_by_[static_cast<std::size_t>(level)];
    if (ready < completion.ready) return;
    // If values come together, the one from farther away is to blame.
    if (ready > completion.ready || level > completion.level) completion.level = level;
    completion.ready = ready;
  }
  [[nodiscard]] bool owns(const Lock& lock) const;
  void request_lock(std::uint64_t now, const Access& access);

  Machine machine_;
  std::span<const std::vector<std::uint64_t>> tables_;
  std::span<const Lock> locks_;
  std::size_t unit_;
  Cache l1_;
  Stash stash_{};
  Ports ports_;
  PendingTable table_;
  FarLink far_;
  Locks& lock_states_;
  LocalBanks banks_;
  bool keeps_loads_;
  Stores stores_;
  Copies copies_;

  std::vector<Unit> units_;
  std::vector<std::uint64_t> addresses_{};

  std::uint64_t stores_held_until_{0};

  std::vector<Completion> completions_{};
  bool has_room_again_{false};

  std::array<std::uint64_t, level_count> served_by_{};
  std::uint64_t full_table_cycles_{0};
};

}  // namespace clprobe::simulator
