// SPDX-License-Identifier: Apache-2.0
#include "simulator/gate.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace clprobe::simulator {
namespace {

/// Looks from one at the clock to the next: some 10 us.
constexpr int looks_by_clock = 256;

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

Moment Progress::wait(std::size_t thread, Moment moment) {
  Moment reached = others(thread);
  for (int look = 1; reached < moment; ++look) {
    const bool naps = look > looks;
    if (naps) {
      std::this_thread::sleep_for(nap);
    } else {
      pause();
    }
    if ((naps || look % looks_by_clock == 0) && Clock::now() > patience_) end_early();
    reached = others(thread);
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
  while (end == undecided) {
    pause();
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
