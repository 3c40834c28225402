// SPDX-License-Identifier: Apache-2.0
// Locks that all compute units share: who asks for one is served when the request arrives at the
// second level, in the order of arrivals.
#pragma once

#include <algorithm>
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

/// What became of one.
struct LockAnswer {
  LockRequest request{};
  std::uint64_t ready{0};
  bool has_lock{false};
};

class Locks {
 public:
  /// Keeps references to the trace's locks and to the memory.
  Locks(std::span<const Lock> locks, FarMemory& far, std::uint64_t seed)
      : locks_(locks), far_(far), seed_(seed), states_(locks.size()) {}

  void send(std::uint64_t now, LockRequest request) {
    // A request that arrives in this cycle is served in the next.
    next_ = std::min(next_, std::max(request.way.arrival, now + 1));
    request.order = ++order_;
    requests_.push_back(request);
    std::push_heap(requests_.begin(), requests_.end());
  }
  /// The first cycle in which a request is served; `never` without any.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Serves what has arrived until `now`, in order, of all units: calls `deliver(answer)` for each.
  template <typename Deliver>
  void process(std::uint64_t now, Deliver deliver) {
    while (!requests_.empty() && requests_.front().way.arrival <= now) deliver(serve_first());
    next_ = requests_.empty() ? never : requests_.front().way.arrival;
  }

  /// Takes it at `cycle` if it is free then, and says whether it was.
  bool take(std::uint32_t lock, std::uint64_t cycle) {
    State& state = states_[lock];
    if (state.is_held || cycle < state.free_from) return false;
    state.is_held = true;
    return true;
  }
  void free(std::uint32_t lock, std::uint64_t cycle) {
    State& state = states_[lock];
    state.is_held = false;
    state.free_from = cycle + draw(locks_[lock].held_elsewhere, ++state.releases, seed_ + lock);
  }
  /// Cycles by which an answer in vain is late, a few and always others: who tries again in step
  /// with those that have the lock in turn would never have it.
  std::uint64_t next_delay() {
    constexpr Latency delay{0, 7};
    return draw(delay, ++delays_, seed_);
  }

 private:
  struct State {
    bool is_held{false};
    std::uint64_t free_from{0};
    std::uint64_t releases{0};
  };

  LockAnswer serve_first() {
    std::pop_heap(requests_.begin(), requests_.end());
    const LockRequest request = requests_.back();
    requests_.pop_back();
    const std::uint64_t performed = far_.perform_atomic(request.way.arrival, request.line);
    const bool has_lock = !request.is_release && take(request.lock, performed);
    if (request.is_release) free(request.lock, performed);
    const bool is_in_vain = !request.is_release && !has_lock;
    const std::uint64_t ready = performed + request.way.back_cycles;
    return {.request = request,
            .ready = is_in_vain ? ready + next_delay() : ready,
            .has_lock = has_lock};
  }

  std::span<const Lock> locks_;
  FarMemory& far_;
  std::uint64_t seed_;
  std::vector<State> states_;
  std::vector<LockRequest> requests_{};  // a heap, the next one first
  std::uint64_t next_{never};
  std::uint64_t order_{0};
  std::uint64_t delays_{0};
};

}  // namespace clprobe::simulator
