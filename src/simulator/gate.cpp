// SPDX-License-Identifier: Apache-2.0
#include "simulator/gate.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace clprobe::simulator {
namespace {

/// Looks before the core is left to others: some 80 us, longer than a thread takes from one moment
/// to the next. Where cores are scarce, whoever is waited for needs this one. Who then sleeps is
/// soon back on a core; who only yields comes behind all that others have to do.
constexpr int looks = 2000;
constexpr std::chrono::microseconds nap{50};

/// A hint that this is a loop of looks, where there is one.
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

Moment Progress::others(std::size_t thread) const {
  Moment least = end_of_time;
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    if (i == thread) continue;
    least = std::min(least, reached_[i].moment.load(std::memory_order_acquire));
  }
  return least;
}

Moment Progress::wait(std::size_t thread, Moment moment) const {
  Moment reached = others(thread);
  for (int look = 0; reached < moment;) {
    if (look < looks) {
      ++look;
      pause();
    } else {
      std::this_thread::sleep_for(nap);
    }
    reached = others(thread);
  }
  // Who fails says so before it lets others pass.
  if (has_failed_before(moment)) throw Stopped{};
  return reached;
}

void Progress::fail(Moment moment) {
  Moment earliest = failed_.load(std::memory_order_relaxed);
  while (moment < earliest &&
         !failed_.compare_exchange_weak(earliest, moment, std::memory_order_relaxed)) {
  }
}

}  // namespace clprobe::simulator
