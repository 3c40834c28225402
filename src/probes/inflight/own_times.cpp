// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/own_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "clprobe/estimate.hpp"
#include "probes/inflight/buffers.hpp"
#include "probes/inflight/curves.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::inflight {
namespace {

/// A CPU's group is as large as its driver likes, and each of its work-items takes as long as the
/// first one.
constexpr std::uint64_t max_items_of_cpu = 8;

std::vector<std::uint64_t> groups_of(const DeviceInfo& device, const Asked& asked) {
  if (!asked.work_items.empty()) return {asked.work_items.begin(), asked.work_items.end()};
  auto most = static_cast<std::uint64_t>(max_items(device));
  if (asked.effort == Effort::quick) most = std::min(most, usual_group);
  return {runs_items_in_turn(device) ? std::min(most, max_items_of_cpu) : most};
}

/// Of one group, where its lines fit twice: a round that is not timed comes before.
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

std::vector<Point> plan_own_times(const DeviceInfo& device, const Asked& asked) {
  std::vector<Point> points;
  for (const std::string& target : asked.targets) {
    Shape shape = shape_for(device, asked, target);
    shape.kind = Kind::sub_group;
    if (runs_items_in_turn(device)) shape.sub_group = 1;
    for (const int loads : asked.loads.empty() ? std::vector<int>{1, 2, 4} : asked.loads) {
      shape.pattern.loads = loads;
      for (const std::uint64_t items : groups_of(device, asked)) {
        shape.work_items = items;
        add_group(shape, points);
      }
    }
  }
  return points;
}

void add_own_times(const DeviceInfo& device, std::span<const Point> points, Findings& found) {
  std::map<std::string, std::pair<Estimate, Estimate>> extremes;
  for (const Point& point : points) {
    if (!is_own_time(point) || !point.failure.empty()) continue;
    const std::optional<Estimate> time = estimate(point, device);
    if (!time) continue;
    const auto [known, is_new] = extremes.emplace(point.series, std::pair(*time, *time));
    if (is_new) continue;
    if (time->ns < known->second.first.ns) known->second.first = *time;
    if (time->ns > known->second.second.ns) known->second.second = *time;
  }
  const double ticks = device.clock.ticks_per_ns;
  const auto add = [&](std::string_view name, const std::string& series, const Estimate& time) {
    found.findings.push_back(finding_of(name, series, "cycles", "in-kernel clock", time.ns * ticks,
                                        time.ns_interval.low * ticks,
                                        time.ns_interval.high * ticks));
  };
  for (const auto& [series, both] : extremes) {
    add("fastest_sub_group", series, both.first);
    add("slowest_sub_group", series, both.second);
  }
}

}  // namespace clprobe::inflight
