// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/cycle.hpp"

#include <random>
#include <stdexcept>

namespace clprobe {
namespace {

/// Uniform in [0, bound) with a bias below 2^-32: the high part of a 64 x 32 bit product.
std::uint32_t below(std::uint32_t bound, std::mt19937_64& random) {
  const std::uint64_t number = random();
  const std::uint64_t high = (number >> 32U) * bound;
  const std::uint64_t low = (number & 0xffffffffU) * bound;
  return static_cast<std::uint32_t>((high + (low >> 32U)) >> 32U);
}

std::vector<std::uint32_t> without_nodes_from(const std::vector<std::uint32_t>& order,
                                              std::uint32_t nodes) {
  // Every node is written and only the kept ones stay: which they are is random, and a branch on it
  // would be mispredicted half of the time.
  std::vector<std::uint32_t> kept(nodes + std::size_t{1});
  std::size_t count = 0;
  for (const std::uint32_t node : order) {
    kept[count] = node;
    count += node < nodes ? 1U : 0U;
  }
  kept.resize(nodes);
  return kept;
}

/// Here the links are freed before the smaller cycles are made: memory_of() counts on it.
std::vector<std::uint32_t> order_of_cycle(std::uint32_t nodes, std::uint64_t seed) {
  std::vector<std::uint32_t> next(nodes);
  std::mt19937_64 random(seed);
  next[0] = 0;
  for (std::uint32_t i = 1; i < nodes; ++i) {
    const std::uint32_t j = below(i, random);
    next[i] = next[j];
    next[j] = i;
  }
  std::vector<std::uint32_t> order(nodes);
  for (std::uint32_t position = 0, node = 0; position < nodes; ++position) {
    order[position] = node;
    node = next[node];
  }
  return order;
}

}  // namespace

NestedCycle::NestedCycle(std::uint32_t max_nodes, std::uint64_t seed) {
  if (max_nodes == 0) throw std::out_of_range("a cycle has at least one node");
  halves_.push_back(order_of_cycle(max_nodes, seed));
  for (std::uint32_t nodes = max_nodes / 2; nodes > 0; nodes /= 2) {
    halves_.push_back(without_nodes_from(halves_.back(), nodes));
  }
}

std::vector<std::uint32_t> NestedCycle::order(std::uint32_t nodes) const {
  if (nodes == 0 || nodes > halves_.front().size()) {
    throw std::out_of_range("a cycle of this many nodes was not made");
  }
  std::size_t half = 0;
  while (half + 1 < halves_.size() && halves_[half + 1].size() >= nodes) ++half;
  return without_nodes_from(halves_[half], nodes);
}

}  // namespace clprobe
