// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/unit_share.hpp"

#include <algorithm>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "probes/inflight/findings.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::inflight {
namespace {

/// In bytes per nanosecond.
struct Rate {
  double value{0.0};
  Interval interval{};
};

/// Of a round of the work-group that has most.
Rate rate_of_unit(const DeviceInfo& device, std::span<const Point> points) {
  Rate best;
  for (const Point& point : points) {
    if (!is_of_curve(point) || !point.failure.empty()) continue;
    const Shape shape = Shape::of(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (shape.pattern.target != "memory" || !time || !(time->ns_interval.low > 0.0)) continue;
    const auto bytes = static_cast<double>(shape.lines_per_round() * shape.line_bytes);
    if (bytes / time->ns <= best.value) continue;
    best = {bytes / time->ns, {bytes / time->ns_interval.high, bytes / time->ns_interval.low}};
  }
  return best;
}

/// Of the streams beside the loaded chase, without any pause between their loads.
double rate_of_device(const DeviceInfo& device, std::span<const Point> points) {
  double most = 0.0;
  for (const Point& point : points) {
    if (point.series != loaded_traffic_series || !point.failure.empty()) continue;
    const std::vector<double> ns = access_times_ns(point, device);
    if (ns.empty() || !(median(ns) > 0.0)) continue;
    const LoadedShape shape = LoadedShape::of(point);
    most = std::max(most, static_cast<double>(shape.chase.line_bytes) / median(ns));
  }
  return most;
}

}  // namespace

std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points) {
  const Rate unit = rate_of_unit(device, points);
  const double all = rate_of_device(device, points);
  if (!(unit.value > 0.0) || !(all > 0.0)) return std::nullopt;
  return finding_of("unit_share", unit_series, "share",
                    "compared with streams of all compute units", unit.value / all,
                    unit.interval.low / all, unit.interval.high / all);
}

}  // namespace clprobe::inflight
