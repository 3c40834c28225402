// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/ring.hpp"

#include <algorithm>
#include <cmath>

#include "probes/shared/launch_size.hpp"

namespace clprobe {

std::vector<MeasuredRing> read_rings(const DeviceInfo& device, std::span<const Point> points,
                                     std::string_view series) {
  std::vector<MeasuredRing> found;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<RingShape>(point);
    const auto time = estimate(point, device);
    if (shape && time && time->ns > 0.0) found.push_back({*shape, *time});
  }
  return found;
}

std::vector<CurvePoint> curve_of(std::span<const MeasuredRing> rings, std::uint64_t step) {
  std::vector<CurvePoint> curve;
  for (const MeasuredRing& each : rings) {
    if (each.shape.step_bytes != step) continue;
    curve.push_back({static_cast<double>(each.shape.nodes), each.time.ns});
  }
  std::sort(curve.begin(), curve.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.working_set_bytes < b.working_set_bytes;
  });
  return curve;
}

std::vector<std::uint64_t> numbers_of_nodes(double first, double last) {
  constexpr double min_nodes = 16.0;
  std::vector<std::uint64_t> numbers;
  for (int i = 0;; ++i) {
    const double nodes = std::round(min_nodes * std::exp2(i / 2.0));
    if (nodes > last) return numbers;
    if (nodes >= first) numbers.push_back(static_cast<std::uint64_t>(nodes));
  }
}

std::optional<NodesThatFit> fit_of(const std::vector<CurvePoint>& curve, double latency) {
  if (curve.empty()) return std::nullopt;
  const auto is_below = [&](const CurvePoint& each) { return each.latency < latency; };
  const auto above = std::find_if(curve.rbegin(), curve.rend(), is_below).base();
  if (above == curve.begin()) {
    return NodesThatFit{.nodes = above->working_set_bytes, .nodes_above = above->working_set_bytes};
  }
  const CurvePoint& before = *(above - 1);
  NodesThatFit fit{.nodes = before.working_set_bytes,
                   .is_more = above == curve.end(),
                   .nodes_below = before.working_set_bytes};
  if (fit.is_more) return fit;
  const double share = (latency - before.latency) / (above->latency - before.latency);
  fit.nodes *= std::pow(above->working_set_bytes / before.working_set_bytes, share);
  fit.nodes_above = above->working_set_bytes;
  return fit;
}

std::uint64_t warm_hops(const DeviceInfo& device, const RingShape& shape) {
  if (shape.flush_bytes) return 0;
  // A launch on a GPU must not take long. The threads of a CPU may move between cores from launch
  // to launch, so the launch itself walks all rings.
  const std::uint64_t most =
      runs_items_in_turn(device) ? max_iterations / 2 * ring_unroll : std::uint64_t{1} << 14U;
  const std::uint64_t lap = shape.nodes * shape.hops_per_node();
  return lap <= most ? (lap + ring_unroll - 1) / ring_unroll * ring_unroll : 0;
}

}  // namespace clprobe
