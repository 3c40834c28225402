// SPDX-License-Identifier: Apache-2.0
#include "report/grids.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "clprobe/estimate.hpp"
#include "report/curves.hpp"

namespace clprobe::report {
namespace {

std::set<double> values_of(const std::vector<Point>& points, std::string_view name) {
  std::set<double> values;
  for (const Point& point : points) {
    if (const auto value = numeric(point, name)) values.insert(*value);
  }
  return values;
}

/// The pair of numeric parameters that makes the fullest grid, by name where several do: at least
/// half of its places are points, and each parameter has at least `min_values` values. The one
/// with more values is x.
std::optional<GridAxes> grid_axes(const std::vector<Point>& points, std::size_t min_values) {
  constexpr double min_filled = 0.5;
  std::set<std::string> names;
  for (const Point& point : points) {
    for (const auto& [name, value] : point.parameters) names.insert(name);
  }
  std::map<std::string_view, std::size_t> values;
  for (const std::string& name : names) {
    const std::size_t count = values_of(points, name).size();
    if (count >= min_values) values[name] = count;
  }
  std::optional<GridAxes> best;
  std::size_t most = 0;
  for (auto a = values.begin(); a != values.end(); ++a) {
    for (auto b = std::next(a); b != values.end(); ++b) {
      const std::size_t across = a->second;
      const std::size_t down = b->second;
      const double cells = static_cast<double>(across) * static_cast<double>(down);
      if (static_cast<double>(points.size()) < min_filled * cells) continue;
      std::set<std::pair<double, double>> pairs;
      for (const Point& point : points) {
        const auto x = numeric(point, a->first);
        const auto y = numeric(point, b->first);
        if (x && y) pairs.insert({*x, *y});
      }
      const bool is_grid = static_cast<double>(pairs.size()) >= min_filled * cells;
      if (!is_grid || pairs.size() <= most) continue;
      most = pairs.size();
      const std::string x(a->first);
      const std::string y(b->first);
      best = across >= down ? GridAxes{x, y} : GridAxes{y, x};
    }
  }
  return best;
}

}  // namespace

std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device,
                           const GridAxes& axes) {
  const bool is_rate = result.unit != Unit::seconds;
  std::vector<Grid> grids;
  for (const std::string& series : series_of(result)) {
    Grid grid{.series = series};
    for (const Point& point : result.points) {
      const auto x = numeric(point, axes.x);
      const auto y = numeric(point, axes.y);
      if (point.series != series || !x || !y) continue;
      const std::optional<Estimate> time = estimate(point, device);
      if (!time || !(time->ns > 0.0)) continue;
      grid.cells.push_back({*y, chart_point(*x, *time, is_rate)});
    }
    if (!grid.cells.empty()) grids.push_back(std::move(grid));
  }
  return grids;
}

std::optional<GridAxes> heat_map_axes(const ProbeResult& result) {
  const bool is_declared = !result.view.x.empty() || result.view.kind == ViewKind::stacks;
  constexpr std::size_t min_of_any_probe = 4;  // with fewer, curves show more
  if (!is_declared) return grid_axes(result.points, min_of_any_probe);
  if (result.view.kind != ViewKind::heat_map) return std::nullopt;
  // Of a run that was narrowed to one place there is no map to draw.
  if (values_of(result.points, result.view.x).size() < 2) return std::nullopt;
  return GridAxes{result.view.x, result.view.y};
}

}  // namespace clprobe::report
