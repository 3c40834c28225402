// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/serialization.hpp"

#include <algorithm>
#include <vector>

namespace clprobe::inflight {
namespace {

std::optional<Gap> find_shelf(const ThreadLatencyPlot& plot, int sub_group, double rise) {
  constexpr double max_share = 0.25;
  std::optional<double> begin;
  Gap shelf;
  for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
    const int items = plot.work_items[i];
    if (items <= sub_group) {
      begin = plot.robust[i];
      shelf.before = items;
      continue;
    }
    if (!begin) return std::nullopt;
    if (plot.robust[i] - *begin > max_share * rise) {
      shelf.after = items;
      break;
    }
    shelf.before = items;
  }
  const bool ends = shelf.after > shelf.before;
  return ends && shelf.before >= 2 * sub_group ? std::optional(shelf) : std::nullopt;
}

}  // namespace

std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group) {
  const ThreadLatencyPlot plot = plot_of(curve);
  std::vector<double> items;
  std::vector<double> cycles;
  for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
    if (plot.work_items[i] > sub_group) break;
    items.push_back(plot.work_items[i]);
    cycles.push_back(plot.robust[i]);
  }
  constexpr std::size_t min_points = 3;
  if (items.size() < min_points) return std::nullopt;
  const Line line = fit_least_squares(items, cycles);
  Serialization found;
  found.cycles_per_lane = line.slope;
  found.interval = line.slope_interval;
  const double rise = line.slope * static_cast<double>(sub_group);
  // Where lines have latencies of their own the curve scatters as much as a shelf is flat.
  constexpr double max_doubt = 0.1;
  const bool is_clear = line.slope - line.slope_interval.low < max_doubt * line.slope;
  if (line.slope > 0.0 && is_clear) found.shelf = find_shelf(plot, sub_group, rise);
  return found;
}

}  // namespace clprobe::inflight
