// SPDX-License-Identifier: Apache-2.0
// The memory system of a compute unit: load/store units, their resources (first-level cache,
// pending table, store buffer, far memory and locks), and the copy engine. The memory system acts
// in single cycles and reports the next cycle in which it acts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"
#include "simulation/simulator/addresses.hpp"
#include "simulation/simulator/cache.hpp"
#include "simulation/simulator/far_memory.hpp"
#include "simulation/simulator/pending_table.hpp"
#include "simulation/simulator/stores.hpp"

namespace clprobe::simulator {

/// An instruction of which all requests were sent. `ready`: cycle in which its result is available.
struct Completion {
  Operation operation{Operation::load};
  std::uint32_t context{0};
  std::uint64_t writes{0};
  std::uint64_t load{0};
  std::uint64_t ready{0};
  Level level{Level::l1};
  bool has_lock{false};  ///< for an acquire: true if the lock was free
};

/// An acquire or a release that is in flight to the second level. `completion` is complete once the
/// request is served.
struct LockRequest {
  std::size_t unit{0};
  Completion completion{};
  std::uint32_t lock{0};
  std::uint64_t line{0};
  AtomicWay way{};
  std::uint64_t order{0};  ///< order of sending, which decides if arrival times are equal

  friend bool operator<(const LockRequest& a, const LockRequest& b) {
    return a.way.arrival != b.way.arrival ? a.way.arrival > b.way.arrival : a.order > b.order;
  }
};

/// The locks that all compute units share. The second level serves lock requests in order of
/// arrival.
class Locks {
 public:
  /// Keeps references to the trace's locks and to `far`.
  Locks(std::span<const Lock> locks, FarMemory& far, std::uint64_t seed)
      : locks_(locks), far_(far), seed_(seed), states_(locks.size()) {}

  void send(std::uint64_t now, LockRequest request) {
    // A request that arrives in this cycle is served in the next cycle.
    next_ = std::min(next_, std::max(request.way.arrival, now + 1));
    request.order = ++order_;
    requests_.push_back(request);
    std::push_heap(requests_.begin(), requests_.end());
  }
  /// Returns the first cycle in which a request is to be served; `never` without a request.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Serves all requests that have arrived until `now`, in order, and calls `deliver(request)` for
  /// each.
  template <typename Deliver>
  void process(std::uint64_t now, Deliver deliver) {
    while (!requests_.empty() && requests_.front().way.arrival <= now) deliver(serve_first());
    next_ = requests_.empty() ? never : requests_.front().way.arrival;
  }

  /// Releases the lock or tries to acquire it in cycle `cycle`. The core has the answer at `ready`.
  void serve(LockRequest& request, std::uint64_t cycle, std::uint64_t ready) {
    State& state = states_[request.lock];
    Completion& completion = request.completion;
    completion.ready = ready;
    if (completion.operation == Operation::release) {
      state.is_held = false;
      state.free_from =
          cycle + draw(locks_[request.lock].held_elsewhere, ++state.releases, seed_ + request.lock);
      return;
    }
    completion.has_lock = !state.is_held && cycle >= state.free_from;
    if (completion.has_lock) {
      state.is_held = true;
    } else {
      // The delay of a refusal varies by up to 7 cycles. Without variation, a warp could attempt at
      // the same phase as warps that alternate at the lock, and would never get the lock.
      constexpr Latency delay{0, 7};
      completion.ready += draw(delay, ++delays_, seed_);
    }
  }

 private:
  struct State {
    bool is_held{false};
    std::uint64_t free_from{0};
    std::uint64_t releases{0};
  };

  LockRequest serve_first() {
    std::pop_heap(requests_.begin(), requests_.end());
    LockRequest request = requests_.back();
    requests_.pop_back();
    const std::uint64_t performed = far_.perform_atomic(request.way.arrival, request.line);
    serve(request, performed, performed + request.way.back_cycles);
    return request;
  }

  std::span<const Lock> locks_;
  FarMemory& far_;
  std::uint64_t seed_;
  std::vector<State> states_;
  std::vector<LockRequest> requests_{};  // heap with the earliest request first
  std::uint64_t next_{never};
  std::uint64_t order_{0};
  std::uint64_t delays_{0};
};

/// Requests the missing sectors of a line, merged with a request in flight if there is one. A
/// merged value is available at `earliest` or later. Returns nothing if the table has no free entry
/// or the MSHR takes no further request. `has_entry`: true if the instruction has an entry in a
/// table of warp instructions; set to true when it takes one.
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

/// The copy engine, which copies between local and far memory in the background, a few lines per
/// cycle.
class Copies {
 public:
  /// Keeps references to all arguments. The engine shares the pending table and far memory with the
  /// load/store units.
  Copies(const Machine& machine, PendingTable& table, FarLink& far)
      : machine_(machine), table_(table), far_(far) {}

  /// Starts a copy. `first`: address of its first byte in far memory.
  void start(std::uint64_t now, const Instruction& instruction, std::uint64_t first,
             const CopyOwner& owner) {
    const std::uint64_t line_bytes = machine_.l1.line_bytes;
    std::erase_if(copies_, [&](const Copy& each) { return each.done <= now; });
    copies_.push_back({.owner = owner,
                       .id = instruction.id,
                       .is_inward = instruction.operation == Operation::copy_in,
                       .next_line = first / line_bytes,
                       .end_line = (first + instruction.count + line_bytes - 1) / line_bytes});
    // The engine begins the copy in the cycle after the instruction.
    if (!is_stuck_ && next_action_ == never) next_action_ = now + 1;
  }
  /// Sends lines. To be called in every cycle that `next_event` returns.
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

  /// Returns the cycle in which all copies `id` of a group, in both directions, are complete.
  /// Returns 0 without such copies, and `never` while the cycle is unknown.
  [[nodiscard]] std::uint64_t copies_until(std::uint64_t group, std::uint32_t id) const {
    std::uint64_t until = 0;
    for (const Copy& each : copies_) {
      if (each.owner.group == group && each.id == id) until = std::max(until, each.done);
    }
    return until;
  }
  /// Returns the cycle until which copies block a local access that needs copy `id`, by the
  /// machine's granularity. Returns 0 if no copy blocks the access, and `never` while the cycle is
  /// unknown.
  [[nodiscard]] std::uint64_t local_blocked_until(std::uint64_t warp, std::uint32_t id) const {
    const bool blocks_all = machine_.copy.granularity == CopyGranularity::core;
    std::uint64_t until = 0;
    for (const Copy& each : copies_) {
      const bool concerns = blocks_all || (each.owner.warp == warp && each.id == id);
      if (each.is_inward && concerns) until = std::max(until, each.done);
    }
    return until;
  }
  /// Returns true if the engine waits for a table entry, or needs one next while the table is full.
  /// The second condition keeps the state constant while each freed entry is taken again at once.
  [[nodiscard]] bool is_blocked() const {
    if (is_stuck_) return true;
    if (next_action_ == never || !table_.is_full()) return false;
    const auto next = std::find_if(copies_.begin(), copies_.end(),
                                   [](const Copy& each) { return each.done == never; });
    return next != copies_.end() && next->is_inward;
  }
  [[nodiscard]] std::uint64_t last_done() const { return last_done_; }

  /// Returns true if the end of a copy has become known since the last call of take_changed().
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

  /// Sends the next line of a copy. Returns false if the pending table has no free entry.
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

/// The ports of the first level's banks and of local memory. Each port is the cycle until which it
/// is busy.
class Ports {
 public:
  explicit Ports(const Banks& config) : l1_(config.count), local_(config.count > 0) {}

  /// Returns the port of the line's bank; null if ports are unlimited.
  [[nodiscard]] std::uint64_t* of_l1(std::uint64_t line) {
    return l1_.empty() ? nullptr : &l1_[line % l1_.size()];
  }
  [[nodiscard]] std::uint64_t* of_local() { return local_.empty() ? nullptr : &local_.front(); }

  /// Occupies a port for one cycle, for a line that arrives at `cycle`, after lines that arrived
  /// earlier.
  static void fill(std::uint64_t* port, std::uint64_t cycle) {
    if (port != nullptr) *port = std::max(*port, cycle) + 1;
  }

 private:
  std::vector<std::uint64_t> l1_;
  std::vector<std::uint64_t> local_;
};

/// The state that all compute units share.
struct Shared {
  FarMemory far;
  Locks locks;
  std::size_t next_group{0};  ///< first group of the trace that no unit has started yet

  Shared(const Machine& machine, const Trace& trace, std::uint64_t units, std::uint64_t seed)
      : far(machine, units), locks(trace.locks, far, seed) {}
};

class MemorySystem {
 public:
  /// Keeps references to `trace` and `shared`. `unit`: index among the units of `shared`.
  MemorySystem(const Machine& machine, const Trace& trace, Shared& shared, std::size_t unit,
               std::uint64_t seed);
  // Not copyable or movable, because members refer to each other.
  MemorySystem(const MemorySystem&) = delete;
  MemorySystem& operator=(const MemorySystem&) = delete;
  MemorySystem(MemorySystem&&) = delete;
  MemorySystem& operator=(MemorySystem&&) = delete;
  ~MemorySystem() = default;

  /// Performs the work of cycle `now`. To be called in every cycle that `next_event` returns.
  void process(std::uint64_t now);
  /// Returns the next cycle in which the state can change; `never` if only a new request can change
  /// it.
  [[nodiscard]] std::uint64_t next_event() const;

  /// Returns true if a load/store unit has room for an instruction with this operation.
  [[nodiscard]] bool accepts(Operation operation) const {
    for (const Unit& unit : units_) {
      if (unit.queue.size() < machine_.load_store.queue_instructions) return true;
      if (operation != Operation::load) return false;  // only the first unit takes other operations
    }
    return false;
  }
  /// Returns why no load/store unit accepts an instruction with this operation.
  [[nodiscard]] Causes busy_causes(Operation operation) const;
  /// Accepts a warp instruction. `accepts` must return true for its operation.
  void accept(std::uint64_t now, const Instruction& instruction, std::uint32_t context,
              const Execution& execution, std::uint64_t load);

  void start_copy(std::uint64_t now, const Instruction& instruction, const Execution& execution,
                  const CopyOwner& owner);
  [[nodiscard]] const Copies& copies() const { return copies_; }

  /// Returns the cycle until which a release delays stores.
  [[nodiscard]] std::uint64_t stores_held_until() const { return stores_held_until_; }
  void invalidate_l1() { l1_.invalidate(); }
  /// Flushes the store buffer. Returns the cycle of the answer to the last store.
  std::uint64_t flush(std::uint64_t now) { return stores_.flush(now); }

  /// Receives the completion of a lock request that this unit sent.
  void take(const Completion& completion) { completions_.push_back(completion); }

  /// Returns true if a change has not been taken yet: a completed instruction, free space in a
  /// queue, or a copy whose end has become known.
  [[nodiscard]] bool has_news() const {
    return !completions_.empty() || has_room_again_ || copies_.has_changed();
  }
  std::vector<Completion>& completions() { return completions_; }
  bool take_room_again() { return std::exchange(has_room_again_, false); }
  bool take_copies_changed() { return copies_.take_changed(); }

  void report(Result& result) const;

 private:
  /// A warp instruction in a load/store unit.
  struct Access {
    const Instruction* instruction{nullptr};
    Completion completion{};
    std::vector<LineRequest> requests{};
    std::size_t next{0};
    bool has_entry{false};  ///< true if the instruction has an entry in a pending-request table
    bool is_done{false};
    /// True if the access found its bank busy in the cycle in which it issued.
    bool is_late{false};
    Ways ways{};
  };
  /// A load/store unit: a queue of instructions, of which the first is served.
  struct Unit {
    std::deque<Access> queue{};
    std::uint64_t next_action{never};
    /// Causes that block the unit until `next_action` or, with full_mshr, until the next answer.
    Causes blocked{0};
    std::uint64_t blocked_since{0};
  };

  /// Returns how many load/store units, counted from the first, accept this operation.
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
  // The functions send, send_load, send_store and forward return false if the unit must wait, and
  // set the cause in `blocked`.
  bool send(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_load(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  bool send_store(std::uint64_t now, Unit& unit, const Access& access, const LineRequest& request);
  /// Returns true if the port is free or null. Otherwise makes the unit wait for the port.
  static bool finds_free(const std::uint64_t* port, std::uint64_t now, Unit& unit);
  /// Returns the port that a line of the instruction occupies; null without ports.
  std::uint64_t* port_of(const Instruction& instruction, std::uint64_t line);
  [[nodiscard]] Fills filled_by(const Instruction& instruction) const {
    if (instruction.is_mapped) return Fills::stash;
    return keeps_loads_ && !instruction.skips_l1 ? Fills::l1 : Fills::nothing;
  }
  /// Returns the requested sectors that must come from the second level: those missing in L1 or,
  /// for mapped accesses, in the stash. All count if another unit wrote them or L1 is bypassed.
  std::uint32_t missing_of(const LineRequest& request, const Instruction& instruction);
  void act_locally(std::uint64_t now, Unit& unit);
  bool forward(std::uint64_t now, Unit& unit, Access& access, const LineRequest& request);
  void note(Completion& completion, std::uint64_t ready, Level level) {
    ++served_by_[static_cast<std::size_t>(level)];
    if (ready < completion.ready) return;
    // If values from two levels arrive in the same cycle, the level farther from the core counts.
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
