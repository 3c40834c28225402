// SPDX-License-Identifier: Apache-2.0
// The load/store unit, what it feeds (first-level cache, pending table, store buffer, far memory),
// and the copy engine beside it. It acts at certain cycles only, and says at which one next.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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
#include "simulator/gate.hpp"
#include "simulator/locks.hpp"
#include "simulator/outbox.hpp"
#include "simulator/pending_table.hpp"
#include "simulator/ports.hpp"
#include "simulator/stash.hpp"
#include "simulator/stores.hpp"

namespace clprobe::simulator {

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

/// What the compute units that are simulated together share.
struct Shared {
  FarMemory far;
  Locks locks;
  std::size_t next_group{0};  ///< of the trace, that no unit has begun with
  std::vector<Gate> gates;    ///< by unit: to be passed before anything of the above is touched

  Shared(const Machine& machine, const Trace& trace, std::uint64_t units, std::uint64_t seed)
      : far(machine, units), locks(trace.locks, far, units, seed), gates(units) {}
};

/// Who wants to know of each cycle: an observer, or a test that nothing is passed over for.
enum class Watched : std::uint8_t { by_nobody, by_observer, step_by_step };

class MemorySystem {
 public:
  /// `unit`: its place among those that share. Keeps references to all.
  MemorySystem(const Machine& machine, const Trace& trace, Shared& shared, std::size_t unit,
               std::uint64_t seed, Watched watched);
  // Its parts refer to each other.
  MemorySystem(const MemorySystem&) = delete;
  MemorySystem& operator=(const MemorySystem&) = delete;
  MemorySystem(MemorySystem&&) = delete;
  MemorySystem& operator=(MemorySystem&&) = delete;
  ~MemorySystem() = default;

  /// Does what is due at `now`, and goes on before `end` with a load of several lines as long as
  /// nothing else can happen. To be called with every cycle that `next_event` names. Returns the
  /// last cycle in which anything was done.
  std::uint64_t process(std::uint64_t now, std::uint64_t end) {
    if (may_begin_streaks_ && begins_streak(now)) return send_streak(end);
    process_all(now);
    return now;
  }
  void process(std::uint64_t now) { process(now, now + 1); }
  /// The next cycle in which something here can change; `never` when nothing will by itself.
  [[nodiscard]] std::uint64_t next_event() const;

  /// Whether a load/store unit has room for such an instruction.
  [[nodiscard]] bool accepts(Operation operation) const {
    for (const Unit& unit : units_) {
      if (unit.has_room()) return true;
      if (operation != Operation::load) return false;  // the first one alone takes those
    }
    return false;
  }
  /// Why none has.
  [[nodiscard]] Causes busy_causes(Operation operation) const;
  /// Takes a warp instruction. `accepts` holds.
  void accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
              const Execution& execution, std::uint64_t load);

  void start_copy(std::uint64_t now, const Instruction& instruction, const Execution& execution,
                  const CopyOwner& owner);
  [[nodiscard]] const Copies& copies() const { return copies_; }

  /// Until when stores are held back by a release.
  [[nodiscard]] std::uint64_t stores_held_until() const { return stores_held_until_; }
  void invalidate_l1() { l1_.invalidate(); }
  /// Writes out what is left. Returns when all of it, and of earlier writes, has arrived.
  std::uint64_t flush(std::uint64_t now) { return stores_.flush(now); }

  /// The first cycle in which one of its requests for locks is served; `never` without any.
  [[nodiscard]] std::uint64_t next_lock_answer() const { return next_lock_answer_; }
  /// Takes the answers that there are.
  void take_lock_answers();

  /// News since they were last taken.
  [[nodiscard]] bool has_news() const {
    return !completions_.empty() || has_room_again_ || copies_.has_changed();
  }
  std::vector<Completion>& completions() { return completions_; }
  bool take_room_again() { return std::exchange(has_room_again_, false); }
  bool take_copies_changed() { return copies_.take_changed(); }

  /// Whether what it reads from now on is put into the outbox, for whoever serves it later. Where
  /// that ends, all that is in there has been served and taken.
  void run_ahead(bool is_ahead);
  /// When the first request was sent that is not served yet; `never` without any.
  [[nodiscard]] std::uint64_t next_unserved() const { return outbox_.next_cycle(); }
  /// Serves it; returns a cycle before which its answer changes nothing here.
  std::uint64_t serve_next() {
    const FarRequest& request = outbox_.next();
    const Service service = far_.serve(request.arrival, request.line, request.sectors);
    outbox_.serve_next(service);
    return service.ready;
  }
  [[nodiscard]] bool has_served() const { return outbox_.has_served(); }
  /// Takes the answers of what has been served. Returns up to when it may go on without others;
  /// `never` where that is no sooner than the least latency of any.
  std::uint64_t take_served();
  /// Whether stores may leave the buffer when this cycle is processed and instructions are
  /// accepted.
  [[nodiscard]] bool may_flush(std::uint64_t now) const {
    // What it has begun with, and one that is accepted when it has nothing else.
    return stores_.may_flush(now, 2 * machine_.load_store.lines_per_interval);
  }

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
    bool is_late{false};   ///< for a bank, since the cycle in which it issued
    bool is_plain{false};  ///< may be sent as a streak
    bool is_open{false};   ///< some of its requests are in the outbox
    Ways ways{};
  };
  /// A load/store unit: a ring of instructions of which the first is at work.
  struct Unit {
    std::vector<Access> queue{};
    std::size_t size{0};  ///< of the queue
    std::size_t head{0};
    std::size_t used{0};
    std::uint64_t next_action{never};
    Causes blocked{0};  ///< full_mshr: then the next answer counts, not next_action
    std::uint64_t blocked_since{0};
    bool is_sure_to_miss{false};  ///< the request that waits for an entry

    [[nodiscard]] bool has_room() const { return used < size; }
    [[nodiscard]] Access& first() { return queue[head]; }
    [[nodiscard]] const Access& first() const { return queue[head]; }
  };

  [[nodiscard]] std::uint64_t next_action_of(const Unit& unit) const {
    return unit.blocked == cause::full_mshr ? table_.next_answer() : unit.next_action;
  }
  [[nodiscard]] std::uint64_t next_unit_action() const;
  /// How many units may take it, the first ones.
  [[nodiscard]] std::ptrdiff_t units_for(Operation operation) const {
    return operation == Operation::load ? std::ssize(units_) : 1;
  }
  Unit& unit_for(Operation operation);
  void make_resident(const Trace& trace);
  void process_all(std::uint64_t now);
  void receive(std::uint64_t now);
  void take(const Answer& answer);
  void act(std::uint64_t now, Unit& unit);
  void leave_queue(std::uint64_t now, Unit& unit);
  void send_lines(std::uint64_t now, Unit& unit);
  [[nodiscard]] bool may_have_streaks() const;
  [[nodiscard]] static bool is_plain(const Access& access);
  /// Whether it is a load's turn in this cycle, and nothing else's.
  [[nodiscard]] bool begins_streak(std::uint64_t now) const {
    const Unit& unit = units_.front();
    return unit.used > 0 && unit.first().is_plain && !unit.first().is_done &&
           next_action_of(unit) == now && copies_.next_event() == never;
  }
  [[nodiscard]] bool is_sure_to_miss_later(const Instruction& instruction) const;
  void receive_in_streak(std::uint64_t now);
  void ask_for(const LineRequest& missing, std::size_t bucket, std::uint64_t now, Access& access,
               Fills fills);
  std::uint64_t send_streak(std::uint64_t end);
  void stop_waiting(std::uint64_t now, Unit& unit) {
    if (unit.blocked == cause::full_mshr) full_table_cycles_ += now - unit.blocked_since;
    unit.blocked = 0;
  }
  /// What comes after the requests of an interval.
  void go_on(std::uint64_t now, Unit& unit);
  bool foresees_full_table(std::uint64_t now, const Access& access);
  void finish(Access& access);
  static void wait_for_entry(std::uint64_t now, Unit& unit);
  /// Each returns false when the unit has to wait; then its next_action says until when.
  bool send(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_load(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_store(std::uint64_t now, Unit& unit, const Access& access, const LineRequest& request);
  bool merge(std::uint64_t now, Unit& unit, Access& access, PendingLine& pending,
             std::uint32_t missing, bool is_remote, Fills fills);
  /// Waits where the port is taken. True where it is free, or where there is none.
  static bool finds_free(const std::uint64_t* port, std::uint64_t now, Unit& unit);
  /// The port that a line of this instruction goes through; null for what needs none.
  std::uint64_t* port_of(const Instruction& instruction, std::uint64_t line);
  [[nodiscard]] Fills filled_by(const Instruction& instruction) const {
    if (instruction.is_mapped) return Fills::stash;
    return keeps_loads_ && !instruction.skips_l1 ? Fills::l1 : Fills::nothing;
  }
  /// The sectors that the near memory does not have.
  std::uint32_t missing_of(const LineRequest& request, const Instruction& instruction);
  void act_locally(std::uint64_t now, Unit& unit);
  bool forward(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  /// `joined_ready`: of one that joins others, not before; else 0.
  void send_later(std::uint64_t now, Access& access, PendingLine& line, std::uint32_t sectors,
                  std::uint64_t joined_ready, Fills fills);
  void take(Sent& sent, std::uint32_t number, const Service& answer);
  void note(Access& access, std::uint64_t ready, Level level) {
    ++served_by_[static_cast<std::size_t>(level)];
    note_last(access, ready, level);
  }
  /// `all`: anything that has a time and a level.
  template <typename All>
  static void note_last(All& all, std::uint64_t ready, Level level) {
    if (ready < all.ready) return;
    // Of values that come together the one from farther away is to blame.
    if (ready > all.ready || level > all.level) all.level = level;
    all.ready = ready;
  }
  [[nodiscard]] bool owns(const Lock& lock) const;
  void do_acquire(std::uint64_t now, const Access& access);
  void do_release(std::uint64_t now, const Access& access);
  [[nodiscard]] LockRequest request_of(const Access& access) const;
  void send_to_lock(std::uint64_t now, LockRequest request);
  void deliver(const LockRequest& request, std::uint64_t ready, bool has_lock);

  Machine machine_;
  Watched watched_;
  std::span<const std::vector<std::uint64_t>> tables_;
  std::span<const Lock> locks_;
  std::size_t unit_;
  Cache l1_;
  Stash stash_{};
  Ports ports_;
  PendingTable table_;
  FarLink far_;
  Gate& gate_;
  Locks& lock_states_;
  std::vector<std::uint64_t> lock_answers_{};  // when each comes
  std::uint64_t next_lock_answer_{never};      // of these, which every step asks for
  LocalBanks banks_;
  bool keeps_loads_;
  Stores stores_;
  Copies copies_;

  std::vector<Unit> units_;
  bool has_streaks_;        // by the members before it
  bool may_begin_streaks_;  // now: nobody else comes to what is shared, or not to wait for
  bool is_ahead_{false};
  Outbox outbox_{};
  Service open_{0, Level::l1};       // the last answer of those that a load has taken from there
  std::vector<Completion> ended_{};  // of loads whose last request is there
  std::size_t taken_ends_{0};
  std::vector<std::uint64_t> addresses_{};

  std::uint64_t stores_held_until_{0};

  std::vector<Completion> completions_{};
  bool has_room_again_{false};

  std::array<std::uint64_t, level_count> served_by_{};
  std::uint64_t full_table_cycles_{0};
};

}  // namespace clprobe::simulator
