// SPDX-License-Identifier: Apache-2.0
// The order of a ring's nodes, computed node by node. Pure.
#pragma once

#include <cstdint>

namespace clprobe {

/// The key of the order that is none: each node is followed by the next one.
inline constexpr std::uint32_t in_order_key = 0;

/// A random order of the nodes 0 .. nodes - 1, of which any piece can be made alone, on the device
/// as well: permuted() of cl/permutation.clh gives the same. A ring that leads from each node to
/// the next one in this order, and from the last to the first, is one single cycle of all nodes.
class Permutation {
 public:
  /// `nodes` >= 1. Throws std::out_of_range for none.
  Permutation(std::uint32_t nodes, std::uint32_t key);

  /// The node at position `k` < nodes.
  [[nodiscard]] std::uint32_t operator()(std::uint32_t k) const;

 private:
  [[nodiscard]] std::uint32_t mix_low(std::uint32_t x, std::uint32_t key) const;
  [[nodiscard]] std::uint32_t mix_ends(std::uint32_t x, std::uint32_t key) const;
  [[nodiscard]] std::uint32_t deal(std::uint32_t x) const;

  std::uint32_t nodes_;
  std::uint32_t key_;
  std::uint32_t bits_;
  std::uint32_t mask_;
};

/// The key that a run's seed gives; never that of no order.
std::uint32_t permutation_key(std::uint64_t seed);

}  // namespace clprobe
