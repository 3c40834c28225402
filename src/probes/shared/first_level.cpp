// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/first_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe {
namespace {

double in_unit(const Finding& finding, double ns) {
  return finding.unit == "bytes_per_second" ? ns_per_second / ns : ns / ns_per_second;
}

}  // namespace

Finding of_level(std::string_view name, std::string_view series, int level, std::string_view unit) {
  Finding finding = finding_of(name, series, unit, "segmentation");
  finding.level = level;
  return finding;
}

int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels) {
  return faster_than_first(curve, levels) ? 2 : 1;
}

std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first) {
  const std::optional<CurvePoint> faster = faster_than_first(curve, levels);
  if (!faster) return std::nullopt;
  first.low = first.high = in_unit(first, faster->latency);
  first.reason =
      fmt::format("{}: no plateau; measure more sizes", size_text(faster->working_set_bytes));
  return first;
}

Finding with_end(Finding made, const Level& level, std::span<const CurvePoint> curve) {
  if (level.capacity) {
    return with_value(std::move(made), level.capacity->bytes, level.capacity->low,
                      level.capacity->high);
  }
  made.low = curve.back().working_set_bytes;
  made.reason = fmt::format(
      "the end was not reached: the level extends beyond {}, the largest measured working set",
      size_text(*made.low));
  return made;
}

std::optional<Finding> beyond_last(Finding made, const Level& last,
                                   std::span<const CurvePoint> curve, std::span<const Point> points,
                                   const DeviceInfo& device) {
  if (!last.capacity) return std::nullopt;
  auto first = std::find_if(curve.begin(), curve.end(), [&](const CurvePoint& point) {
    return point.working_set_bytes > last.capacity->high;
  });
  if (first == curve.end()) --first;  // no size is above `high`
  // If only the largest size is beyond the level, the reason names the size before it.
  const bool is_alone = std::next(first) == curve.end() && first != curve.begin();
  const CurvePoint& from = is_alone ? *std::prev(first) : *first;
  const auto [fastest, slowest] = std::minmax_element(
      first, curve.end(),
      [](const CurvePoint& a, const CurvePoint& b) { return a.latency < b.latency; });
  const auto show = made.unit == "seconds" ? format_seconds : format_rate;
  const Finding largest = at_largest_size(made, points, device);
  made.value = in_unit(made, curve.back().latency);
  const auto [low, high] =
      std::minmax({*largest.low, *largest.high, in_unit(made, fastest->latency),
                   in_unit(made, slowest->latency)});
  made.low = low;
  made.high = high;
  made.reason = fmt::format("no plateau beyond {}: {} at that size, {} at {}",
                            size_text(from.working_set_bytes), show(in_unit(made, from.latency)),
                            show(*made.value), size_text(curve.back().working_set_bytes));
  return made;
}

Finding at_largest_size(Finding made, std::span<const Point> points, const DeviceInfo& device) {
  double largest = 0.0;
  std::size_t sizes = 0;
  for (const Point& point : points) {
    const std::vector<CurvePoint> at = latency_curve({&point, 1}, made.series, device);
    if (at.empty()) continue;
    ++sizes;
    if (at.front().working_set_bytes < largest) continue;
    largest = at.front().working_set_bytes;
    const Interval ns = estimate(point, device)->ns_interval;
    made.value = in_unit(made, at.front().latency);
    made.low = std::min(in_unit(made, ns.low), in_unit(made, ns.high));
    made.high = std::max(in_unit(made, ns.low), in_unit(made, ns.high));
  }
  made.method = std::string(at_one_size) + size_text(largest);
  made.reason = sizes == 1 ? "one size; no plateau: add sizes with --sizes"
                           : fmt::format(
                                 "{} sizes; no plateau: add sizes with --sizes, or rerun "
                                 "on an idle device",
                                 sizes);
  return made;
}

}  // namespace clprobe
