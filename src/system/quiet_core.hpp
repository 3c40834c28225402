// SPDX-License-Identifier: Apache-2.0
// A core that nobody else slows down at the moment.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace clprobe::system {

/// Looks for a fast core before what one core does is timed. A core of a shared host may be half of
/// one whose other half is busy: on 16 such cores beside an H200 each ran at 3.0 or at 1.4 to 1.9
/// GHz, for as long as seconds, and launches took 12 % longer at the lower rate.
class QuietCore {
 public:
  /// Returns the time of some arithmetic on a core in ns; infinite if this thread may not use the
  /// core.
  using Measure = std::function<double(int core)>;

  QuietCore();
  /// Uses the caller's measure, which need not move the thread.
  QuietCore(std::vector<int> allowed, Measure measure);

  /// The core to go to: `here` if it is about as fast as any was before; otherwise the next allowed
  /// one that is, or the fastest.
  int choose(int here);
  /// Moves this thread there. It is not kept there.
  void seek();
  /// Returns a quiet core for other threads, starting at the next allowed core each time, so that
  /// several quiet cores alternate. This thread keeps its cores.
  std::optional<int> next();
  /// The `turn`-th of the allowed cores, counted round and round; nothing where there is no other.
  [[nodiscard]] std::optional<int> core_of(std::size_t turn) const;
  /// Returns true if the last search found a core about as fast as the fastest so far.
  [[nodiscard]] bool found_one() const { return found_one_; }

 private:
  double ns_on(int core);

  std::vector<int> allowed_;
  Measure measure_;
  std::optional<double> fastest_ns_{};  // anywhere until now
  bool found_one_{true};
  std::size_t turn_{0};
};

}  // namespace clprobe::system
