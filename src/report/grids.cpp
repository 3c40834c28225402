// SPDX-License-Identifier: Apache-2.0
#include "report/grids.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/probe.hpp"
#include "report/curves.hpp"
#include "report/side_by_side.hpp"

namespace clprobe::report {
namespace {

/// The parameters over which a probe is seen as a heat map; empty for curves.
struct ViewRow {
  std::string_view probe;
  std::string_view x{};
  std::string_view y{};
};

// Probes whose view does not follow from their points.
constexpr std::array view_rows{ViewRow{"latency"}, ViewRow{"stride"}, ViewRow{"inflight"},
                               ViewRow{"banks", "stride_words", "word_bytes"}};

std::set<double> values_of(const std::vector<Point>& points, std::string_view name) {
  std::set<double> values;
  for (const Point& point : points) {
    if (const auto value = numeric(point, name)) values.insert(*value);
  }
  return values;
}

}  // namespace

std::optional<GridAxes> grid_axes(const std::vector<Point>& points, std::size_t least_values) {
  constexpr double least_filled = 0.5;
  std::set<std::string> names;
  for (const Point& point : points) {
    for (const auto& [name, value] : point.parameters) names.insert(name);
  }
  std::optional<GridAxes> best;
  std::size_t most = 0;
  for (auto a = names.begin(); a != names.end(); ++a) {
    for (auto b = std::next(a); b != names.end(); ++b) {
      std::set<std::pair<double, double>> pairs;
      for (const Point& point : points) {
        const auto x = numeric(point, *a);
        const auto y = numeric(point, *b);
        if (x && y) pairs.insert({*x, *y});
      }
      const std::size_t across = values_of(points, *a).size();
      const std::size_t down = values_of(points, *b).size();
      const double filled = static_cast<double>(pairs.size()) /
                            static_cast<double>(std::max<std::size_t>(1, across * down));
      const bool is_grid = across >= least_values && down >= least_values && filled >= least_filled;
      if (!is_grid || pairs.size() <= most) continue;
      most = pairs.size();
      best = across >= down ? GridAxes{*a, *b} : GridAxes{*b, *a};
    }
  }
  return best;
}

std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device,
                           const GridAxes& axes) {
  const bool is_rate = result.quantity == to_word(Quantity::bytes_per_second);
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
  constexpr std::size_t least_of_any_probe = 4;  // with fewer, curves show more
  const auto* const row =
      std::find_if(view_rows.begin(), view_rows.end(),
                   [&](const ViewRow& each) { return each.probe == result.probe; });
  if (row == view_rows.end()) return grid_axes(result.points, least_of_any_probe);
  // Of a run that was narrowed to one place there is no map to draw.
  if (row->x.empty() || values_of(result.points, row->x).size() < 2) return std::nullopt;
  return GridAxes{std::string(row->x), std::string(row->y)};
}

const ProbeResult* first_measured(std::span<const Run> runs, std::string_view probe) {
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    if (result != nullptr && !result->points.empty()) return result;
  }
  return nullptr;
}

}  // namespace clprobe::report
