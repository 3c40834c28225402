// SPDX-License-Identifier: Apache-2.0
// One thread's compute units, stepped in the order of time. Several threads go through the moments
// that one thread would go through; gate.hpp says how they keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "simulator/compute_unit.hpp"
#include "simulator/gate.hpp"

namespace clprobe::simulator {

/// A compute unit and when to step it, on lines of its own: its thread writes it all the time.
struct alignas(64) Seat {
  std::unique_ptr<ComputeUnit> unit{};
  std::uint64_t due{0};
  std::uint64_t done_until{0};  ///< of units that run ahead: before it nothing can come any more

  /// The first cycle in which anything is to be done for the unit.
  [[nodiscard]] std::uint64_t next() const {
    const std::uint64_t answer = unit->next_lock_answer();
    return answer < due ? answer : due;
  }
};

/// On lines of its own, as above.
class alignas(64) Stepper {
 public:
  /// All units, for one thread. Keeps references, as the other one does.
  Stepper(Shared& shared, std::vector<Seat>& seats);
  /// The units of one of the threads that `progress` is of. All of them have to run, at the same
  /// time and to the same end, which `progress` may bring forward.
  Stepper(Shared& shared, std::vector<Seat>& seats, Progress& progress, std::size_t thread);

  /// Each cycle begins with the locks, of each thread's units in turn; then come the units.
  static std::size_t moments_of_cycle(std::size_t threads, std::size_t units);

  /// Does what is due before cycle `end`; ends after the cycle in which it has made `max_steps`.
  void run(std::uint64_t end, std::uint64_t max_steps = never);
  /// The same among other threads: what a unit throws is kept.
  void run_guarded(std::uint64_t end);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// The last cycle in which anything was done; 0 without one.
  [[nodiscard]] std::uint64_t last() const { return last_; }
  /// What was thrown, null if nothing was, and when.
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }
  [[nodiscard]] Moment moment() const { return moment_; }

 private:
  struct Own {
    Seat* seat{nullptr};
    Gate* gate{nullptr};
    std::size_t number{0};
  };

  [[nodiscard]] std::uint64_t next() const;
  [[nodiscard]] Moment moment_of(std::uint64_t cycle, std::size_t place) const {
    return cycle * places_ + place;
  }
  /// One unit and one thread: nobody waits for a moment.
  [[nodiscard]] bool is_alone() const { return own_.size() == 1 && progress_ == nullptr; }
  void step_alone(std::uint64_t end, std::uint64_t max_steps);
  void arrive(Moment moment);
  void answer_locks(std::uint64_t now);
  void step_units(std::uint64_t now);

  Shared& shared_;
  Progress* progress_{nullptr};  // none for one thread
  std::size_t thread_{0};
  std::size_t threads_{1};
  std::size_t places_;
  std::vector<Own> own_{};
  Moment moment_{0};
  std::uint64_t steps_{0};
  std::uint64_t last_{0};
  std::exception_ptr failure_{};
};

}  // namespace clprobe::simulator
