// SPDX-License-Identifier: Apache-2.0
// Compute units in one clock, with their second level, main memory and locks shared.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/lookahead.hpp"
#include "simulator/stepper.hpp"

namespace clprobe::simulator {

class Grid {
 public:
  /// Keeps references to all. `observers`: one per unit, or none at all.
  Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
       std::span<const Observer* const> observers);

  /// Does what is due before cycle `end`, in so many threads or in as many as there can be. The
  /// results do not depend on their number. Threads that wait when `patience` is over end early.
  void run_until(std::uint64_t end, std::size_t threads,
                 Progress::Clock::time_point patience = Progress::Clock::time_point::max());
  [[nodiscard]] std::size_t max_threads() const { return max_threads_; }
  /// Where units run ahead of each other, which tests want to know.
  [[nodiscard]] const std::optional<Lookahead>& lookahead() const { return lookahead_; }
  /// Goes on to the end, in as many threads as are worth it.
  std::vector<Result> run();

 private:
  void dispatch();
  /// The first cycle in which any unit has to act.
  [[nodiscard]] std::uint64_t next() const;
  /// Both return how many steps of units there were.
  std::uint64_t run_alone(std::uint64_t end, std::uint64_t max_steps);
  std::uint64_t run_in_threads(std::uint64_t end, std::size_t threads,
                               Progress::Clock::time_point patience);
  std::uint64_t run_ahead(std::uint64_t end, std::size_t threads, std::uint64_t max_steps,
                          Progress::Clock::time_point patience);
  void run_by_pace(std::uint64_t end);
  [[nodiscard]] bool has_ended() const;
  /// Throws Deadlock where nobody is left who could release the locks that all others want.
  void refuse_standstill() const;
  [[noreturn]] void report_deadlock(std::uint64_t now) const;
  std::vector<Result> finish();

  Options options_;
  Shared shared_;
  std::vector<Seat> seats_;
  std::optional<Lookahead> lookahead_{};  // where units can run ahead of each other
  std::size_t max_threads_;
  std::uint64_t max_spin_cycles_;  // a warp that is to have a lock has it sooner
  std::uint64_t last_{0};          // the last cycle in which any of them did anything
};

}  // namespace clprobe::simulator
