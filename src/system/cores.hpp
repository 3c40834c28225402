// SPDX-License-Identifier: Apache-2.0
// Which of the machine's cores run this process.
#pragma once

#include <cstddef>
#include <vector>

namespace clprobe::system {

/// Keeps all threads of this process on one core at a time, or on all that it was allowed when this
/// object was made. What the system refuses has no effect.
class Cores {
 public:
  Cores();

  /// The `turn`-th of the allowed cores, counted round and round.
  void confine(std::size_t turn);
  /// All of them again.
  void release();

  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }

 private:
  std::vector<int> allowed_{};
  int confined_to_{-1};
};

}  // namespace clprobe::system
