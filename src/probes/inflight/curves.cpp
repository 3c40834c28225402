// SPDX-License-Identifier: Apache-2.0
// Which points the probe `inflight` plans of Thread-Latency curves and of sub-groups' own times.
// Pure.
#include "probes/inflight/inflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::inflight {
namespace {

constexpr std::array usual_loads{1, 2, 3, 4, 8};
// Mergers that distinguish a pool of requests from a table of instructions, once there is a spike.
constexpr std::array telling_mergers{2, 4, 8};
constexpr std::array telling_loads{1, 2};
constexpr int list_merger = 16;
constexpr std::array list_loads{2, 3, 4};

std::vector<int> chosen(const std::vector<int>& requested, std::span<const int> usual) {
  return requested.empty() ? std::vector<int>(usual.begin(), usual.end()) : requested;
}

/// A first look ends where groups take another build (work_group.hpp), one for each power of two.
std::int64_t largest_items(const DeviceInfo& device, const Options& requested) {
  const bool is_first_look = requested.effort == Effort::quick && !is_simulated(device);
  if (!is_first_look) return max_items(device);
  return std::min(max_items(device), static_cast<std::int64_t>(usual_group));
}

/// Every second number of work-items of the first two sub-groups, where caches and barriers have
/// their steps; then fewer, until a jump is seen. Of a device's large groups one in four
/// sub-groups: their steps are coarse beside their scatter, and more loads of a work-item ask for
/// as much.
std::vector<int> work_items_of(const DeviceInfo& device, const Options& requested) {
  if (!requested.work_items.empty()) return requested.work_items;
  const auto max = static_cast<int>(largest_items(device, requested));
  const int fine = requested.effort == Effort::quick ? 4 : 2;
  const int coarse = requested.effort == Effort::thorough ? 2 : 4 * fine;
  const auto sub_group = static_cast<int>(sub_group_of(device));
  const bool is_even = is_simulated(device) || requested.effort == Effort::thorough;
  const auto step_behind = [&](int n) {
    if (n < 2 * sub_group) return fine;
    return is_even || n < static_cast<int>(usual_group) ? coarse : std::max(coarse, 4 * sub_group);
  };
  std::vector<int> items;
  for (int n = fine; n <= max; n += step_behind(n)) items.push_back(n);
  return items;
}

Point block_of(Shape shape, const LoadPattern& pattern, int work_items) {
  shape.pattern = pattern;
  shape.work_items = static_cast<std::uint64_t>(work_items);
  Point point;
  point.series = fmt::format("{}-x{}", pattern.target, pattern.loads);
  if (pattern.merger > 1) {
    point.series += fmt::format("-{}-{}", word_in(merger_modes, pattern.mode), pattern.merger);
  }
  if (pattern.loads == 0) point.series = overhead_series;
  write_shape(shape, point);
  return point;
}

/// True if its lines fit twice: an untimed round comes first.
bool fits(const Point& point) {
  const Shape shape = Shape::of(point);
  return shape.lines_per_round() * 2 <= shape.lines();
}

void add_curve(const DeviceInfo& device, const Options& requested, const LoadPattern& pattern,
               const std::vector<int>& work_items, std::vector<Point>& points) {
  const Shape shape = shape_for(device, requested, pattern.target);
  for (const int items : work_items) {
    Point point = block_of(shape, pattern, items);
    if (fits(point)) points.push_back(std::move(point));
  }
}

std::vector<LoadPattern> patterns_of(const std::string& target, const std::vector<int>& all_loads,
                                     const std::vector<int>& mergers) {
  std::vector<LoadPattern> patterns;
  for (const int loads : all_loads) {
    for (const int merger : mergers) {
      patterns.push_back({loads, merger, MergerMode::within, target});
      if (merger > 1) patterns.push_back({loads, merger, MergerMode::across, target});
    }
  }
  return patterns;
}

/// Adds the numbers of loads between one that takes a latency and one that takes two, for a single
/// sub-group.
void add_loads_between(const DeviceInfo& device, const Options& requested,
                       const std::string& target, std::span<const CurveFinding> curves,
                       std::vector<Point>& points) {
  const SubGroupLoads limit = find_sub_group_loads(curves);
  // Curves with mergers, which are yet to come, show if it is the sub-group's own limit.
  if (!limit.open) return;
  std::vector<int> items = work_items_of(device, requested);
  std::erase_if(items, [&](int each) { return each > sub_group_of(device); });
  for (std::int64_t loads = limit.open->low + 1; loads <= limit.open->high; ++loads) {
    add_curve(device, requested, {static_cast<int>(loads), 1, MergerMode::within, target}, items,
              points);
  }
}

/// A CPU's group is as large as its driver likes, and each of its work-items takes as long as the
/// first one.
constexpr std::uint64_t max_items_of_cpu = 8;

std::vector<std::uint64_t> groups_of(const DeviceInfo& device, const Options& requested) {
  if (!requested.work_items.empty()) {
    return {requested.work_items.begin(), requested.work_items.end()};
  }
  auto most = static_cast<std::uint64_t>(max_items(device));
  if (requested.effort == Effort::quick) most = std::min(most, usual_group);
  return {runs_items_in_turn(device) ? std::min(most, max_items_of_cpu) : most};
}

/// Adds the points of one group, if its lines fit twice: an untimed round comes first.
void add_group(const Shape& shape, std::vector<Point>& points) {
  if (shape.lines_per_round() * 2 > shape.lines()) return;
  for (std::uint64_t number = 0; number < shape.sub_groups(); ++number) {
    Shape one = shape;
    one.last_item = std::min((number + 1) * shape.sub_group, shape.work_items);
    Point point;
    point.series =
        fmt::format("{}-x{}-of-{}", shape.pattern.target, shape.pattern.loads, shape.work_items);
    write_shape(one, point);
    points.push_back(std::move(point));
  }
}

}  // namespace

Shape shape_for(const DeviceInfo& device, const Options& requested, std::string_view target) {
  Shape shape;
  shape.pattern.target = target;
  shape.line_bytes = line_of(device).count;
  shape.sub_group = static_cast<std::uint64_t>(sub_group_of(device));
  shape.buffer_bytes = choose_buffers(device, requested).of(target).count;
  return shape;
}

std::vector<Point> plan_curves(const DeviceInfo& device, const Options& requested) {
  std::vector<Point> points;
  const std::vector<int> items = work_items_of(device, requested);
  const std::set<int> few{items.front(), items[items.size() / 2], items.back()};
  add_curve(device, requested, {0, 1, MergerMode::within, requested.targets.front()},
            {few.begin(), few.end()}, points);
  const std::vector<int> loads = chosen(requested.loads, usual_loads);
  for (const std::string& target : requested.targets) {
    for (const LoadPattern& each :
         patterns_of(target, loads, chosen(requested.mergers, std::array{1}))) {
      add_curve(device, requested, each, items, points);
    }
  }
  return points;
}

std::vector<Point> refine_curves(const DeviceInfo& device, const Options& requested,
                                 std::span<const Point> points) {
  std::vector<Point> more;
  std::vector<std::string> series;
  const auto curves = thread_latency_curves(points, series);
  const auto found = find_curves(device, points, curves);
  std::map<std::string, std::vector<CurveFinding>> of_target;
  for (std::size_t i = 0; i < found.size(); ++i) {
    of_target[found[i].pattern.target].push_back(found[i]);
    if (!found[i].spike) continue;
    constexpr int around = 16;
    std::set<int> known;
    for (const ThreadLatencyPoint& each : curves[i].points) known.insert(each.work_items);
    std::vector<int> items;
    const Gap& gap = *found[i].spike;
    for (int n = std::max(2, gap.before - around); n <= gap.after + around; n += 2) {
      if (n <= largest_items(device, requested) && known.insert(n).second) items.push_back(n);
    }
    add_curve(device, requested, found[i].pattern, items, more);
  }
  if (!requested.mergers.empty() || !requested.loads.empty()) return more;
  for (const auto& [target, each] : of_target) {
    add_loads_between(device, requested, target, each, more);
    // Jumps that are no limit's need no telling of its kind.
    const OutstandingLimit limit = infer_limit(each, static_cast<int>(sub_group_of(device)));
    if (limit.kind == OutstandingKind::unobservable) continue;
    // More sub-groups than any list of an entry takes: where lists are full, it jumps as well.
    for (const int loads : list_loads) {
      add_curve(device, requested, {loads, list_merger, MergerMode::across, target},
                work_items_of(device, requested), more);
    }
    const std::vector<int> loads_that_tell(telling_loads.begin(), telling_loads.end());
    const std::vector<int> mergers_that_tell(telling_mergers.begin(), telling_mergers.end());
    for (const LoadPattern& pattern : patterns_of(target, loads_that_tell, mergers_that_tell)) {
      add_curve(device, requested, pattern, work_items_of(device, requested), more);
    }
  }
  return more;
}

std::vector<Point> plan_own_times(const DeviceInfo& device, const Options& requested) {
  std::vector<Point> points;
  for (const std::string& target : requested.targets) {
    Shape shape = shape_for(device, requested, target);
    shape.kind = Kind::sub_group;
    if (runs_items_in_turn(device)) shape.sub_group = 1;
    for (const int loads : requested.loads.empty() ? std::vector<int>{1, 2, 4} : requested.loads) {
      shape.pattern.loads = loads;
      for (const std::uint64_t items : groups_of(device, requested)) {
        shape.work_items = items;
        add_group(shape, points);
      }
    }
  }
  return points;
}

}  // namespace clprobe::inflight
