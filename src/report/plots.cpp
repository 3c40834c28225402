// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/page_axes.hpp"
#include "report/side_by_side.hpp"
#include "report/svg.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

/// The time of an access in ns, by the parameter or fact: the middle of the samples, as what
/// streamed beside a chase is not what ever was the fastest.
std::map<double, double> times_by(const ProbeResult& result, const DeviceInfo& device,
                                  std::string_view series, std::string_view parameter) {
  std::map<double, double> times;
  for (const Point& point : result.points) {
    if (point.series != series || !point.failure.empty()) continue;
    std::optional<double> at = numeric(point, parameter);
    if (!at) at = number_in(point.facts, parameter);
    const std::vector<double> ns = access_times_ns(point, device);
    if (!at || ns.empty()) continue;
    if (const double middle = median(ns); middle > 0.0) times[*at] = middle;
  }
  return times;
}

/// Of a chart's values: pages have short numbers.
double scale_of(const Chart& chart) {
  return chart.y_unit == "seconds" ? 1.0 / ns_per_second : 1.0;
}

/// A time in the plot's unit.
double in_unit(const CardPlot& plot, double ns, const DeviceInfo& device) {
  return plot.unit == "cycles" ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

/// What a series' points took by where they say that they lie: the means of those at one place.
ChartSeries series_of_points(const CardPlot& plot, const std::string& name,
                             const ProbeResult& result, const DeviceInfo& device) {
  std::map<double, std::vector<double>> values;
  for (const CardPlotPoint& each : plot.points) {
    if (each.point >= result.points.size()) continue;
    const Point& point = result.points[each.point];
    if (point.series != name || !point.failure.empty()) continue;
    const std::vector<double> ns = access_times_ns(point, device);
    if (ns.empty()) continue;
    const double value = in_unit(plot, median(ns) * each.accesses, device);
    if (each.x > 0.0 && value > 0.0) values[each.x].push_back(value);
  }
  ChartSeries series{name, {}};
  for (const auto& [x, all] : values) series.points.push_back({.x = x, .y = mean(all)});
  return series;
}

/// The line where the series was measured. It stands before the series: a terminal draws the first
/// one as a line, and what was measured as marks.
void add_trend(const CardPlot& plot, const ChartSeries& measured, Chart& chart) {
  for (const CardTrend& trend : plot.trends) {
    if (trend.series != measured.name) continue;
    ChartSeries line{trend.text, {}};
    for (const ChartPoint& each : measured.points) {
      const double y = trend.slope * each.x + trend.offset;
      if (y > 0.0) line.points.push_back({.x = each.x, .y = y});
    }
    if (line.points.size() > 1) chart.series.push_back(std::move(line));
  }
}

/// A plot whose points say themselves where they lie.
Chart chart_of_points(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device) {
  Chart chart{.x_name = plot.by,
              .x_title = plot.across_title,
              .y_unit = plot.unit,
              .y_title = plot.value_title};
  for (const std::string& name : plot.series) {
    ChartSeries measured = series_of_points(plot, name, result, device);
    if (measured.points.size() < 2) continue;
    add_trend(plot, measured, chart);
    chart.series.push_back(std::move(measured));
  }
  return chart;
}

/// The plot by its title, where the run's result asked for it and has points of it.
std::optional<Chart> find_chart(const Run& run, std::string_view probe, const std::string& title) {
  const ProbeResult* const result = find_result(run, probe);
  if (result == nullptr) return std::nullopt;
  for (const CardPlot& plot : result->card.plots) {
    if (plot.title != title) continue;
    Chart chart = chart_of_plot(plot, *result, run.device);
    if (!chart.series.empty()) return chart;
  }
  return std::nullopt;
}

/// The parts of the curves that have names, each where the curve's middle is meanwhile.
void add_marks(const CardPlot& plot, Chart& chart) {
  for (const CardMark& mark : plot.marks) {
    const auto series =
        std::find_if(chart.series.begin(), chart.series.end(),
                     [&](const ChartSeries& each) { return each.name == mark.series; });
    if (series == chart.series.end()) continue;
    std::vector<double> ys;
    for (const ChartPoint& each : series->points) {
      if (each.x >= mark.from && each.x <= mark.to) ys.push_back(each.y);
    }
    if (ys.empty()) continue;
    ChartNote note{mark.from, mark.to, median(ys), mark.text,
                   static_cast<int>(series - chart.series.begin())};
    if (!mark.is_open) note.end_low = note.end_high = mark.to;
    chart.notes.push_back(std::move(note));
  }
}

Json marks_json(const Chart& chart, std::size_t series) {
  Json marks = Json::array();
  for (const ChartNote& note : chart.notes) {
    if (note.series != static_cast<int>(series)) continue;
    Json mark{{"value", rounded(note.y / scale_of(chart))},
              {"from", rounded(note.x_low)},
              {"to", rounded(note.x_high)},
              {"text", printable(note.text)}};
    if (note.end_high > 0.0) {
      mark["endLow"] = rounded(note.end_low);
      mark["endHigh"] = rounded(note.end_high);
    }
    marks.push_back(std::move(mark));
  }
  return marks;
}

Json curve_json(const Chart& chart, std::size_t number, std::size_t run, Json& places, Range& xs,
                Range& values) {
  const ChartSeries& series = chart.series[number];
  Json place{{"values", Json::array()}, {"texts", Json::array()}};
  Json curve{{"device", run},           {"series", printable(series.name)},
             {"at", places.size()},     {"levels", marks_json(chart, number)},
             {"values", Json::array()}, {"texts", Json::array()}};
  for (const ChartPoint& point : sorted(series)) {
    xs.add(point.x);
    values.add(point.y);
    place["values"].push_back(rounded(point.x));
    place["texts"].push_back(chart.x_unit.empty() ? place_text(chart.x_name, point.x)
                                                  : quantity_text(point.x, chart.x_unit));
    curve["values"].push_back(rounded(point.y / scale_of(chart)));
    curve["texts"].push_back(quantity_text(point.y, chart.y_unit));
  }
  places.push_back(std::move(place));
  return curve;
}

Json data_of(std::span<const Run> runs, std::string_view probe, const std::string& title) {
  Range xs;
  Range values;
  Json places = Json::array();
  Json curves = Json::array();
  Chart first;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::optional<Chart> chart = find_chart(runs[run], probe, title);
    if (!chart) continue;
    if (curves.empty()) first = *chart;
    for (std::size_t i = 0; i < chart->series.size(); ++i) {
      curves.push_back(curve_json(*chart, i, run, places, xs, values));
    }
  }
  Json across = first.x_unit.empty() ? parameter_axis(first.x_name, xs)
                                     : value_axis("", first.x_unit, xs, 1.0);
  across["title"] = printable(x_title_of(first));
  return {{"probe", printable(fmt::format("{}: {}", probe, title))},
          {"view", "curve"},
          {"x", std::move(across)},
          {"value", value_axis(first.y_title, first.y_unit, values, scale_of(first))},
          {"places", std::move(places)},
          {"curves", std::move(curves)}};
}

}  // namespace

Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device) {
  if (!plot.points.empty()) return chart_of_points(plot, result, device);
  Chart chart{.x_name = plot.by, .x_title = plot.across_title, .y_title = plot.value_title};
  std::map<double, double> streamed;
  if (!plot.across.empty()) {
    chart.x_unit = "bytes_per_second";
    streamed = times_by(result, device, plot.across, plot.by);
  }
  for (const std::string& name : plot.series) {
    ChartSeries series{name, {}};
    for (const auto& [at, ns] : times_by(result, device, name, plot.by)) {
      const auto other = streamed.find(at);
      if (!plot.across.empty() && other == streamed.end()) continue;
      const double x = plot.across.empty() ? at : plot.across_bytes / other->second * ns_per_second;
      if (x > 0.0) series.points.push_back({.x = x, .y = ns / ns_per_second});
    }
    if (series.points.size() > 1) chart.series.push_back(std::move(series));
  }
  if (plot.across.empty()) add_marks(plot, chart);
  return chart;
}

std::vector<TitledChart> charts_of_plots(const ProbeResult& result, const DeviceInfo& device) {
  std::vector<TitledChart> charts;
  for (const CardPlot& plot : result.card.plots) {
    Chart chart = chart_of_plot(plot, result, device);
    if (!chart.series.empty()) charts.push_back({plot.title, std::move(chart)});
  }
  return charts;
}

Chart chart_without_map(const ProbeResult& result, const DeviceInfo& device) {
  if (result.view.kind == ViewKind::heat_map) {
    std::vector<TitledChart> plots = charts_of_plots(result, device);
    if (!plots.empty()) return std::move(plots.front().chart);
  }
  return chart_of(result, device);
}

std::vector<PagePlot> page_plots(std::span<const Run> runs, std::string_view probe) {
  std::vector<PagePlot> plots;
  const auto is_there = [&](const std::string& title) {
    return std::any_of(plots.begin(), plots.end(),
                       [&](const PagePlot& each) { return each.title == title; });
  };
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    if (result == nullptr) continue;
    for (const CardPlot& asked : result->card.plots) {
      if (is_there(asked.title)) continue;
      const std::optional<Chart> chart = find_chart(run, probe, asked.title);
      if (!chart) continue;
      const PictureText text{
          .title = asked.title,
          .subtitle = cut_to_width(printable(run.label.empty() ? model_of(run.device) : run.label),
                                   60, "…"),
          .description = "Logarithmic axes."};
      plots.push_back(
          {asked.title, draw_picture(*chart, text), data_of(runs, probe, asked.title).dump()});
    }
  }
  return plots;
}

}  // namespace clprobe::report
