// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/cycle.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
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

/// The order in which the links lead from node 0. A walk of its own waits for memory at each node;
/// a thousand that begin at nodes far apart, and end where the next one begins, wait together.
class ManyWalks {
 public:
  explicit ManyWalks(const std::vector<std::uint32_t>& next)
      : next_(next),
        spacing_(std::bit_floor(std::max(min_spacing, size() / max_walks))),
        lengths_((size() + spacing_ - 1) / spacing_, 0),
        followers_(lengths_.size()) {}

  std::vector<std::uint32_t> order() {
    walk([](std::size_t, std::uint32_t, std::uint32_t) {});
    std::vector<std::uint32_t> offsets(lengths_.size());
    std::uint32_t offset = 0;
    for (std::size_t k = 0; offset < size(); k = followers_[k]) {
      offsets[k] = offset;
      offset += lengths_[k];
    }
    std::vector<std::uint32_t> order(size());
    walk([&](std::size_t k, std::uint32_t step, std::uint32_t node) {
      order[offsets[k] + step] = node;
    });
    return order;
  }

 private:
  static constexpr std::uint32_t max_walks = 1024;
  // What is kept of a walk is little beside its nodes.
  static constexpr std::uint32_t min_spacing = 64;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(next_.size()); }

  /// Calls `visit(walk, step, node)` for every node.
  template <typename Visit>
  void walk(Visit visit) {
    std::vector<std::uint32_t> at(lengths_.size());
    std::vector<std::size_t> under_way(lengths_.size());
    for (std::size_t k = 0; k < at.size(); ++k) {
      at[k] = static_cast<std::uint32_t>(k) * spacing_;
      under_way[k] = k;
      lengths_[k] = 0;
    }
    while (!under_way.empty()) {
      std::erase_if(under_way, [&](std::size_t k) {
        visit(k, lengths_[k]++, at[k]);
        at[k] = next_[at[k]];
        const bool has_met = (at[k] & (spacing_ - 1)) == 0;
        if (has_met) followers_[k] = at[k] / spacing_;
        return has_met;
      });
    }
  }

  const std::vector<std::uint32_t>& next_;
  std::uint32_t spacing_;               // a power of two
  std::vector<std::uint32_t> lengths_;  // of each walk, in nodes
  std::vector<std::size_t> followers_;  // the walk at whose first node it ends
};

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
  return ManyWalks(next).order();
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
