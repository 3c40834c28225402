// SPDX-License-Identifier: Apache-2.0
#include "report/page_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"
#include "report/beside.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/html_stacks.hpp"
#include "report/page_axes.hpp"
#include "report/place_lists.hpp"
#include "report/side_by_side.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

/// Of the values: in ns and GB/s numbers are short, and a page has thousands of them.
double scale_of(const ProbeResult& result) {
  return unit_of(result) == "seconds" ? 1.0 / ns_per_second : ns_per_second;
}

/// What the axes of a chart must show.
struct Ranges {
  Range x{};
  Range value{};
  Range beside{};
  Range cycles{};
};

/// The ends of an interval as text, none where they read as the value itself.
std::pair<std::string, std::string> interval_texts(const ChartPoint& point, std::string_view unit,
                                                   std::string_view value) {
  std::pair texts{quantity_text(point.low, unit), quantity_text(point.high, unit)};
  if (!(point.high > point.low) || (texts.first == value && texts.second == value)) return {};
  return texts;
}

/// The values of a curve or grid and the ends of their intervals, as columns: the numbers that are
/// drawn, and the texts that are read.
void add_columns(Json& part, std::span<const ChartPoint> points, const ProbeResult& result,
                 Range& range) {
  const double scale = scale_of(result);
  const std::string_view unit = unit_of(result);
  for (const char* const name : {"values", "lows", "highs", "texts", "lowTexts", "highTexts"}) {
    part[name] = Json::array();
  }
  for (const ChartPoint& point : points) {
    range.add(point.y);
    part["values"].push_back(rounded(point.y / scale));
    part["lows"].push_back(rounded(point.low / scale));
    part["highs"].push_back(rounded(point.high / scale));
    const std::string text = quantity_text(point.y, unit);
    auto [low, high] = interval_texts(point, unit, text);
    part["texts"].push_back(text);
    part["lowTexts"].push_back(std::move(low));
    part["highTexts"].push_back(std::move(high));
  }
}

/// What the result says of the note's level in cycles; null where it does not.
const Finding* cycles_of(const ProbeResult& result, const std::string& series,
                         const ChartNote& note) {
  for (const Finding& finding : result.findings) {
    const bool is_it = finding.unit == "cycles" && finding.series == series &&
                       finding.name == "cycles" && finding.level == note.level;
    if (is_it && finding.value && *finding.value > 0.0) return &finding;
  }
  return nullptr;
}

Json levels_json(const Chart& chart, int series, const ProbeResult& result) {
  const double scale = scale_of(result);
  Json levels = Json::array();
  for (const ChartNote& note : chart.notes) {
    if (note.series != series) continue;
    Json level{{"value", rounded(note.y / scale)},
               {"from", rounded(note.x_low)},
               {"to", rounded(note.x_high)},
               {"text", printable(note.text)}};
    if (note.end_high > 0.0) {
      level["endLow"] = rounded(note.end_low);
      level["endHigh"] = rounded(note.end_high);
    }
    const std::string& name = chart.series[static_cast<std::size_t>(series)].name;
    if (const Finding* const cycles = cycles_of(result, name, note)) {
      level["cycles"] = rounded(*cycles->value);
      level["cyclesText"] = value_text(*cycles) + " cycles";
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

/// The points of a curve along x.
Json places_json(std::string_view parameter, std::span<const ChartPoint> points, Range& range) {
  Json values = Json::array();
  Json texts = Json::array();
  for (const ChartPoint& point : points) {
    range.add(point.x);
    values.push_back(exact(point.x));
    texts.push_back(place_text(parameter, point.x));
  }
  return {{"values", std::move(values)}, {"texts", std::move(texts)}};
}

Json beside_json(PlaceLists& lists, const ProbeResult& result, std::string_view parameter,
                 const ChartSeries& series, Ranges& ranges) {
  const std::vector<ChartPoint> points = sorted(series);
  Json values = Json::array();
  Json texts = Json::array();
  for (const ChartPoint& point : points) {
    ranges.beside.add(point.y);
    values.push_back(rounded(point.y));
    texts.push_back(printable(beside_text(result, point.y)));
  }
  return {{"at", lists.number_of(places_json(parameter, points, ranges.x))},
          {"values", std::move(values)},
          {"texts", std::move(texts)}};
}

/// Where all points of a curve have them.
void add_cycles(Json& curve, std::span<const ChartPoint> points, Range& range) {
  const bool have_all = std::all_of(points.begin(), points.end(), [](const ChartPoint& point) {
    return point.cycles && *point.cycles > 0.0;
  });
  if (!have_all) return;
  curve["cycles"] = Json::array();
  curve["cycleValues"] = Json::array();
  for (const ChartPoint& point : points) {
    const double cycles = point.cycles.value_or(0.0);
    range.add(cycles);
    curve["cycles"].push_back(format_number(cycles));
    curve["cycleValues"].push_back(rounded(cycles));
  }
}

void add_curves(Json& page, PlaceLists& lists, const ProbeResult& result, const DeviceInfo& device,
                std::size_t run, Ranges& ranges) {
  Json& curves = page["curves"];
  const Chart chart = chart_of(result, device);
  const Chart beside = beside_chart(result);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::vector<ChartPoint> points = sorted(chart.series[i]);
    Json places = places_json(chart.x_name, points, ranges.x);
    Json curve{{"device", run},
               {"series", printable(chart.series[i].name)},
               {"at", lists.number_of(std::move(places))},
               {"levels", levels_json(chart, static_cast<int>(i), result)}};
    add_columns(curve, points, result, ranges.value);
    add_cycles(curve, points, ranges.cycles);
    for (const ChartSeries& each : beside.series) {
      if (each.name == chart.series[i].name) {
        curve["beside"] = beside_json(lists, result, chart.x_name, each, ranges);
      }
    }
    curves.push_back(std::move(curve));
  }
}

/// The values of a heat map's axis, by rising value, with their texts: cells name them by place.
class Places {
 public:
  void add(double value) { places_.emplace(value, 0); }
  /// To be called when all are there.
  void number() {
    std::size_t place = 0;
    for (auto& [value, number] : places_) number = place++;
  }
  [[nodiscard]] std::size_t place_of(double value) const { return places_.at(value); }
  [[nodiscard]] Json axis(std::string_view parameter) const {
    Json texts = Json::array();
    for (const auto& [value, number] : places_) texts.push_back(place_text(parameter, value));
    return {{"title", printable(parameter_title(parameter))}, {"texts", std::move(texts)}};
  }

 private:
  std::map<double, std::size_t> places_{};
};

void add_grid(Json& page, PlaceLists& lists, const Grid& grid, std::size_t run, const Places& xs,
              const Places& ys) {
  Json places = Json::array();
  for (const GridCell& cell : grid.cells) {
    places.push_back(Json::array({xs.place_of(cell.value.x), ys.place_of(cell.y)}));
  }
  page["grids"].push_back({{"device", run},
                           {"series", printable(grid.series)},
                           {"at", lists.number_of(std::move(places))}});
}

void add_grids(Json& page, PlaceLists& lists, std::span<const Run> runs, std::string_view probe,
               const GridAxes& axes) {
  Places xs;
  Places ys;
  std::vector<std::vector<Grid>> grids;
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    grids.push_back(result == nullptr ? std::vector<Grid>() : grids_of(*result, run.device, axes));
    for (const Grid& grid : grids.back()) {
      for (const GridCell& cell : grid.cells) {
        xs.add(cell.value.x);
        ys.add(cell.y);
      }
    }
  }
  xs.number();
  ys.number();
  Range range;  // colours have no axis
  Range cycles;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Grid& grid : grids[run]) {
      add_grid(page, lists, grid, run, xs, ys);
      std::vector<ChartPoint> values;
      for (const GridCell& cell : grid.cells) values.push_back(cell.value);
      add_columns(page["grids"].back(), values, *find_result(runs[run], probe), range);
      add_cycles(page["grids"].back(), values, cycles);
    }
  }
  page["x"] = xs.axis(axes.x);
  page["y"] = ys.axis(axes.y);
}

void add_all_curves(Json& page, PlaceLists& lists, std::span<const Run> runs,
                    std::string_view probe, const ProbeResult& first) {
  Ranges ranges;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result != nullptr) add_curves(page, lists, *result, runs[run].device, run, ranges);
  }
  const Scale scale = first.view.scale;
  page["x"] = parameter_axis(x_of(first), ranges.x, scale);
  page["value"] =
      value_axis(value_title(first), unit_of(first), ranges.value, scale_of(first), scale);
  page["value"]["unit"] = unit_of(first) == "seconds" ? "ns" : "";
  page["cycles"] = value_axis("cycles of the core", "", ranges.cycles, 1.0);
  if (const std::string& beside = first.view.beside; !beside.empty()) {
    page["beside"] = value_axis(words(beside), "", ranges.beside, 1.0);
    page["besideLabel"] = printable(parameter_title(beside));
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
             {"x", nullptr},
             {"value", {{"title", value_title(*first)}}},
             {"places", Json::array()},
             {axes ? "grids" : "curves", Json::array()}};
  PlaceLists lists;
  if (axes) {
    add_grids(chart, lists, runs, probe, *axes);
  } else {
    add_all_curves(chart, lists, runs, probe, *first);
  }
  chart["places"] = lists.take();
  return chart;
}

}  // namespace clprobe::report
