// SPDX-License-Identifier: Apache-2.0
// Locks that all compute units share. The second level serves requests in the order of their
// arrivals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

/// An instruction that the load/store unit has sent completely; `ready` is the cycle of its result.
struct Completion {
  Operation operation{Operation::load};
  std::uint32_t context{0};
  std::uint64_t writes{0};
  std::uint64_t load{0};
  std::uint64_t ready{0};
  Level level{Level::l1};
  bool has_lock{false};  ///< acquire: it got the lock
};

/// An acquire or a release on its way to the second level, and its completion once it is served.
struct LockRequest {
  std::size_t unit{0};
  Completion completion{};
  std::uint32_t lock{0};
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

  void send(std::uint64_t now, LockRequest request) {
    // A request that arrives in this cycle is served in the next.
    next_ = std::min(next_, std::max(request.way.arrival, now + 1));
    request.order = ++order_;
    requests_.push_back(request);
    std::push_heap(requests_.begin(), requests_.end());
  }
  /// The first cycle in which a request is served; `never` without any.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Serves what has arrived until `now`, in order, of all units: calls `deliver(request)` for
  /// each.
  template <typename Deliver>
  void process(std::uint64_t now, Deliver deliver) {
    while (!requests_.empty() && requests_.front().way.arrival <= now) deliver(serve_first());
    next_ = requests_.empty() ? never : requests_.front().way.arrival;
  }

  /// Frees the lock, or tries to take it, at `cycle`; the core has the answer at `ready`.
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
      // A refusal is late by a few cycles that vary: a warp that tried again in step with those
      // that take turns at the lock would never have it.
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
  std::vector<LockRequest> requests_{};  // a heap, the next one first
  std::uint64_t next_{never};
  std::uint64_t order_{0};
  std::uint64_t delays_{0};
};

}  // namespace clprobe::simulator
