// SPDX-License-Identifier: Apache-2.0
// The second axis of the paper's plot, a fact of each point. Pure.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/outstanding.hpp"
#include "probes/inflight/findings.hpp"

namespace clprobe::inflight {
namespace {

/// A document may claim any.
void remove_variance(Point& point) {
  if (point.facts.find(variance_fact) == nullptr) return;
  Parameters kept;
  for (const auto& [name, value] : point.facts) {
    if (name != variance_fact) kept.set(name, value);
  }
  point.facts = std::move(kept);
}

/// By series and work-items; the two ends of a curve have one neighbour each.
std::map<std::pair<std::string, std::int64_t>, double> variances_of(
    const std::vector<Point>& points) {
  std::vector<std::string> series;
  const std::vector<ThreadLatencyCurve> curves = thread_latency_curves(points, series);
  std::map<std::pair<std::string, std::int64_t>, double> variances;
  for (std::size_t number = 0; number < curves.size(); ++number) {
    const ThreadLatencyPlot plot = plot_of(curves[number]);
    for (std::size_t i = 1; i + 1 < plot.work_items.size(); ++i) {
      // Of times that are alike nothing is left but rounding.
      constexpr double rounding = 1e-12;
      const double mean = plot.harmonic_mean[i];
      const double variance = plot.variance[i] < rounding * mean * mean ? 0.0 : plot.variance[i];
      if (is_sane(variance)) variances[{series[number], plot.work_items[i]}] = variance;
    }
  }
  return variances;
}

}  // namespace

void derive_variance(std::vector<Point>& points) {
  const auto variances = variances_of(points);
  for (Point& point : points) {
    remove_variance(point);
    const auto found = variances.find({point.series, point.parameters.integer_or("work_items", 0)});
    if (found != variances.end() && point.failure.empty()) {
      point.facts.set(variance_fact, found->second);
    }
  }
}

}  // namespace clprobe::inflight
