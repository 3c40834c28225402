// SPDX-License-Identifier: Apache-2.0
// How many threads step the compute units of a grid. What threads gain depends on how much the
// units have in common and on whether cores are free, so that one thread and all are tried in turn,
// again and again, for some thousand steps each. The results do not depend on it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace clprobe::simulator {

class Pace {
 public:
  /// Of one thread there is nothing to choose.
  explicit Pace(std::size_t max_threads) : max_threads_(max_threads) {}

  /// For the next stretch of steps.
  [[nodiscard]] std::size_t threads() const { return uses_all_ ? max_threads_ : 1; }
  /// What the stretch has taken: decides about the next one.
  void note(std::uint64_t steps, std::chrono::nanoseconds time);

 private:
  std::size_t max_threads_;
  bool uses_all_{false};
  bool is_trial_{false};
  std::array<double, 2> ns_per_step_{};  // with one thread, with all
  std::uint64_t stretches_left_{1};      // until the other one is tried
  std::uint64_t rest_{8};                // in stretches, after the last trial
};

}  // namespace clprobe::simulator
