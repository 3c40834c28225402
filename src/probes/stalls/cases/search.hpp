// SPDX-License-Identifier: Apache-2.0
// Cases `uts` and `utsd`: unbalanced tree search with one queue for all groups (`uts`), or with a
// queue per group and a common queue (`utsd`). Pure except `prepare`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/fields.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls::search {

enum class Queues { one, per_group };
inline constexpr std::string_view one_queue = "uts";
inline constexpr std::string_view queue_per_group = "utsd";
constexpr std::string_view name_of(Queues queues) {
  return queues == Queues::one ? one_queue : queue_per_group;
}

/// Phases of a group's time by the clock of its first work-item, in the order of the kernel's
/// results. The phases before `all` add up to `all`; `phase_holds` overlaps them. Documents of
/// older versions have "lock", "queue" and "nothing to do" instead, which divide the waits in
/// another way.
inline constexpr std::string_view phase_holds = "holds the common lock";
inline constexpr std::string_view all_phases[]{"locks",   "queues",  "nodes",
                                               "no work", phase_all, phase_holds};
inline constexpr std::size_t phases_of_all = 4;
/// Name of the finding for the share of a search's time in which a group holds the common lock.
inline constexpr std::string_view lock_use_name = "lock_in_use";

/// Tree with numbered nodes. Node n has the children from children[n] to children[n + 1] - 1. Each
/// node except the root has one parent, whose number is lower. The root has at most 64 children,
/// any other node at most 8.
struct Tree {
  std::vector<std::uint32_t> children{};
  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(children.size() - 1);
  }
};

/// Returns a random tree of exactly `nodes` nodes. `nodes`: at least 1.
Tree make_tree(std::uint32_t nodes, std::uint32_t seed);

/// Returns the sum of the work's results over all nodes of the tree.
std::uint32_t search_result(const Tree& tree, std::uint32_t steps);

struct Shape {
  std::string name{};  ///< name of the case
  std::string timer{};
  std::uint32_t nodes{1};
  std::uint32_t groups{1};
  std::uint32_t steps{1};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("case", name);
    fields.text("timer", timer);
    fields.whole("nodes", nodes, count_from_1);
    fields.whole("groups", groups, count_from_1);
    fields.whole("steps", steps, count_from_1);
  }
};

// Sizes that cl/stalls_search.clh repeats: words of a queue's control data, words of a group's
// results, and work-items of a group.
inline constexpr std::uint64_t queue_words = 32;
inline constexpr std::uint64_t result_words = 10;
inline constexpr std::uint64_t front = 32;

/// Returns the number of slots of each queue: a power of two, at least the number of nodes.
std::uint64_t slots_of_queue(std::uint32_t nodes);
std::uint64_t queues_of(Queues queues, std::uint32_t groups);

/// Returns the points of a case: the whole search and, on devices with a clock, its phases.
std::vector<Point> points_of(Queues queues, const DeviceInfo& device, const Options& requested);
Memory memory_of(Queues queues, const Point& point);
std::string options_of(const DeviceInfo& device, const Point& point);
Work prepare(Queues queues, Shared& shared, const Point& point);
/// Adds findings of a bar: the time of a search, its phases and tail by clocks, and the share of
/// the time in which a group holds the common lock.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);
/// Adds the speed-up of `utsd` over `uts`, here and in the thesis, if both cases were measured.
void add_speed_up(std::vector<Finding>& findings);

template <Queues queues>
constexpr Case case_of(std::string_view what) {
  return {.name = name_of(queues),
          .what = what,
          .points = [](const DeviceInfo& device,
                       const Options& requested) { return points_of(queues, device, requested); },
          .memory = [](const Point& point) { return memory_of(queues, point); },
          .options = options_of,
          .prepare = [](Shared& shared,
                        const Point& point) { return search::prepare(queues, shared, point); },
          .analyse = analyse};
}

}  // namespace clprobe::stalls::search
