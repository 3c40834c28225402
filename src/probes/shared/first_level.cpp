// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/first_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/one_size.hpp"

namespace clprobe {
namespace {

double in_unit(const Finding& finding, double ns) {
  return finding.unit == "bytes_per_second" ? ns_per_second / ns : ns / ns_per_second;
}

std::string size_text(double bytes) {
  return format_bytes({static_cast<std::uint64_t>(std::llround(bytes))});
}

}  // namespace

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
