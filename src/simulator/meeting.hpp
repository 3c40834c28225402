// SPDX-License-Identifier: Apache-2.0
// Threads that meet again and again: one does there what only one may do, while the others wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace clprobe::simulator {

/// Calls `act(thread)`, which throws nothing, in so many threads, of which the caller is number 0.
/// Returns false, and has called nothing, where there are no more threads to be had.
bool run_together(std::size_t threads, const std::function<void(std::size_t)>& act);

/// How a thread waits for another one: it looks again and again, then leaves its core to others.
class Wait {
 public:
  /// Between two looks. Returns whether it is time to look at the clock.
  bool pause();

 private:
  int looks_{0};
};

/// One thread leads: what it works with stays in the cache of its core.
class Meeting {
 public:
  explicit Meeting(std::size_t threads) : others_(threads - 1) {}

  /// Of the others: returns when all have come and the meeting is over.
  void attend() {
    const std::uint64_t before = ended_.load(std::memory_order_relaxed);
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    for (Wait wait; ended_.load(std::memory_order_acquire) == before;) wait.pause();
  }
  /// Of the one that leads: returns when all others have come, who wait for the end.
  void begin() {
    for (Wait wait; arrived_.load(std::memory_order_acquire) != others_;) wait.pause();
  }
  void end() {
    arrived_.store(0, std::memory_order_relaxed);
    ended_.fetch_add(1, std::memory_order_release);
  }

 private:
  alignas(64) std::atomic<std::size_t> arrived_{0};
  std::size_t others_;
  alignas(64) std::atomic<std::uint64_t> ended_{0};  // how often; on a line that others only read
};

}  // namespace clprobe::simulator
