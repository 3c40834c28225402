// SPDX-License-Identifier: Apache-2.0
// Threads that meet again and again: what only one may do is done by the last to come.
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

class Meeting {
 public:
  explicit Meeting(std::size_t threads) : threads_(threads) {}

  /// True for the last to come, who has to open it. The others return when that is done.
  bool come() {
    const std::uint64_t before = opened_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) return true;
    Wait wait;
    while (opened_.load(std::memory_order_acquire) == before) wait.pause();
    return false;
  }
  void open() {
    arrived_.store(0, std::memory_order_relaxed);
    opened_.fetch_add(1, std::memory_order_release);
  }

 private:
  std::size_t threads_;
  alignas(64) std::atomic<std::size_t> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> opened_{0};  // how often; on a line that others read only
};

}  // namespace clprobe::simulator
