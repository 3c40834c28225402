// SPDX-License-Identifier: Apache-2.0
// Machines and traces made up for property tests; the seed decides.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  /// From 0 to bound - 1; the bias is of no concern.
  std::uint64_t below(std::uint64_t bound) { return (generator_() >> 11U) % bound; }
  std::uint64_t from_to(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  std::uint64_t one_of(std::initializer_list<std::uint64_t> values) {
    return values.begin()[below(values.size())];
  }
  bool chance(double probability) {
    return static_cast<double>(generator_() >> 11U) * 0x1.0p-53 < probability;
  }

 private:
  std::mt19937_64 generator_;
};

Machine random_machine(Random& random);
Lanes random_lanes(Random& random);
/// Loads, stores, local accesses, locks, copies, barriers, in loops.
Trace random_trace(Random& random, const Machine& machine);

/// 16 warps of 32, of two kinds in turn: loads that a value waits for, and arithmetic.
Trace two_kinds_of_warps(const Machine& machine);
/// The same warps in another order.
void permute(Random& random, Group& group);

}  // namespace clprobe::simulator
