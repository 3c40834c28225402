// SPDX-License-Identifier: Apache-2.0
// Locks that all compute units share: who asks for one is served when the request arrives at the
// second level, in the order of arrivals.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

/// An acquire or a release on its way to the second level.
struct LockRequest {
  std::size_t unit{0};
  std::uint32_t context{0};
  std::uint32_t lock{0};
  bool is_release{false};
  std::uint64_t line{0};
  AtomicWay way{};
  std::uint64_t served{0};  ///< the cycle in which it is: that of its arrival, or the next one
  std::uint64_t order{0};  ///< given when it is sent: of equal times the first sent is served first

  friend bool operator<(const LockRequest& a, const LockRequest& b) {
    return a.way.arrival != b.way.arrival ? a.way.arrival > b.way.arrival : a.order > b.order;
  }
};

/// What became of one.
struct LockAnswer {
  LockRequest request{};
  std::uint64_t ready{0};
  bool has_lock{false};
};

class Locks {
 public:
  /// Keeps references to the trace's locks and to the memory.
  Locks(std::span<const Lock> locks, FarMemory& far, std::uint64_t units, std::uint64_t seed)
      : locks_(locks), far_(far), seed_(seed), states_(locks.size()), answers_(units) {}

  void send(LockRequest request);
  /// Serves what has arrived until `now`, in order, of all units.
  void process(std::uint64_t now);
  /// The answers to a unit's requests, for it to take away.
  [[nodiscard]] std::vector<LockAnswer>& answers_for(std::size_t unit) { return answers_[unit]; }

  /// Takes it at `cycle` if it is free then, and says whether it was.
  bool take(std::uint32_t lock, std::uint64_t cycle);
  void free(std::uint32_t lock, std::uint64_t cycle);
  /// Cycles by which an answer in vain is late, a few and always others: who tries again in step
  /// with those that have the lock in turn would never have it.
  std::uint64_t next_delay();

 private:
  struct State {
    bool is_held{false};
    std::uint64_t free_from{0};
    std::uint64_t releases{0};
  };

  LockRequest take_first();
  void serve(const LockRequest& request);

  std::span<const Lock> locks_;
  FarMemory& far_;
  std::uint64_t seed_;
  std::vector<State> states_;
  std::vector<std::vector<LockAnswer>> answers_;  // by unit
  std::vector<LockRequest> requests_{};           // a heap, the next one first
  std::uint64_t order_{0};
  std::uint64_t delays_{0};
};

}  // namespace clprobe::simulator
