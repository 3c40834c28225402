// SPDX-License-Identifier: Apache-2.0
// Warps and what issues their instructions. A grid steps it through those cycles in which something
// of it may change.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/memory_system.hpp"

namespace clprobe::simulator {

/// Which of a compute unit's warp contexts something holds for, a bit each: to pass over the others
/// takes no time.
class ContextSet {
 public:
  explicit ContextSet(std::size_t contexts) : words_((contexts + word_bits - 1) / word_bits) {}

  void insert(std::uint32_t context) { words_[context / word_bits] |= bit_of(context); }
  void erase(std::uint32_t context) { words_[context / word_bits] &= ~bit_of(context); }

  /// Calls `act(context)` for each.
  template <typename Act>
  void for_each(Act act) const {
    for (std::size_t index = 0; index < words_.size(); ++index) {
      for (Word left = words_[index]; left != 0; left &= left - 1) {
        act(index * word_bits + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t word_bits = 64;

  [[nodiscard]] static Word bit_of(std::uint32_t context) {
    return Word{1} << (context % word_bits);
  }

  std::vector<Word> words_;
};

class ComputeUnit {
 public:
  /// `unit`: its place among those that share. Keeps references to all.
  ComputeUnit(const Machine& machine, const Trace& trace, const Options& options, Shared& shared,
              std::size_t unit, const Observer* observer);

  /// Takes the next work-group of the trace if it has room for it, and says whether it did.
  bool dispatch_one(std::uint64_t now);
  /// Does what is due at `now`, and before `alone_until` what only its memory has to do then, which
  /// `now` follows. Returns the next cycle in which it has to be called; `never` when only an
  /// answer to its lock requests can go on with it, or when it has ended.
  std::uint64_t step(std::uint64_t& now, std::uint64_t alone_until);
  /// See MemorySystem.
  void take(const LockAnswer& answer) { memory_.take(answer); }
  [[nodiscard]] bool has_ended() const { return phase_ == Phase::ended; }
  /// When its last warp had ended.
  [[nodiscard]] std::uint64_t last_warp_end() const { return last_warp_end_; }
  /// When its last store had arrived.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  /// The last cycle in which a warp came to another instruction: who asks for a lock in vain stays.
  [[nodiscard]] std::uint64_t last_progress() const { return last_progress_; }
  /// Whether all of its warps want a lock or wait at a barrier.
  [[nodiscard]] bool only_waits() const;
  /// Where its first active warp stands, for a message; empty without one.
  [[nodiscard]] std::string find_standstill() const;
  /// To be called once, when all units have ended: it is idle until the last warp of any, and waits
  /// from then on for the last store of any.
  Result finish(std::uint64_t last_warp_end, std::uint64_t end);

 private:
  enum class Phase : std::uint8_t { runs, drains, ended };

  /// What a warp waits for whose end nobody knows yet; an event there wakes it.
  enum class Waiting : std::uint8_t { nothing, room, copies };

  struct Warp {
    bool is_active{false};
    bool has_lock_now{false};  ///< the acquire that is under way has succeeded
    Waiting waiting{Waiting::nothing};
    Operation wanted{Operation::alu};  ///< for which there is no room, if it waits for that
    Causes hold_cause{0};
    std::uint32_t lanes{0};
    std::uint32_t number{0};
    std::uint32_t program{0};
    std::uint32_t at{0};
    std::uint32_t locks_held{0};
    std::size_t group{0};
    std::uint64_t serial{0};
    std::uint64_t held_until{0};       ///< branch, start, barrier, acquire, release
    std::uint64_t pending{0};          ///< registers that may not be ready
    std::uint64_t pending_loads{0};    ///< of these, results of memory instructions
    std::uint64_t pending_special{0};  ///< of the others, results of special functions
    std::array<std::uint64_t, register_count> ready{};
    std::array<std::uint64_t, register_count> load{};
    std::vector<std::uint64_t> turns{};
  };
  struct GroupState {
    std::uint32_t live{0};
    std::uint32_t arrived{0};
    std::vector<std::uint32_t> contexts{};
  };
  /// Why a warp cannot issue. `changes`: the first cycle in which its causes can be others;
  /// `least`: it cannot issue before this one. Both never for what only an event ends.
  struct Blockage {
    Causes causes{0};
    std::uint64_t changes{never};
    std::uint64_t least{0};
    std::uint64_t load{0};
    Waiting waiting{Waiting::nothing};
    Facility needs{Facility::none};  ///< where it is not among the causes that it is busy
    bool depends_on_copies{false};

    void add(Causes cause, std::uint64_t until) {
      causes |= cause;
      changes = until < changes ? until : changes;
      least = until > least ? until : least;
    }
  };

  /// Whether the trace has groups that no unit has begun with.
  [[nodiscard]] bool sees_groups() const { return shared_.next_group < trace_.groups.size(); }
  void take_news(std::uint64_t now);
  void complete(const Completion& completion, std::uint64_t now);
  void wake_for_copies(std::uint64_t now);
  void wait_for(std::uint32_t context, Waiting waiting);
  [[nodiscard]] ContextSet& waiters_for(Operation wanted) {
    return wanted == Operation::load ? load_waiters_ : other_waiters_;
  }
  void wake_by(std::size_t context, std::uint64_t cycle) {
    wake_[context] = std::min(wake_[context], cycle);
    wake_at_ = std::min(wake_at_, cycle);
  }
  /// Who has issued need not be looked at before the values that it needs next are there.
  void sleep_until_data(std::uint32_t context);
  void wake_for_room(std::uint64_t now);
  /// Of many that wait for room the first takes it: the others sleep on.
  void close_for_waiters();
  void start(std::uint32_t context, const WarpWork& work, std::size_t group, std::uint64_t now);
  void settle(std::uint64_t now);
  void end_warp(std::uint32_t context, std::uint64_t now);
  void open_barrier(GroupState& group, std::uint64_t now);

  template <bool all>
  Blockage find_blockage(Warp& warp, std::uint64_t now);
  static void find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                Blockage& found);
  void find_scoreboard_hazard(Warp& warp, std::uint64_t now, Blockage& found) const;
  /// What keeps a facility from taking anything.
  void find_busy(Facility facility, std::uint64_t now, Blockage& found) const;
  void find_copy_hazards(const Warp& warp, const Instruction& instruction, std::uint64_t now,
                         Blockage& found) const;
  [[nodiscard]] bool is_at_end(const Warp& warp) const {
    return warp.at == trace_.programs[warp.program].size();
  }

  /// Returns how many issued, and in `next_wake` when any other warp could.
  std::uint32_t issue(std::uint64_t now, std::uint64_t& next_wake);
  /// True when it issued.
  bool try_issue(std::uint32_t context, std::uint64_t now);
  void execute(std::uint32_t context, const Instruction& instruction, std::uint64_t now);
  void send_to_memory(std::uint32_t context, const Instruction& instruction, std::uint64_t now);
  static void compute(Warp& warp, const Instruction& instruction, const FunctionUnits& units,
                      std::vector<std::uint64_t>& free, std::uint64_t now);
  std::uint32_t choose_program(const Warp& warp, std::uint64_t now);
  void advance(Warp& warp, std::uint64_t now);
  [[nodiscard]] static Execution execution_of(const Warp& warp) {
    return {.lanes = warp.lanes, .warp = warp.number, .turn = warp.turns[warp.at]};
  }

  /// What is known of copies.
  struct CopyState {
    std::uint64_t changes{0};  ///< how often it has changed
    bool is_blocked{false};

    friend bool operator==(const CopyState&, const CopyState&) = default;
  };

  /// What was told of a context depends on, besides its warp.
  struct Told {
    std::uint64_t issued_at{never};
    Facility needs{Facility::none};
    bool depends_on_copies{false};
  };

  /// Its warp has to be looked at: something has happened to it.
  void forget_told(std::uint32_t context) {
    if (!holds_until_.empty()) holds_until_[context] = 0;
  }
  [[nodiscard]] CopyState find_copy_state() const;
  void forget_changed();
  void need(Told& told, Facility facility);
  /// Looks at what has changed. Returns until when it holds, unless the memory has an event.
  std::uint64_t observe(std::uint64_t now);
  /// The warp's state now; returns until when that holds.
  std::uint64_t observe_warp(std::uint32_t context, std::uint64_t now);
  /// What is busy of that which warps need; returns until when that does not end by itself.
  std::uint64_t find_all_busy(std::uint64_t now, Busy& busy) const;
  /// For cycles before `wake_at_`, in which no warp has changed by itself: tells of facilities that
  /// are busy for another reason. False when warps have to be looked at.
  bool observe_between(std::uint64_t now);
  void tell(std::uint64_t first, std::uint64_t cycles, std::uint32_t issued, bool is_last_flush);
  /// Tells of the cycles since it was stepped last, of which nobody knew how many they would be.
  void tell_until(std::uint64_t now);
  void tell_idle(std::uint64_t until, bool is_last_flush);
  std::uint64_t drain(std::uint64_t now);

  const Machine& machine_;
  const Trace& trace_;
  Options options_;
  Shared& shared_;
  const Observer* observer_;
  MemorySystem memory_;
  std::vector<Warp> warps_;
  std::vector<std::uint64_t> wake_;  // by context; apart, since every cycle looks at all of them
  ContextSet load_waiters_;          // for room
  ContextSet other_waiters_;
  std::vector<GroupState> groups_;
  std::vector<std::uint32_t> by_age_{};
  std::uint32_t active_{0};
  std::uint64_t local_bytes_{0};    ///< that groups hold
  std::uint32_t used_contexts_{0};  // all that ever had a warp come before the others
  std::uint32_t unsettled_{0};      // warps at their end, or about to have a lock
  std::uint32_t last_issued_;
  std::uint64_t serial_{0};
  std::uint64_t loads_{0};
  std::vector<std::uint64_t> alu_free_;
  std::vector<std::uint64_t> special_free_;
  std::vector<WarpState> states_;
  std::vector<Told> told_;  // by context
  // Of what was told of a context, unless copies change where it depends on them. Apart as above.
  std::vector<std::uint64_t> holds_until_;
  std::array<std::uint32_t, facility_count> needing_{};  // contexts
  std::uint32_t needed_{0};                              // what any needs, a bit each
  std::vector<std::uint32_t> changed_{};  // contexts whose state is another than in the last cycle
  CopyState copy_state_{};
  Busy busy_{};
  bool are_waiters_awake_{false};  // those for room
  bool has_room_{false};           // for another group, since a warp has ended
  Phase phase_{Phase::runs};
  // Before it no warp can issue, nor what is told of it change, unless the memory has news.
  std::uint64_t wake_at_{0};
  std::uint64_t told_until_{0};
  std::uint32_t issued_{0};  // in the cycle `told_until_`
  std::uint64_t last_progress_{0};
  std::uint64_t last_warp_end_{0};
  std::uint64_t end_{0};
  Result result_{};
};

}  // namespace clprobe::simulator
