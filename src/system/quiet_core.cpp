// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace clprobe::system {
namespace {

/// Keeps all of a core's issue slots busy. Another thread on the core would take half of them.
std::uint64_t mix(std::uint64_t seed) {
  constexpr std::uint64_t steps = 8'000;
  std::uint64_t a = seed;
  std::uint64_t b = seed + 1;
  std::uint64_t c = seed + 2;
  for (std::uint64_t i = 0; i < steps; ++i) {
    a = (a ^ (a >> 7U)) + i;
    b = (b ^ (b >> 9U)) + i;
    c = (c ^ (c >> 11U)) + i;
  }
  return a ^ b ^ c;
}

/// The middle one of three: an interrupt is no slow core.
double ns_of_mixing() {
  using Clock = std::chrono::steady_clock;
  std::array<double, 3> times{};
  static volatile std::uint64_t mixed = 1;
  for (double& each : times) {
    const Clock::time_point begin = Clock::now();
    mixed = mix(mixed);
    each = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  std::sort(times.begin(), times.end());
  return times[1];
}

double ns_of_mixing_on(int core) {
  const cpu_set_t one = set_of({core});
  return sched_setaffinity(0, sizeof one, &one) == 0 ? ns_of_mixing() : HUGE_VAL;
}

/// The cores that this thread may use, and may use again in the end.
class KeptCores {
 public:
  KeptCores() {
    CPU_ZERO(&before_);
    are_known_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
  }
  ~KeptCores() {
    if (are_known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  KeptCores(const KeptCores&) = delete;
  KeptCores& operator=(const KeptCores&) = delete;
  KeptCores(KeptCores&&) = delete;
  KeptCores& operator=(KeptCores&&) = delete;

  [[nodiscard]] bool are_known() const { return are_known_; }

 private:
  cpu_set_t before_{};
  bool are_known_{false};
};

}  // namespace

QuietCore::QuietCore() : QuietCore(Cores().allowed(), ns_of_mixing_on) {}

QuietCore::QuietCore(std::vector<int> allowed, Measure measure)
    : allowed_(std::move(allowed)), measure_(std::move(measure)) {}

double QuietCore::ns_on(int core) {
  const double ns = measure_(core);
  fastest_ns_ = std::min(ns, fastest_ns_.value_or(ns));
  return ns;
}

// A shared core is slower by a factor of 1.5 or more.
int QuietCore::choose(int here) {
  constexpr double about_as_fast = 1.15;
  constexpr std::size_t max_looks = 16;
  const bool is_first = !fastest_ns_;  // then nobody knows how fast a core can be
  const auto place = std::find(allowed_.begin(), allowed_.end(), here);
  const auto first = static_cast<std::size_t>(place - allowed_.begin());
  int best = here;
  double best_ns = HUGE_VAL;
  for (std::size_t i = 0; i < std::min(max_looks, allowed_.size()); ++i) {
    const int core = allowed_[(first + i) % allowed_.size()];
    const double ns = ns_on(core);
    if (ns < best_ns) {
      best = core;
      best_ns = ns;
    }
    found_one_ = best_ns <= about_as_fast * *fastest_ns_;
    if (!is_first && found_one_) break;
  }
  return best;
}

void QuietCore::seek() {
  const std::optional<PlaceOfThread> place = place_of_thread();
  const KeptCores kept;
  if (allowed_.size() < 2 || !place || !kept.are_known()) return;
  const cpu_set_t chosen = set_of({choose(place->core)});
  sched_setaffinity(0, sizeof chosen, &chosen);
}

std::optional<int> QuietCore::next() {
  const std::optional<int> first = core_of(turn_++);
  const KeptCores kept;
  return first && kept.are_known() ? choose(*first) : first;
}

std::optional<int> QuietCore::core_of(std::size_t turn) const {
  if (allowed_.size() < 2) return std::nullopt;
  return allowed_[turn % allowed_.size()];
}

}  // namespace clprobe::system
