// SPDX-License-Identifier: Apache-2.0
// A compute unit: its warps and the issue stage. A grid calls step() of its compute units for each
// cycle in which their state may change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"
#include "simulation/simulator/memory_system.hpp"

namespace clprobe::simulator {

class ComputeUnit {
 public:
  /// Keeps references to all arguments except `options`. `unit`: index among the units of `shared`.
  ComputeUnit(const Machine& machine, const Trace& trace, const Options& options, Shared& shared,
              std::size_t unit, const Observer* observer);

  /// Starts the next work-group of the trace if it fits. Returns true if a group was started.
  bool dispatch_one(std::uint64_t now);
  /// Performs cycle `now`. Returns the cycle for which to call step() next. Returns `never` if the
  /// unit has ended, or if only answers to lock requests can change its state.
  std::uint64_t step(std::uint64_t now);
  void take(const Completion& completion) { memory_.take(completion); }
  [[nodiscard]] bool has_ended() const { return phase_ == Phase::ended; }
  /// Returns the cycle in which the unit's last warp ended.
  [[nodiscard]] std::uint64_t last_warp_end() const { return last_warp_end_; }
  /// Returns the cycle in which the unit's last store or copy has arrived.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  /// Returns the last cycle in which a warp advanced. A failed attempt to lock is no advance.
  [[nodiscard]] std::uint64_t last_progress() const { return last_progress_; }
  /// Returns true if each active warp waits for a lock or at a barrier.
  [[nodiscard]] bool only_waits() const;
  /// Returns a text with the position of the first active warp; empty without an active warp.
  [[nodiscard]] std::string find_standstill() const;
  /// Returns the result. Called once, after all units have ended. Reports this unit to the observer
  /// as idle until `last_warp_end`, when the last warp of any unit ended, and then as waiting for
  /// the last store of any unit until `end`.
  Result finish(std::uint64_t last_warp_end, std::uint64_t end);

 private:
  enum class Phase : std::uint8_t { runs, drains, ended };

  /// An event of the memory system that wakes a warp, and whose time is unknown in advance.
  enum class Waiting : std::uint8_t { nothing, room, copies };

  struct Warp {
    bool is_active{false};
    bool has_lock_now{false};  ///< true if the acquire that the warp executes has succeeded
    Waiting waiting{Waiting::nothing};
    Causes hold_cause{0};
    std::uint32_t lanes{0};
    std::uint32_t number{0};
    std::uint32_t program{0};
    std::uint32_t at{0};
    std::uint32_t locks_held{0};
    std::size_t group{0};
    std::uint64_t serial{0};
    std::uint64_t issued_at{never};    ///< last cycle in which the warp issued
    std::uint64_t held_until{0};       ///< first cycle without `hold_cause`; `never`: unknown
    std::uint64_t pending{0};          ///< registers whose values may not be available yet
    std::uint64_t pending_loads{0};    ///< registers of `pending` that memory instructions write
    std::uint64_t pending_special{0};  ///< registers of `pending` that special functions write
    std::array<std::uint64_t, register_count> ready{};
    std::array<std::uint64_t, register_count> load{};
    std::vector<std::uint64_t> turns{};
  };
  struct GroupState {
    std::uint32_t live{0};
    std::uint32_t arrived{0};
    std::vector<std::uint32_t> contexts{};
  };
  /// The causes that keep a warp from issuing. Causes that end by an event at an unknown time end
  /// in cycle `never`.
  struct Blockage {
    Causes causes{0};
    std::uint64_t changes{never};  ///< first cycle in which the causes can change
    std::uint64_t earliest{0};     ///< first cycle in which the warp may be able to issue
    std::uint64_t load{0};
    Waiting waiting{Waiting::nothing};

    void add(Causes cause, std::uint64_t until) {
      causes |= cause;
      changes = until < changes ? until : changes;
      earliest = until > earliest ? until : earliest;
    }
  };
  [[nodiscard]] bool sees_groups() const { return shared_.next_group < trace_.groups.size(); }
  [[nodiscard]] bool is_at_end(const Warp& warp) const {
    return warp.at == trace_.programs[warp.program].size();
  }
  [[nodiscard]] const Instruction& next_of(const Warp& warp) const {
    return trace_.programs[warp.program][warp.at];
  }
  void take_news(std::uint64_t now);
  void complete(const Completion& completion, std::uint64_t now);
  void wake_by(std::size_t context, std::uint64_t cycle) {
    wake_[context] = std::min(wake_[context], cycle);
    wake_at_ = std::min(wake_at_, cycle);
  }
  void wake_all(Waiting waiting, std::uint64_t now) {
    for (std::size_t context = 0; context < used_contexts_; ++context) {
      if (warps_[context].waiting == waiting) wake_by(context, now);
    }
  }
  void start(std::uint32_t context, const WarpWork& work, std::size_t group, std::uint64_t now);
  void settle(std::uint64_t now);
  void end_warp(std::uint32_t context, std::uint64_t now);
  void open_barrier(GroupState& group, std::uint64_t now);
  void advance(Warp& warp, std::uint64_t now);
  std::uint64_t drain(std::uint64_t now);

  Blockage find_blockage(Warp& warp, std::uint64_t now) const;
  static void find_data_hazards(Warp& warp, std::uint64_t registers, std::uint64_t now,
                                Blockage& found);
  void find_scoreboard_hazard(const Warp& warp, std::uint64_t now, Blockage& found) const;
  void find_busy(Operation operation, std::uint64_t now, Blockage& found) const;
  void find_copy_hazards(const Warp& warp, const Instruction& instruction, std::uint64_t now,
                         Blockage& found) const;

  std::uint32_t issue(std::uint64_t now);
  bool try_issue(std::uint32_t context, std::uint64_t now);
  void execute(std::uint32_t context, const Instruction& instruction, std::uint64_t now);
  void send_to_memory(std::uint32_t context, const Instruction& instruction, std::uint64_t now);
  static void compute(Warp& warp, const Instruction& instruction, const FunctionUnits& units,
                      std::vector<std::uint64_t>& free, std::uint64_t now);
  [[nodiscard]] static Execution execution_of(const Warp& warp) {
    return {.lanes = warp.lanes, .warp = warp.number, .turn = warp.turns[warp.at]};
  }

  void observe(std::uint64_t now);
  std::uint64_t observe_warp(std::uint32_t context, std::uint64_t now);
  void tell_until(std::uint64_t now, bool is_last_flush = false);
  void tell_idle(std::uint64_t until, bool is_last_flush);

  const Machine& machine_;
  const Trace& trace_;
  Options options_;
  Shared& shared_;
  const Observer* observer_;
  MemorySystem memory_;
  std::vector<Warp> warps_;  // one element per context
  // Cycle of each context's next attempt to issue. Separate from `warps_`: every step reads it.
  std::vector<std::uint64_t> wake_;
  std::vector<GroupState> groups_;
  std::vector<std::uint32_t> by_age_{};
  std::uint32_t active_{0};
  std::uint64_t local_bytes_{0};  // bytes of local memory that the running groups use
  // Number of contexts that ever had a warp. These contexts have the lowest indices.
  std::uint32_t used_contexts_{1};
  std::uint32_t unsettled_{0};  // number of warps that are at their end or have acquired a lock
  std::uint32_t last_issued_;
  std::uint64_t serial_{0};
  std::uint64_t loads_{0};
  std::vector<std::uint64_t> alu_free_;
  std::vector<std::uint64_t> special_free_;
  bool has_room_{false};  // true if a warp has ended, so another group may fit
  Phase phase_{Phase::runs};
  std::uint64_t wake_at_{0};  // first cycle with a change, without events of the memory system
  std::uint64_t last_progress_{0};
  std::uint64_t last_warp_end_{0};
  std::uint64_t end_{0};
  Result result_{};
  // Members that only the observer needs.
  std::vector<WarpState> states_;  // one element per context
  std::uint64_t told_until_{0};
  std::uint32_t issued_{0};  // number of issued instructions in cycle `told_until_`
};

}  // namespace clprobe::simulator
