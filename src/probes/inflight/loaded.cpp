// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/loaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "probes/inflight/inflight.hpp"
#include "probes/inflight/saturation.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::inflight {
namespace {

// Delays between rounds of the streams, in multiplications. With the longest delay the latency
// stays at its idle value; with the shortest the streams reach the full bandwidth.
constexpr std::array<std::uint64_t, 6> usual_delays{0, 16, 64, 256, 1024, 4096};
// Positions of additional delays between two measured delays. The squares of these shares of the
// distance put most delays near the shorter measured delay.
constexpr std::array finer_shares{0.25, 0.5, 0.75};
constexpr double knee_latencies = 2.0;
// Twice the number of work-items that saturate a compute unit of a Hopper GPU, by Little's law.
constexpr std::int64_t items_of_unit = 1024;
// A work-item of a CPU streams 4 KiB between two reads of the flag that stops the streams.
constexpr std::uint64_t turns_of_cpu = 64;

bool is_cpu(const DeviceInfo& device) { return runs_items_in_turn(device); }

std::int64_t stream_items(const DeviceInfo& device) {
  constexpr std::int64_t max_items = 256;  // largest size that drivers allow without a build
                                           // option
  return is_cpu(device) ? 1 : std::clamp<std::int64_t>(device.max_work_group_size, 1, max_items);
}

Point point_of(const LoadedShape& shape, std::string_view series) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  return point;
}

void add_delay(LoadedShape shape, std::uint64_t delay, std::vector<Point>& points) {
  shape.delay = delay;
  points.push_back(point_of(shape, loaded_latency_series));
  points.push_back(point_of(shape, loaded_traffic_series));
}

struct LoadedTime {
  Estimate latency{};
  Estimate line{};
};

/// Returns the medians of latency and line time by delay, for delays with both values. The minimum
/// line time would give the peak bandwidth of the streams, not their bandwidth during the chase.
std::map<std::int64_t, LoadedTime> times_by_delay(const DeviceInfo& device,
                                                  std::span<const Point> points) {
  std::map<std::int64_t, LoadedTime> all;
  for (const Point& point : points) {
    if (!is_loaded(point) || !point.failure.empty()) continue;
    const LoadedShape shape = LoadedShape::of(point);
    const std::optional<Estimate> middle = median_estimate(point, device);
    if (shape.groups == 0 || !middle) continue;
    LoadedTime& time = all[static_cast<std::int64_t>(shape.delay)];
    (shape.counts_traffic ? time.line : time.latency) = *middle;
  }
  std::erase_if(all, [](const auto& each) {
    return !(each.second.latency.ns > 0.0) || !(each.second.line.ns > 0.0);
  });
  return all;
}

std::optional<Estimate> idle_time(const DeviceInfo& device, std::span<const Point> points) {
  for (const Point& point : points) {
    if (!is_loaded(point) || !point.failure.empty() || LoadedShape::of(point).groups != 0) continue;
    if (auto middle = median_estimate(point, device)) return middle;
  }
  return std::nullopt;
}

constexpr std::string_view method = "loaded latency";

/// Adds the number of requests in flight and of their bytes. If the knee is not reached, both are
/// lower bounds.
void add_parallelism(std::string_view series, double requests, const Interval& interval,
                     const Parallelism& of, double line_bytes, Findings& found) {
  struct Row {
    const char* name;
    const char* at_least;
    const char* unit;
    double factor;
  };
  constexpr double one = 1.0;
  const std::array rows{
      Row{"memory_parallelism", "memory_parallelism_at_least", "count", one},
      Row{"bytes_in_flight", "bytes_in_flight_at_least", "bytes", line_bytes},
  };
  for (const Row& row : rows) {
    Finding finding =
        finding_of(of.is_knee_reached ? row.name : row.at_least, series, row.unit, method);
    if (of.is_knee_reached) {
      finding.value = requests * row.factor;
      finding.low = interval.low * row.factor;
      finding.high = interval.high * row.factor;
    } else {
      // Little's law with the idle latency gives a lower bound, since no request takes less time.
      finding.value = interval.low * row.factor;
      finding.low = finding.value;
      finding.high = interval.high * row.factor;
    }
    found.findings.push_back(std::move(finding));
  }
}

/// Advises a number of sub-groups, and of loads per sub-group, that reach the parallelism `of`.
Finding parallelism_advice(const Parallelism& of, double line_bytes) {
  constexpr double few = 8.0;
  constexpr double many = 32.0;
  const double lines = of.is_knee_reached ? of.per_compute_unit : of.per_compute_unit_interval.low;
  const auto each = [lines](double sub_groups) { return std::ceil(lines / sub_groups); };
  Finding advice = finding_of("advice", loaded_series, "", method);
  advice.label = fmt::format(
      "To reach {}, keep {}{:.0f} lines of {:.0f} B in flight per compute unit. For example, run "
      "{} sub-groups with {} independent one-line loads each, or {} sub-groups with {}",
      of.is_knee_reached ? "the bandwidth at the knee" : "the highest measured bandwidth",
      of.is_knee_reached ? "" : "at least ", lines, line_bytes, few, each(few), many, each(many));
  return advice;
}

Interval seconds_of(const Interval& ns) {
  return {ns.low / ns_per_second, ns.high / ns_per_second};
}

Finding latency_finding(std::string_view name, const Estimate& time) {
  return finding_of(name, loaded_series, "seconds", method, time.ns / ns_per_second,
                    time.ns_interval.low / ns_per_second, time.ns_interval.high / ns_per_second);
}

void add_latencies(const Estimate& idle, const std::map<std::int64_t, LoadedTime>& times,
                   const Parallelism& of, Findings& found) {
  found.findings.push_back(latency_finding("latency", idle));
  const auto slowest = std::max_element(times.begin(), times.end(), [](auto& a, auto& b) {
    return a.second.latency.ns < b.second.latency.ns;
  });
  found.findings.push_back(latency_finding("max_loaded_latency", slowest->second.latency));
  Finding knee = finding_of("knee_bandwidth", loaded_series, "bytes_per_second", method);
  if (of.is_knee_reached) {
    knee.value = of.knee_bytes_per_second;
    knee.low = of.knee_interval.low;
    knee.high = of.knee_interval.high;
  } else {
    knee.reason = "not reached: " + of.reason;
  }
  found.findings.push_back(std::move(knee));
}

}  // namespace

std::optional<Estimate> median_estimate(const Point& point, const DeviceInfo& device) {
  const std::vector<double> times = access_times_ns(point, device);
  if (times.empty()) return std::nullopt;
  return Estimate{median(times), {quantile(times, 0.25), quantile(times, 0.75)}, {}};
}

bool is_loaded(const Point& point) { return point.parameters.find("stream_groups") != nullptr; }

LoadedShape LoadedShape::of(const Point& point) {
  auto shape = shape_of<LoadedShape>(point);
  shape.counts_traffic = point.series == loaded_traffic_series;
  return shape;
}

std::uint64_t LoadedShape::vectors() const {
  constexpr std::uint64_t vector_bytes = 16;
  return chase.buffer_bytes / vector_bytes;
}

std::int64_t stream_groups(const DeviceInfo& device) {
  const std::int64_t units = std::max<std::int64_t>(1, device.compute_units);
  // On a CPU each work-group uses one thread, and the chase needs one of the threads. With a
  // single thread there is still one streaming work-group: the launch then reports that streams
  // and chase do not overlap.
  if (is_cpu(device)) return std::max<std::int64_t>(1, units - 1);
  return units * (items_of_unit / stream_items(device));
}

std::vector<Point> loaded_points(const DeviceInfo& device, const Shape& base) {
  LoadedShape shape;
  shape.chase = base;
  shape.chase.kind = Kind::chase;
  shape.items = static_cast<std::uint64_t>(stream_items(device));
  shape.turns = is_cpu(device) ? turns_of_cpu : 1;
  std::vector<Point> points{point_of(shape, loaded_latency_series)};
  shape.groups = static_cast<std::uint64_t>(stream_groups(device));
  // In a small buffer the streams would repeat lines and find them in a cache.
  if (shape.vectors() < 2 * shape.groups * shape.vectors_per_round()) return {};
  for (const std::uint64_t delay : usual_delays) add_delay(shape, delay, points);
  return points;
}

std::vector<Point> refine_loaded(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<Point> more;
  const auto times = times_by_delay(device, points);
  const std::optional<Estimate> idle = idle_time(device, points);
  const auto any = std::find_if(points.begin(), points.end(), [](const Point& point) {
    return is_loaded(point) && LoadedShape::of(point).groups != 0;
  });
  if (!idle || any == points.end()) return more;
  // The delays are added between the longest delay that doubles the latency and the next longer
  // delay.
  for (auto slow = times.rbegin(); slow != times.rend(); ++slow) {
    if (slow->second.latency.ns < knee_latencies * idle->ns) continue;
    if (slow == times.rbegin()) return more;
    const std::int64_t distance = std::prev(slow)->first - slow->first;
    std::set<std::int64_t> delays;
    for (const double share : finer_shares) {
      delays.insert(slow->first +
                    static_cast<std::int64_t>(share * share * static_cast<double>(distance)));
    }
    for (const std::int64_t delay : delays) {
      if (!times.contains(delay)) {
        add_delay(LoadedShape::of(*any), static_cast<std::uint64_t>(delay), more);
      }
    }
    return more;
  }
  return more;
}

void add_loaded_findings(const DeviceInfo& device, std::span<const Point> points, Findings& found) {
  const auto times = times_by_delay(device, points);
  const std::optional<Estimate> idle = idle_time(device, points);
  const auto any = std::find_if(points.begin(), points.end(), [](const Point& point) {
    return is_loaded(point) && LoadedShape::of(point).groups != 0;
  });
  if (any == points.end() || times.empty()) return;
  const LoadedShape shape = LoadedShape::of(*any);
  const auto line_bytes = static_cast<double>(shape.chase.line_bytes);
  std::vector<LoadedPoint> pairs;
  pairs.reserve(times.size());
  for (const auto& [delay, time] : times) {
    const auto rate = [&](double ns) { return line_bytes / ns * ns_per_second; };
    pairs.push_back({rate(time.line.ns),
                     time.latency.ns / ns_per_second,
                     {rate(time.line.ns_interval.high), rate(time.line.ns_interval.low)},
                     seconds_of(time.latency.ns_interval)});
  }
  const std::int64_t units = std::max<std::int64_t>(1, device.compute_units);
  const auto parallelism =
      find_parallelism(pairs, idle ? idle->ns / ns_per_second : 0.0, line_bytes,
                       static_cast<int>(units), idle ? seconds_of(idle->ns_interval) : Interval{});
  if (!parallelism) return;
  if (idle) add_latencies(*idle, times, *parallelism, found);
  // On a CPU this parallelism is not reported per compute unit, since the chains measure that of a
  // core.
  if (!is_cpu(device)) {
    add_parallelism(unit_series, parallelism->per_compute_unit,
                    parallelism->per_compute_unit_interval, *parallelism, line_bytes, found);
    found.findings.push_back(parallelism_advice(*parallelism, line_bytes));
  }
  add_parallelism(device_series, parallelism->requests, parallelism->requests_interval,
                  *parallelism, line_bytes, found);
}

}  // namespace clprobe::inflight
