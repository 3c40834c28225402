// SPDX-License-Identifier: Apache-2.0
// The ports of the near memories: until when the banks of the first level, and local memory, are
// taken by what came or was asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "clprobe/machine.hpp"

namespace clprobe::simulator {

/// Where there are none, nothing is ever taken.
class Ports {
 public:
  explicit Ports(const FirstLevelBanks& config) : l1_(config.count), local_(config.count > 0) {}

  [[nodiscard]] bool exist() const { return !local_.empty(); }
  /// When the port takes the next request; null where there is no port.
  [[nodiscard]] std::uint64_t* of_l1(std::uint64_t line) {
    return l1_.empty() ? nullptr : &l1_[line % l1_.size()];
  }
  [[nodiscard]] std::uint64_t* of_local() { return local_.empty() ? nullptr : &local_.front(); }

  /// What comes at `cycle` has its port for a cycle, behind what came before.
  static void fill(std::uint64_t* port, std::uint64_t cycle) {
    if (port != nullptr) *port = std::max(*port, cycle) + 1;
  }

 private:
  std::vector<std::uint64_t> l1_;
  std::vector<std::uint64_t> local_;
};

}  // namespace clprobe::simulator
