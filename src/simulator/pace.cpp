// SPDX-License-Identifier: Apache-2.0
#include "simulator/pace.hpp"

#include <algorithm>

namespace clprobe::simulator {
namespace {

/// By which all threads must be faster than one: they take cores from others.
constexpr double worthwhile_gain = 1.2;

/// Stretches until the other way is tried again. A trial that is slower by several times, on a busy
/// machine, then costs some percent; each that was in vain doubles it.
constexpr std::uint64_t min_rest = 16;
constexpr std::uint64_t max_rest = 512;

}  // namespace

void Pace::note(std::uint64_t steps, std::chrono::nanoseconds time) {
  if (max_threads_ == 1 || steps == 0) return;
  ns_per_step_[uses_all_ ? 1 : 0] = static_cast<double>(time.count()) / static_cast<double>(steps);
  const bool is_worthwhile = ns_per_step_[0] > worthwhile_gain * ns_per_step_[1];
  if (is_trial_) {
    rest_ = is_worthwhile == uses_all_ ? min_rest : std::min(2 * rest_, max_rest);
    uses_all_ = is_worthwhile;
    is_trial_ = false;
    stretches_left_ = rest_;
  } else if (--stretches_left_ == 0 || (uses_all_ && !is_worthwhile)) {
    // Where cores have become scarce there is no time to wait for that.
    uses_all_ = !uses_all_;
    is_trial_ = true;
  }
}

}  // namespace clprobe::simulator
