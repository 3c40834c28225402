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
  std::uint64_t order{0};  ///< given when it is sent: of equal times the first sent is served first

  friend bool operator<(const LockRequest& a, const LockRequest& b) {
    return a.way.arrival != b.way.arrival ? a.way.arrival > b.way.arrival : a.order > b.order;
  }
};

class Locks {
 public:
  /// Keeps references to the trace's locks and to the memory.
  Locks(std::span<const Lock> locks, FarMemory& far, std::uint64_t seed)
      : locks_(locks), far_(far), seed_(seed), states_(locks.size()) {}

  void send(LockRequest request);
  [[nodiscard]] std::uint64_t next_event() const {
    return requests_.empty() ? never : requests_.front().way.arrival;
  }
  /// Calls `deliver(request, ready, has_lock)` for what has arrived until `now`, in order.
  template <typename Deliver>
  void process(std::uint64_t now, Deliver deliver) {
    while (next_event() <= now) {
      const LockRequest request = take_first();
      const std::uint64_t performed = far_.perform_atomic(request.way.arrival, request.line);
      const bool has_lock = !request.is_release && take(request.lock, performed);
      if (request.is_release) free(request.lock, performed);
      const bool is_in_vain = !request.is_release && !has_lock;
      const std::uint64_t ready = performed + request.way.back_cycles;
      deliver(request, is_in_vain ? ready + next_delay() : ready, has_lock);
    }
  }

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

  std::span<const Lock> locks_;
  FarMemory& far_;
  std::uint64_t seed_;
  std::vector<State> states_;
  std::vector<LockRequest> requests_{};  // a heap, the next one first
  std::uint64_t order_{0};
  std::uint64_t delays_{0};
};

}  // namespace clprobe::simulator
