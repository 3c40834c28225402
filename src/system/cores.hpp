// SPDX-License-Identifier: Apache-2.0
// The cores that run this process.
#pragma once

#include <sched.h>

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace clprobe::system {

/// Converts cores to the system's type.
cpu_set_t set_of(const std::vector<int>& cores);

/// Keeps all threads of this process on one core at a time, or where they were before. What the
/// system refuses has no effect.
class Cores {
 public:
  Cores();

  /// Confines all threads to one of the allowed cores.
  void confine(int core);
  /// Returns each thread to its former cores, and newer threads to all allowed cores.
  void release();

  /// The allowed cores of the thread that created this object.
  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }
  /// Returns true if all working cores of the machine are allowed.
  [[nodiscard]] bool has_all() const;

 private:
  std::vector<int> allowed_{};
  std::map<int, cpu_set_t> before_{};  // by thread
  int confined_to_{-1};
};

/// Returns how many threads of this process can run at the same time, at least 1: the allowed
/// cores, and no more than the control group of a container grants.
std::size_t usable_cores();

/// The core that runs the calling thread at this moment, and the memory that is nearest to it.
struct PlaceOfThread {
  int core{0};
  int node{0};
};

/// Returns the calling thread's core and node; nothing if the system does not report them.
std::optional<PlaceOfThread> place_of_thread();

}  // namespace clprobe::system
