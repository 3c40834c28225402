// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/search.hpp"

#include <algorithm>

#include "probes/shared/mixed.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

// As in the thesis; fewer where every instruction is interpreted or time is short.
constexpr std::int64_t usual_nodes = 8192;
constexpr std::int64_t few_nodes = 1024;
// Operations on a node, one after the other.
constexpr std::int64_t steps_of_node = 64;
// More groups than a device runs at once only wait; and each has a queue of its own.
constexpr std::int64_t most_groups = 256;
constexpr std::uint32_t children_of_root = 64;
constexpr std::uint32_t children_of_node = 8;
// One node in so many has children: more than one for each node, so that the tree grows.
constexpr std::uint32_t one_in = 6;

}  // namespace

Tree make_tree(std::uint32_t nodes, std::uint32_t seed) {
  Tree tree;
  tree.children.push_back(1);
  std::uint32_t made = 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const bool is_last = node + 1 == made;  // nobody else would go on
    std::uint32_t count = 0;
    if (node == 0) {
      count = children_of_root;
    } else if (is_last || mixed(node ^ mixed(seed)) % one_in == 0) {
      count = children_of_node;
    }
    made += std::min(count, nodes - made);
    tree.children.push_back(made);
  }
  return tree;
}

std::uint32_t search_result(const Tree& tree, std::uint32_t steps) {
  std::uint32_t sum = 0;
  for (std::uint32_t node = 0; node < tree.nodes(); ++node) {
    std::uint32_t x = node;
    for (std::uint32_t k = 0; k < steps; ++k) x = step(x);
    sum += mixed(x);
  }
  return sum;
}

std::vector<Point> search_points(std::string_view name, const DeviceInfo& device,
                                 const Limits& limits) {
  Point usual;
  usual.series = name;
  usual.parameters.set("case", std::string(name));
  usual.parameters.set("timer", std::string(to_word(device.launch_timer)));
  usual.parameters.set("nodes", limits.effort == Effort::quick ? few_nodes : usual_nodes);
  usual.parameters.set("groups", std::clamp<std::int64_t>(device.compute_units, 1, most_groups));
  usual.parameters.set("steps", steps_of_node);
  std::vector<Point> points{usual};
  if (device.timer != Timer::clock) return points;
  for (const std::string_view phase : all_search_phases) {
    points.push_back(phase_of_point(usual, phase));
  }
  add_tail(points, usual, device);
  return points;
}

}  // namespace clprobe::stalls
