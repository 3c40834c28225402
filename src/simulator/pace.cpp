// SPDX-License-Identifier: Apache-2.0
#include "simulator/pace.hpp"

#include <algorithm>

namespace clprobe::simulator {
namespace {

/// By which threads must be faster than one: they take cores from others.
constexpr double worthwhile_gain = 1.2;

/// Of the time of one thread, before the stretch is given up. Where cores are scarce, a thread that
/// is waited for may come back to one after milliseconds only, at each of its steps.
constexpr double patient_factor = 2.0;

/// Stretches until the other way is tried again. A trial that is slower by several times, on a busy
/// machine, then costs some percent; each that was in vain doubles it.
constexpr std::uint64_t min_rest = 16;
constexpr std::uint64_t max_rest = 512;

}  // namespace

std::chrono::nanoseconds Pace::patience(std::uint64_t steps) const {
  const double ns = patient_factor * ns_per_step_[0] * static_cast<double>(steps);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
}

void Pace::note(bool in_threads, std::uint64_t steps, std::chrono::nanoseconds time) {
  if (steps == 0) return;
  ns_per_step_[in_threads ? 1 : 0] = static_cast<double>(time.count()) / static_cast<double>(steps);
  if (in_threads != uses_threads_) return;  // no core was free: nothing is known of threads
  const bool is_worthwhile = ns_per_step_[0] > worthwhile_gain * ns_per_step_[1];
  if (is_trial_) {
    rest_ = is_worthwhile == uses_threads_ ? min_rest : std::min(2 * rest_, max_rest);
    uses_threads_ = is_worthwhile;
    is_trial_ = false;
    stretches_left_ = rest_;
  } else if (--stretches_left_ == 0 || (uses_threads_ && !is_worthwhile)) {
    // Where cores have become scarce there is no time to wait for that.
    uses_threads_ = !uses_threads_;
    is_trial_ = true;
  }
}

}  // namespace clprobe::simulator
