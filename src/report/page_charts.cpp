// SPDX-License-Identifier: Apache-2.0
#include "report/page_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/statistics.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/html_stacks.hpp"
#include "report/side_by_side.hpp"
#include "report/thread_latency.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

// A chart shows three digits, and a screen has a thousand rows; the raw data have all of them.
Json rounded(double value) {
  const std::string text = fmt::format("{:.4g}", value);
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

/// Of the numbers in `points`: they are short in ns and GB/s, and of those a page has thousands.
double scale_of(const ProbeResult& result) {
  return unit_of(result) == "seconds" ? 1.0 / ns_per_second : ns_per_second;
}

Json value_json(const ProbeResult& result) {
  return {{"title", value_title(result)}, {"unit", unit_of(result)}, {"scale", scale_of(result)}};
}

/// The values of a curve or grid and the ends of their intervals, as columns. An end is 0 where it
/// is the value itself, and its column left out where all are.
void add_columns(Json& part, std::span<const ChartPoint> points, double scale) {
  Json values = Json::array();
  Json highs = Json::array();
  Json lows = Json::array();
  bool has_highs = false;
  bool has_lows = false;
  for (const ChartPoint& point : points) {
    values.push_back(rounded(point.y / scale));
    const Json high = rounded(point.high / scale);
    const Json low = rounded(point.low / scale);
    has_highs |= high != values.back();
    has_lows |= low != values.back();
    highs.push_back(high != values.back() ? high : Json(0));
    lows.push_back(low != values.back() ? low : Json(0));
  }
  part["values"] = std::move(values);
  if (has_highs) part["highs"] = std::move(highs);
  if (has_lows) part["lows"] = std::move(lows);
}

/// The number of a list among the chart's lists of places, each of which is there once: the curves
/// of one plan, on all devices, share theirs.
std::size_t number_of_places(Json& chart, Json places) {
  Json& all = chart["places"];
  const auto found = std::find(all.begin(), all.end(), places);
  const auto number = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(std::move(places));
  return number;
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

Json variance_json(Json& page, const ChartSeries& series) {
  Json places = Json::array();
  Json values = Json::array();
  for (const ChartPoint& point : sorted(series)) {
    places.push_back(exact(point.x));
    values.push_back(rounded(point.y));
  }
  return {{"at", number_of_places(page, std::move(places))}, {"values", std::move(values)}};
}

void add_curves(Json& page, const ProbeResult& result, const DeviceInfo& device, std::size_t run) {
  Json& curves = page["curves"];
  const Chart chart = chart_of(result, device);
  const Chart variance = variance_chart(result);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    Json places = Json::array();
    const std::vector<ChartPoint> points = sorted(chart.series[i]);
    for (const ChartPoint& point : points) places.push_back(exact(point.x));
    curves.push_back({{"device", run},
                      {"series", printable(chart.series[i].name)},
                      {"at", number_of_places(page, std::move(places))},
                      {"levels", levels_json(chart, static_cast<int>(i))}});
    add_columns(curves.back(), points, scale_of(result));
    const std::vector<ChartPoint>& drawn = chart.series[i].points;
    if (std::all_of(drawn.begin(), drawn.end(),
                    [](const ChartPoint& point) { return point.cycles.has_value(); })) {
      curves.back()["cyclesPerSecond"] = device.clock.ticks_per_ns * ns_per_second;
    }
    for (const ChartSeries& each : variance.series) {
      if (each.name == chart.series[i].name) curves.back()["variance"] = variance_json(page, each);
    }
  }
}

void add_grids(Json& page, const ProbeResult& result, const DeviceInfo& device, std::size_t run,
               const GridAxes& axes) {
  for (const Grid& grid : grids_of(result, device, axes)) {
    Json places = Json::array();
    std::vector<ChartPoint> values;
    for (const GridCell& cell : grid.cells) {
      places.push_back(Json::array({exact(cell.value.x), exact(cell.y)}));
      values.push_back(cell.value);
    }
    page["grids"].push_back({{"device", run},
                             {"series", printable(grid.series)},
                             {"at", number_of_places(page, std::move(places))}});
    add_columns(page["grids"].back(), values, scale_of(result));
  }
}

}  // namespace

Json page_chart(std::span<const Run> runs, std::string_view probe) {
  if (Json stacks = stacks_chart(runs, probe); !stacks.is_null()) return stacks;
  const ProbeResult* const first = first_measured(runs, probe);
  if (first == nullptr) return nullptr;
  const std::optional<GridAxes> axes = heat_map_axes(*first);
  Json chart{{"probe", printable(probe)},
             {"view", axes ? "heat map" : "curve"},
             {"x", axis_json(axes ? axes->x : x_of(*first))},
             {"value", value_json(*first)}};
  if (axes) chart["y"] = axis_json(axes->y);
  chart["places"] = Json::array();
  chart[axes ? "grids" : "curves"] = Json::array();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    if (axes) {
      add_grids(chart, *result, runs[run].device, run, *axes);
    } else {
      add_curves(chart, *result, runs[run].device, run);
    }
  }
  return chart;
}

}  // namespace clprobe::report
