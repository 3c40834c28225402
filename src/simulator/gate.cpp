// SPDX-License-Identifier: Apache-2.0
#include "simulator/gate.hpp"

#include <algorithm>
#include <chrono>

#include "simulator/meeting.hpp"

namespace clprobe::simulator {

Moment Progress::others(std::size_t thread) const {
  Moment least = end_of_time;
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    if (i == thread) continue;
    least = std::min(least, reached_[i].moment.load(std::memory_order_acquire));
  }
  return least;
}

Moment Progress::wait(std::size_t thread, Moment moment) {
  Moment reached = others(thread);
  for (Wait wait; reached < moment; reached = others(thread)) {
    if (wait.pause() && Clock::now() > patience_) end_early();
  }
  // Who fails says so before it lets others pass.
  if (has_failed_before(moment)) throw Stopped{};
  return reached;
}

void Progress::end_early() {
  std::uint64_t end = none;
  if (!end_.compare_exchange_strong(end, undecided)) return;
  // Together with the other fence: each thread sees that this has begun, or is seen in its cycle.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Moment latest = 0;
  for (const Reached& each : reached_) {
    const Moment moment = each.moment.load(std::memory_order_acquire);
    if (moment != end_of_time) latest = std::max(latest, moment);
  }
  end_.store(latest / moments_of_cycle_ + 1, std::memory_order_release);
}

bool Progress::ends_before(std::uint64_t cycle) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t end = end_.load(std::memory_order_acquire);
  for (Wait wait; end == undecided;) {
    wait.pause();
    end = end_.load(std::memory_order_acquire);
  }
  return cycle >= end;
}

void Progress::fail(Moment moment) {
  Moment earliest = failed_.load(std::memory_order_relaxed);
  while (moment < earliest &&
         !failed_.compare_exchange_weak(earliest, moment, std::memory_order_relaxed)) {
  }
}

}  // namespace clprobe::simulator
