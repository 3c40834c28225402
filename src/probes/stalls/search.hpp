// SPDX-License-Identifier: Apache-2.0
// The cases `uts` and `utsd`: unbalanced tree search with one queue, or with one for each group and
// a common one. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::stalls {

/// Where a group's time goes by its own clock, in the order of the kernel's results.
inline constexpr std::string_view all_search_phases[]{"lock", "queue", "nodes", "nothing to do",
                                                      "all"};

/// Nodes are numbers; the children of n are children[n] to children[n + 1] - 1. Each but the root
/// has one parent, of a lower number; the root has at most 64 children, others at most 8.
struct Tree {
  std::vector<std::uint32_t> children{};
  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(children.size() - 1);
  }
};

/// A random tree of exactly so many nodes, at least 1.
Tree make_tree(std::uint32_t nodes, std::uint32_t seed);

/// What working on all nodes adds up to.
std::uint32_t search_result(const Tree& tree, std::uint32_t steps);

/// The points of `uts` or `utsd`: the search as a whole and, by a clock, its phases.
std::vector<Point> search_points(std::string_view name, const DeviceInfo& device,
                                 const Limits& limits);

}  // namespace clprobe::stalls
