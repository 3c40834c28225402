// SPDX-License-Identifier: Apache-2.0
// Whether several threads step the compute units of a grid. What threads gain depends on how much
// the units have in common and on whether cores are free, so that one thread and several are tried
// in turn, again and again, for some thousand steps each. The results do not depend on it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace clprobe::simulator {

class Pace {
 public:
  /// For the next stretch of steps.
  [[nodiscard]] bool uses_threads() const { return uses_threads_; }
  /// After which threads need not end so many steps, since one is plainly faster.
  [[nodiscard]] std::chrono::nanoseconds patience(std::uint64_t steps) const;
  /// What a stretch has taken, in one thread where no core was free for others: decides about the
  /// next one.
  void note(bool in_threads, std::uint64_t steps, std::chrono::nanoseconds time);

 private:
  bool uses_threads_{false};
  bool is_trial_{false};
  std::array<double, 2> ns_per_step_{};  // in one thread, in several
  std::uint64_t stretches_left_{1};      // until the other one is tried
  std::uint64_t rest_{8};                // in stretches, after the last trial
};

}  // namespace clprobe::simulator
