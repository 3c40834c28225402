// SPDX-License-Identifier: Apache-2.0
// The cores that all simulations of a process share. More threads than cores would stand in each
// other's way: a thread waits for another one that has no core to run on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace clprobe::simulator {

class FreeCores {
 public:
  explicit FreeCores(std::size_t cores) : free_(static_cast<std::int64_t>(cores)) {}

  /// As many as are free, `most` at most: how many.
  std::size_t take(std::size_t most) {
    std::int64_t free = free_.load(std::memory_order_relaxed);
    std::int64_t taken = 0;
    do {
      taken = std::clamp<std::int64_t>(free, 0, static_cast<std::int64_t>(most));
    } while (!free_.compare_exchange_weak(free, free - taken, std::memory_order_relaxed));
    return static_cast<std::size_t>(taken);
  }
  /// For a thread that runs whether one is free or not.
  void occupy() { free_.fetch_sub(1, std::memory_order_relaxed); }
  void give_back(std::size_t cores) {
    free_.fetch_add(static_cast<std::int64_t>(cores), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> free_;
};

}  // namespace clprobe::simulator
