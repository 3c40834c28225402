// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/search.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/stamps.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::search {
namespace {

// As in the thesis; fewer where every instruction is interpreted or time is short.
constexpr std::uint32_t usual_nodes = 8192;
constexpr std::uint32_t few_nodes = 1024;
// Operations on a node, one after the other.
constexpr std::uint32_t steps_of_node = 64;
// More groups than a device runs at once only wait; and each has a queue of its own.
constexpr std::int64_t max_groups = 256;
constexpr std::uint32_t children_of_root = 64;
constexpr std::uint32_t children_of_node = 8;
// One node in so many has children: more than one for each node, so that the tree grows.
constexpr std::uint32_t one_in = 6;
// Alsop 2016, section 6.1: UTSD takes 91 % less time than UTS under plain GPU coherence.
constexpr double utsd_of_thesis = 0.09;

constexpr PhaseLabel labels[]{
    {"locks", "synchronization: lock"},
    {"queues", "memory data: queue"},
    {"nodes", "no stall: node processing"},
    {"no work", "idle: no work"},
    // Older versions booked waits in vain, and those with another lock in hand, elsewhere.
    {"lock", "synchronization: lock, of polls that found work"},
    {"queue", "memory data: queue, or waiting for the common lock"},
    {"nothing to do", "idle: no work, or waiting for locks"},
};

/// Only one group holds the common lock at a time: what all held it for is a part of the time from
/// the first group's beginning to the last one's end.
void add_lock_use(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings) {
  const auto held = phase_time(points, phase_holds, device);
  const auto span = phase_time(points, phase_span, device);
  if (!held || !span || !(span->ns_interval.low > 0.0)) return;
  const double groups = shape_of<Shape>(*points.front()).groups;
  Finding use = finding_of(lock_use_name, bar, "share", "in-kernel clock of the lock holders");
  use.value = groups * held->ns / span->ns;
  use.low = groups * held->ns_interval.low / span->ns_interval.high;
  use.high = groups * held->ns_interval.high / span->ns_interval.low;
  findings.push_back(std::move(use));
}

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

std::uint64_t slots_of_queue(std::uint32_t nodes) { return std::bit_ceil(std::uint64_t{nodes}); }

std::uint64_t queues_of(Queues queues, std::uint32_t groups) {
  return queues == Queues::one ? 1 : std::uint64_t{groups} + 1;
}

std::vector<Point> points_of(Queues queues, const DeviceInfo& device, const Asked& asked) {
  Shape shape;
  shape.name = name_of(queues);
  shape.timer = to_word(device.launch_timer);
  shape.nodes = asked.effort == Effort::quick ? few_nodes : usual_nodes;
  shape.groups =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(device.compute_units, 1, max_groups));
  shape.steps = steps_of_node;
  Point usual;
  usual.series = shape.name;
  write_shape(shape, usual);
  std::vector<Point> points{usual};
  if (device.timer != Timer::clock) return points;
  for (const std::string_view phase : all_phases) points.push_back(with_phase(usual, phase));
  add_tail(points, usual, device);
  return points;
}

Memory memory_of(Queues queues, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
  const std::uint64_t slots = slots_of_queue(shape.nodes) * queues_of(queues, shape.groups);
  const std::uint64_t control = (std::uint64_t{shape.groups} + 2) * queue_words;
  Memory memory;
  memory.own = (shape.nodes + 1 + slots + control) * word_bytes +
               shape.groups * result_words * sizeof(std::uint64_t);
  return memory;
}

void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings) {
  for (const Point* const point : points) {
    if (!phase_of(*point).empty() || !point->failure.empty()) continue;
    if (auto best = cpu_time_finding(bar, *point, device)) {
      findings.push_back(*std::move(best));
    } else if (const auto time = estimate(*point, device)) {
      findings.push_back(time_finding(bar, time->ns, time->ns_interval, "median"));
    }
  }
  const auto all = phase_time(points, phase_all, device);
  if (!all) {
    findings.push_back(without_value(stack_part_name, bar, stack_view_clock,
                                     "distinguishing waiting from work needs an in-kernel clock",
                                     "share"));
    return;
  }
  add_clock_parts(bar, phase_times(points, device, labels), all->ns, points, device, findings);
  add_lock_use(bar, points, device, findings);
}

void add_speed_up(std::vector<Finding>& findings) {
  const auto time_in = [&](std::string_view bar) -> const Finding* {
    for (const Finding& each : findings) {
      if (each.name == stack_time_name && each.series == bar && each.value) return &each;
    }
    return nullptr;
  };
  const Finding* const one = time_in(one_queue);
  const Finding* const each = time_in(queue_per_group);
  if (one == nullptr || each == nullptr || !(*one->low > 0.0)) return;
  constexpr std::string_view what = "utsd, time, against uts";
  Finding here = finding_of(stack_ratio_name, what, "", "ratio of two bars");
  here.value = *each->value / *one->value;
  here.low = *each->low / *one->high;
  here.high = *each->high / *one->low;
  Finding thesis = finding_of(stack_thesis_name, what, "", "Alsop 2016, chapter 6");
  thesis.source = Source::reported;
  thesis.value = utsd_of_thesis;
  findings.push_back(std::move(here));
  findings.push_back(std::move(thesis));
}

}  // namespace clprobe::stalls::search
