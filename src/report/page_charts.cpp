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

#include "clprobe/probe.hpp"
#include "clprobe/statistics.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/html_stacks.hpp"
#include "report/side_by_side.hpp"
#include "report/text.hpp"
#include "report/thread_latency.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

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

/// Of the numbers in `points`: they are short in ns and GB/s, and of those a page has thousands.
double scale_of(const ProbeResult& result) {
  return unit_of(result) == "seconds" ? 1.0 / ns_per_second : ns_per_second;
}

Json value_json(const ProbeResult& result) {
  const bool is_time = unit_of(result) == "seconds";
  // A sample of a Thread-Latency curve is a round of a whole work-group.
  const bool is_round = result.probe == "inflight";
  const char* const time = is_round ? "time of a round" : "time of an access";
  return {{"title", is_time ? time : "bandwidth"},
          {"unit", unit_of(result)},
          {"scale", scale_of(result)}};
}

/// Appends the value, its upper end where that is another, and its lower end likewise.
void add_value(Json& row, const ChartPoint& point, double scale) {
  const Json value = rounded(point.y / scale);
  const Json high = rounded(point.high / scale);
  const Json low = rounded(point.low / scale);
  row.push_back(value);
  if (high != value || low != value) row.push_back(high);
  if (low != value) row.push_back(low);
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

Json variance_json(const ChartSeries& series) {
  Json points = Json::array();
  for (const ChartPoint& point : sorted(series)) {
    points.push_back({exact(point.x), rounded(point.y)});
  }
  return points;
}

void add_curves(Json& curves, const ProbeResult& result, const DeviceInfo& device,
                std::size_t run) {
  const Chart chart = chart_of(result, device);
  const Chart variance = variance_chart(result);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    Json points = Json::array();
    for (const ChartPoint& point : sorted(chart.series[i])) {
      Json row = Json::array({exact(point.x)});
      add_value(row, point, scale_of(result));
      points.push_back(std::move(row));
    }
    curves.push_back({{"device", run},
                      {"series", printable(chart.series[i].name)},
                      {"points", std::move(points)},
                      {"levels", levels_json(chart, static_cast<int>(i))}});
    const std::vector<ChartPoint>& drawn = chart.series[i].points;
    if (std::all_of(drawn.begin(), drawn.end(),
                    [](const ChartPoint& point) { return point.cycles.has_value(); })) {
      curves.back()["cyclesPerSecond"] = device.clock.ticks_per_ns * ns_per_second;
    }
    for (const ChartSeries& each : variance.series) {
      if (each.name == chart.series[i].name) curves.back()["variance"] = variance_json(each);
    }
  }
}

void add_grids(Json& grids, const ProbeResult& result, const DeviceInfo& device, std::size_t run,
               const GridAxes& axes) {
  for (const Grid& grid : grids_of(result, device, axes)) {
    Json points = Json::array();
    for (const GridCell& cell : grid.cells) {
      Json row = Json::array({exact(cell.value.x), exact(cell.y)});
      add_value(row, cell.value, scale_of(result));
      points.push_back(std::move(row));
    }
    grids.push_back(
        {{"device", run}, {"series", printable(grid.series)}, {"points", std::move(points)}});
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
             {"x", axis_json(axes ? axes->x : varying_parameter(first->points))},
             {"value", value_json(*first)}};
  if (axes) chart["y"] = axis_json(axes->y);
  Json& shown = chart[axes ? "grids" : "curves"] = Json::array();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    if (axes) {
      add_grids(shown, *result, runs[run].device, run, *axes);
    } else {
      add_curves(shown, *result, runs[run].device, run);
    }
  }
  return chart;
}

}  // namespace clprobe::report
