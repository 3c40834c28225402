// SPDX-License-Identifier: Apache-2.0
// Which of the machine's cores run this process.
#pragma once

#include <sched.h>

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace clprobe::system {

/// Those cores, as the system takes them.
cpu_set_t set_of(const std::vector<int>& cores);

/// Keeps all threads of this process on one core at a time, or where they were before. What the
/// system refuses has no effect.
class Cores {
 public:
  Cores();

  /// One of the allowed cores.
  void confine(int core);
  /// Each thread where it was before; one that came since then on all allowed cores.
  void release();

  /// What this thread was allowed when this object was made.
  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }
  /// Whether these are all cores of the machine that work.
  [[nodiscard]] bool has_all() const;

 private:
  std::vector<int> allowed_{};
  std::map<int, cpu_set_t> before_{};  // by thread
  int confined_to_{-1};
};

/// The core that runs the calling thread at this moment, and the memory that is nearest to it.
struct PlaceOfThread {
  int core{0};
  int node{0};
};

/// Nothing where the system does not say.
std::optional<PlaceOfThread> place_of_thread();

}  // namespace clprobe::system
