// SPDX-License-Identifier: Apache-2.0
#include "report/page_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/probe.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/side_by_side.hpp"
#include "report/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

struct ViewRow {
  std::string_view probe;
  View view;
};

// Probes whose view does not follow from their points.
constexpr std::array view_rows{ViewRow{"latency", View::curve}, ViewRow{"banks", View::heat_map}};

// A chart shows three digits; the raw data have all of them.
Json rounded(double value) {
  const std::string text = fmt::format("{:.5g}", value);
  double shown = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return shown;
}

Json exact(double value) {
  constexpr double largest = 9e15;
  if (value == std::floor(value) && value < largest) return static_cast<std::int64_t>(value);
  return value;
}

Json axis_json(std::string_view name) {
  return {{"title", printable(parameter_title(name))}, {"unit", parameter_unit(name)}};
}

Json value_json(const ProbeResult& result) {
  if (result.quantity == to_word(Quantity::bytes_per_second)) {
    return {{"title", "bandwidth"}, {"unit", "bytes_per_second"}};
  }
  return {{"title", "time of an access"}, {"unit", "seconds"}};
}

Json levels_json(const Chart& chart, int series) {
  Json levels = Json::array();
  for (const ChartNote& note : chart.notes) {
    if (note.series != series) continue;
    Json level{{"value", rounded(note.y)},
               {"from", rounded(note.x_low)},
               {"to", rounded(note.x_high)},
               {"text", printable(note.text)}};
    if (note.end_high > 0.0) {
      level["endLow"] = rounded(note.end_low);
      level["endHigh"] = rounded(note.end_high);
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

void add_curves(Json& curves, const ProbeResult& result, const DeviceInfo& device,
                std::size_t run) {
  const Chart chart = chart_of(result, device);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    Json points = Json::array();
    for (const ChartPoint& point : sorted(chart.series[i])) {
      Json row{exact(point.x), rounded(point.y), rounded(point.low), rounded(point.high)};
      if (point.cycles) row.push_back(rounded(*point.cycles));
      points.push_back(std::move(row));
    }
    curves.push_back({{"device", run},
                      {"series", printable(chart.series[i].name)},
                      {"points", std::move(points)},
                      {"levels", levels_json(chart, static_cast<int>(i))}});
  }
}

/// Two parameters whose values are combined with each other.
struct GridAxes {
  std::string x{};
  std::string y{};
};

std::set<double> values_of(const std::vector<Point>& points, std::string_view name) {
  std::set<double> values;
  for (const Point& point : points) {
    if (const auto value = numeric(point, name)) values.insert(*value);
  }
  return values;
}

// The pair that makes the fullest grid, by names where several do.
std::optional<GridAxes> grid_of(const std::vector<Point>& points) {
  constexpr std::size_t least_values = 2;
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

void add_grids(Json& grids, const ProbeResult& result, const DeviceInfo& device, std::size_t run,
               const GridAxes& axes) {
  const bool is_rate = result.quantity == to_word(Quantity::bytes_per_second);
  for (const std::string& series : series_of(result)) {
    Json points = Json::array();
    for (const Point& point : result.points) {
      const auto x = numeric(point, axes.x);
      const auto y = numeric(point, axes.y);
      if (point.series != series || !x || !y) continue;
      const std::optional<Estimate> time = estimate(point, device);
      if (!time || !(time->ns > 0.0)) continue;
      const ChartPoint shown = chart_point(*x, *time, is_rate);
      points.push_back(
          {exact(*x), exact(*y), rounded(shown.y), rounded(shown.low), rounded(shown.high)});
    }
    if (points.empty()) continue;
    grids.push_back(
        {{"device", run}, {"series", printable(series)}, {"points", std::move(points)}});
  }
}

}  // namespace

View view_of(const ProbeResult& result) {
  const bool has_grid = grid_of(result.points).has_value();
  for (const ViewRow& row : view_rows) {
    if (row.probe != result.probe) continue;
    return row.view == View::heat_map && !has_grid ? View::curve : row.view;
  }
  return has_grid ? View::heat_map : View::curve;
}

Json page_chart(std::span<const Run> runs, std::string_view probe) {
  Json chart;
  std::optional<GridAxes> axes;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr || result->points.empty()) continue;
    if (chart.is_null()) {
      const View view = view_of(*result);
      if (view == View::heat_map) axes = grid_of(result->points);
      chart = {{"probe", printable(probe)},
               {"view", view == View::curve ? "curve" : "heat map"},
               {"x", axis_json(axes ? axes->x : varying_parameter(result->points))},
               {"value", value_json(*result)}};
      if (axes) chart["y"] = axis_json(axes->y);
      chart[axes ? "grids" : "curves"] = Json::array();
    }
    if (axes) {
      add_grids(chart["grids"], *result, runs[run].device, run, *axes);
    } else {
      add_curves(chart["curves"], *result, runs[run].device, run);
    }
  }
  return chart;
}

}  // namespace clprobe::report
