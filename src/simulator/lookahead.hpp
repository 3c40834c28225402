// SPDX-License-Identifier: Apache-2.0
// Compute units that run ahead of each other. What a unit reads comes back no sooner than after the
// least latency of what is shared: up to there, for a window of cycles, it needs no answer, and
// only keeps what it has sent. Between windows that is served in the order of time, cycle by cycle
// and unit by unit as one thread would do it in steps. Whatever else is shared (stores, groups to
// begin with) is done in order as well, by a unit of which all others are ahead. Hence the results
// are those of steps in order, with any number of threads, and without.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/meeting.hpp"
#include "simulator/stepper.hpp"

namespace clprobe::simulator {

/// For how many cycles units may run ahead; 0 where they cannot, or where that is not worth it.
std::uint64_t window_of(const Machine& machine, const Trace& trace, std::uint64_t units,
                        const Options& options, bool is_watched);

class Lookahead {
 public:
  using Clock = std::chrono::steady_clock;

  /// Keeps a reference to the seats, whose units run ahead from now on.
  Lookahead(std::vector<Seat>& seats, std::uint64_t window_cycles);

  /// Does what is due before cycle `end`, in so many threads or, where they have little to do, in
  /// one. Ends before that after so many steps, or when patience is over.
  void run(std::uint64_t end, std::size_t threads, std::uint64_t max_steps,
           Clock::time_point patience);

  /// Since it was made.
  [[nodiscard]] std::uint64_t steps() const { return count_steps(); }
  /// How many windows several threads had work in.
  [[nodiscard]] std::uint64_t shared_windows() const { return shared_windows_; }
  /// The last cycle in which anything was done; 0 without one.
  [[nodiscard]] std::uint64_t last() const;

 private:
  /// Some of the units, and what was done for them. On lines of its own: one thread writes it all
  /// the time.
  struct alignas(64) Share {
    std::size_t first{0};
    std::size_t end{0};
    std::uint64_t steps{0};
    std::uint64_t last{0};
    std::exception_ptr failure{};
  };

  void share_out(std::size_t threads);
  void run_thread(Share& own, Meeting& meeting);
  /// What one thread does while all others wait: all that has to be done in order, and windows in
  /// which there is little to do.
  void lead();
  /// Returns whether there is another one.
  bool begin_window();
  void run_units(Share& share);
  void serve();
  static void take_served(Seat& seat);
  void step_in_order(Seat& seat);
  /// The place of the unit that has to act first; of several the first one.
  [[nodiscard]] std::size_t find_first() const;
  [[nodiscard]] std::uint64_t count_steps() const;

  std::vector<Seat>& seats_;
  std::uint64_t window_cycles_;
  std::uint64_t end_{0};
  std::uint64_t max_steps_{0};  // of this run
  std::uint64_t steps_before_{0};
  Clock::time_point patience_{};
  Share all_;
  std::vector<Share> shares_{};          // none for one thread
  std::vector<std::uint64_t> unserved_;  // by unit, when what is to be served next was sent
  std::uint64_t window_end_{0};
  bool goes_on_{false};
  std::uint64_t counted_steps_{0};  // up to this window
  std::uint64_t window_steps_{0};   // in the last one, of units that ran ahead
  std::uint64_t shared_windows_{0};
};

}  // namespace clprobe::simulator
