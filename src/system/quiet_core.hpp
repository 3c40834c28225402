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
  /// How long some arithmetic takes on that core, in ns; infinite where this thread may not go.
  using Measure = std::function<double(int core)>;

  QuietCore();
  /// With a measure of the caller's, which need not move the thread.
  QuietCore(std::vector<int> allowed, Measure measure);

  /// The core to go to: `here` if it is about as fast as any was before; otherwise the next allowed
  /// one that is, or the fastest.
  int choose(int here);
  /// Moves this thread there. It is not kept there.
  void seek();
  /// One for other threads, from the next of the allowed cores on, so that it is not the same one
  /// all the time where several are quiet. This thread stays where it may be.
  std::optional<int> next();
  /// The `turn`-th of the allowed cores, counted round and round; nothing where there is no other.
  [[nodiscard]] std::optional<int> core_of(std::size_t turn) const;
  /// Whether the last look found a core that is about as fast as any was before.
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
