// SPDX-License-Identifier: Apache-2.0
// The order in which threads come to what compute units share, if several threads step them. Each
// thread tells how far it has come, and who wants something shared waits until all others are as
// far: all of it is done in the order in which one thread would do it, however fast each is. What
// a unit has for itself needs no order. A unit that waits for an answer has nothing to do before
// it, which its thread tells at once, so that the others need not wait for that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace clprobe::simulator {

/// A place in the order of everything: cycles, and in a cycle its parts in the order of one thread.
using Moment = std::uint64_t;
inline constexpr Moment end_of_time = std::numeric_limits<Moment>::max();

/// Thrown to whoever waits for a moment behind one at which another thread has failed.
struct Stopped {};

/// How far each thread has come. Whoever is at the earliest moment never waits for anybody.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// A cycle is so many moments. Who waits when `patience` is over has all end early.
  Progress(std::size_t threads, std::size_t moments_of_cycle,
           Clock::time_point patience = Clock::time_point::max())
      : reached_(threads), moments_of_cycle_(moments_of_cycle), patience_(patience) {}
  [[nodiscard]] std::size_t threads() const { return reached_.size(); }

  /// All that `thread` does before `moment` is done.
  void reach(std::size_t thread, Moment moment) {
    reached_[thread].moment.store(moment, std::memory_order_release);
  }
  /// Waits until all others have reached `moment`. Returns what all of them have reached, which may
  /// be more. Throws Stopped.
  Moment wait(std::size_t thread, Moment moment);

  /// All threads end before one and the same cycle, the first that none of them has begun: who is
  /// within an earlier one may wait for others, who have to come as far.
  void end_early();
  /// Asked by a thread that has reached the begin of a cycle, about that cycle.
  [[nodiscard]] bool ends_before(std::uint64_t cycle) const;

  /// Nobody needs to do anything that comes later.
  void fail(Moment moment);
  [[nodiscard]] bool has_failed_before(Moment moment) const {
    return failed_.load(std::memory_order_relaxed) < moment;
  }

 private:
  /// On a line of its own: each is written all the time, by one thread.
  struct alignas(64) Reached {
    std::atomic<Moment> moment{0};
  };

  [[nodiscard]] Moment others(std::size_t thread) const;

  /// The end while it is looked for.
  static constexpr std::uint64_t undecided = 0;
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::vector<Reached> reached_;
  std::size_t moments_of_cycle_;
  Clock::time_point patience_;
  std::atomic<std::uint64_t> end_{none};  // in cycles
  std::atomic<Moment> failed_{end_of_time};
};

/// What a compute unit passes before it touches what others share. On a line of its own, as above.
class alignas(64) Gate {
 public:
  /// For one thread that steps all units: there is nobody to wait for.
  void open() {
    open_until_ = end_of_time;
    progress_ = nullptr;
  }
  /// For a unit that runs ahead of others, and must not come here.
  void close() {
    open_until_ = 0;
    progress_ = nullptr;
    moment_ = 1;
  }
  /// Keeps a reference.
  void guard(Progress& progress, std::size_t thread) {
    progress_ = &progress;
    thread_ = thread;
    open_until_ = 0;
  }
  /// What the unit does from here on it does at `moment`.
  void arrive(Moment moment) { moment_ = moment; }
  void pass() {
    if (moment_ > open_until_) wait();
  }
  /// It needs nothing more that is shared at this moment, whatever else it does.
  void leave() {
    if (progress_ != nullptr) progress_->reach(thread_, moment_ + 1);
  }

 private:
  void wait() {
    if (progress_ == nullptr) throw std::logic_error("what runs ahead came to what is shared");
    open_until_ = progress_->wait(thread_, moment_);
  }

  Moment moment_{0};
  Moment open_until_{end_of_time};
  std::size_t thread_{0};
  Progress* progress_{nullptr};  // none where the gate is open
};

}  // namespace clprobe::simulator
