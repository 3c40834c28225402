// SPDX-License-Identifier: Apache-2.0
// Functions that the host and the kernels both compute: the hash of cl/mixed.clh, and the order of
// cl/permutation.clh. Pure.
#pragma once

#include <cstdint>

namespace clprobe {

/// Hashes a word. The hash is a bijection that maps 0 to 0, and every bit of the result depends on
/// all bits of `x`. Source: lowbias32 in C. Wellons, Prospecting for hash functions, 2018.
constexpr std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16U)) * 0x7feb352d;
  x = (x ^ (x >> 15U)) * 0x846ca68b;
  return x ^ (x >> 16U);
}

/// Key of the ascending order: permuted(k) is k.
inline constexpr std::uint32_t in_order_key = 0;

/// Random order of the nodes 0 .. nodes - 1, computed position by position. permuted() of
/// cl/permutation.clh computes the same order. A ring links each node to its successor in this
/// order, and the last node to the first. Such a ring is a single cycle of all nodes.
class Permutation {
 public:
  /// Makes the order for `key`. Throws std::out_of_range if `nodes` is 0.
  Permutation(std::uint32_t nodes, std::uint32_t key);

  /// Returns the node at position `k`. `k` must be less than `nodes`.
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

/// Returns the key for the seed of a run. The key is never `in_order_key`.
std::uint32_t permutation_key(std::uint64_t seed);

}  // namespace clprobe
