// SPDX-License-Identifier: Apache-2.0
// Random single cycles for the chase.
#pragma once

#include <cstdint>
#include <vector>

namespace clprobe {

/// A uniformly random single cycle over nodes 0 .. n-1, for every n up to a maximum, at the price
/// of one: Sattolo's algorithm run upwards (node i takes the place of a node j, uniform in [0, i))
/// makes the cycle of n + 1 nodes from that of n by putting one node in, so that leaving the nodes
/// >= n out of the largest cycle gives the cycle of n. Source: S. Sattolo, An algorithm to generate
/// a random cyclic permutation, 1986.
class NestedCycle {
 public:
  /// `max_nodes` >= 1. The same seed gives the same cycles everywhere.
  NestedCycle(std::uint32_t max_nodes, std::uint64_t seed);

  /// What a cycle takes at most, while it is made and after. In bytes.
  [[nodiscard]] static constexpr std::uint64_t memory_of(std::uint64_t max_nodes) {
    return max_nodes * 2 * sizeof(std::uint32_t);
  }

  [[nodiscard]] std::uint32_t max_nodes() const {
    return static_cast<std::uint32_t>(halves_.front().size());
  }

  /// The nodes of the cycle of `nodes` nodes in the order of the chase, node 0 first.
  /// Throws std::out_of_range unless 1 <= nodes <= max_nodes.
  [[nodiscard]] std::vector<std::uint32_t> order(std::uint32_t nodes) const;

 private:
  /// halves_[h]: the order of the cycle of (max_nodes >> h) nodes, so that order() reads at most
  /// twice what it returns.
  std::vector<std::vector<std::uint32_t>> halves_;
};

}  // namespace clprobe
