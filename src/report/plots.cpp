// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"
#include "report/curves.hpp"

namespace clprobe::report {
namespace {

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

}  // namespace clprobe::report
