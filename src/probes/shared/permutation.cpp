// SPDX-License-Identifier: Apache-2.0
// A random permutation of any number of nodes, in a constant number of steps.
//
// Numbers below a power of two are mixed by invertible steps: multiply by an odd factor and add,
// modulo the power of two, then fold the upper half of the bits into the lower half. A round mixes
// the lowest nodes, as many as the largest power of two that fits, and then as many of the highest
// nodes. Both ranges have more than half of the nodes, so that a round mixes every node. Between
// the rounds, the nodes are dealt like cards, which spreads both ranges over all positions. Two
// rounds leave a visible pattern for one node less than a power of two; three rounds do not
// (permutation_test.cpp).
//
// Cycle walking (J. Black, P. Rogaway, Ciphers with arbitrary finite domains, 2002) would need a
// loop of unknown length per node. llvmpipe ends all loops of a work-item after 65,535 iterations
// in total.
#include "probes/shared/permutation.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace clprobe {
namespace {

std::uint32_t step_of_mix(std::uint32_t x, std::uint32_t factor, std::uint32_t key,
                          std::uint32_t mask, std::uint32_t shift) {
  const std::uint32_t y = (x * factor + key) & mask;
  return y ^ (y >> shift);
}

/// Advances a congruential generator. The upper bits of the key are more random than the lower
/// bits: callers rotate the key before they apply a small mask.
std::uint32_t next_key(std::uint32_t key, int times = 1) {
  for (int i = 0; i < times; ++i) key = key * 747796405U + 2891336453U;
  return key;
}

}  // namespace

Permutation::Permutation(std::uint32_t nodes, std::uint32_t key)
    : nodes_(nodes), key_(key), bits_(31U - static_cast<std::uint32_t>(std::countl_zero(nodes))) {
  if (nodes == 0) throw std::out_of_range("a permutation must have at least one node");
  mask_ = (std::uint32_t{1} << bits_) - 1;
}

std::uint32_t Permutation::operator()(std::uint32_t k) const {
  if (key_ == in_order_key) return k;
  constexpr int keys_a_round = 4;
  std::uint32_t x = mix_ends(k, key_);
  x = mix_ends(deal(x), next_key(key_, keys_a_round));
  return mix_ends(deal(x), next_key(key_, 2 * keys_a_round));
}

std::uint32_t Permutation::mix_low(std::uint32_t x, std::uint32_t key) const {
  if (x > mask_) return x;
  const std::uint32_t shift = (bits_ + 1) / 2;
  const std::uint32_t y = step_of_mix(x, 0x9e3779b1U, std::rotl(key, 16), mask_, shift);
  return step_of_mix(y, 0x85ebca77U, std::rotl(next_key(key), 16), mask_, shift);
}

std::uint32_t Permutation::mix_ends(std::uint32_t x, std::uint32_t key) const {
  return mix_low(nodes_ - 1 - mix_low(x, key), next_key(key, 2));
}

std::uint32_t Permutation::deal(std::uint32_t x) const {
  const std::uint32_t bits = bits_ / 2;
  const std::uint32_t parts = std::uint32_t{1} << bits;
  const std::uint32_t part = x % parts;
  return part * (nodes_ >> bits) + std::min(part, nodes_ % parts) + (x >> bits);
}

std::uint32_t permutation_key(std::uint64_t seed) {
  // The multiplication spreads small seeds, such as 1, 2 and 3, over the upper half of the word.
  seed = (seed ^ (seed >> 32U)) * 0x9e3779b97f4a7c15U;
  return std::max(in_order_key + 1, static_cast<std::uint32_t>(seed >> 32U));
}

}  // namespace clprobe
