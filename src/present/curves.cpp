// SPDX-License-Identifier: Apache-2.0
#include "present/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/units.hpp"
#include "present/findings.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

const Finding* find(const ProbeResult& result, const Finding& beside, std::string_view name) {
  for (const Finding& each : result.findings) {
    const bool is_same = each.series == beside.series && each.level == beside.level;
    if (is_same && each.name == name && each.value) return &each;
  }
  return nullptr;
}

// Returns the note of a level. The note covers the level's plateau, from the end of the previous
// level to the level's own end.
ChartNote note_of(const ProbeResult& result, const Finding& latency, double first, double last) {
  ChartNote note{first, last, *latency.value, quantity_text(*latency.value, latency.unit)};
  note.level = latency.level;
  if (const Finding* const end = find(result, latency, "capacity")) {
    note.x_high = *end->value;
    note.end_low = end->low.value_or(*end->value);
    note.end_high = end->high.value_or(*end->value);
  }
  Finding nearer = latency;
  nearer.level = latency.level.value_or(1) - 1;
  if (const Finding* const start = find(result, nearer, "capacity")) note.x_low = *start->value;
  note.x_low = std::clamp(note.x_low, first, last);
  note.x_high = std::clamp(note.x_high, note.x_low, last);
  return note;
}

/// True if the level has a capacity finding, even one whose value is unknown.
bool has_end(const ProbeResult& result, const Finding& of_level) {
  return std::ranges::any_of(result.findings, [&](const Finding& each) {
    return each.name == "capacity" && each.series == of_level.series &&
           each.level == of_level.level;
  });
}

/// Adds notes that name the access patterns of points on the first curve.
void add_pattern_notes(const ProbeResult& result, Chart& chart) {
  std::multimap<double, const ChartPoint*> drawn;  // points by x; points with equal x in order
  for (const ChartPoint& each : chart.series.front().points) drawn.emplace(each.x, &each);
  std::set<std::pair<double, std::string>> noted;
  for (const Point& point : result.points) {
    const std::string pattern = point.parameters.text_or("pattern", "between");
    if (point.series != chart.series.front().name || pattern == "between") continue;
    const std::optional<double> x = numeric(point, chart.x_name);
    if (!x || !noted.emplace(*x, pattern).second) continue;
    const auto [first, last] = drawn.equal_range(*x);
    for (auto at = first; at != last; ++at) {
      chart.notes.push_back({*x, *x, at->second->y, pattern});
    }
  }
}

/// Returns the parameter with the most values among the points; empty if no parameter varies.
std::string varying_parameter(const std::vector<Point>& points) {
  std::map<std::string, std::set<double>> values;
  for (const Point& point : points) {
    for (const auto& [name, value] : point.parameters) {
      const std::optional<double> number = numeric(point, name);
      if (number && *number > 0.0) values[name].insert(*number);
    }
  }
  std::string most;
  std::size_t count = 1;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > count) {
      most = name;
      count = distinct.size();
    }
  }
  return most;
}

/// Returns the time of an access in ns, by the values of a parameter or fact.
std::map<double, double> times_by(const ProbeResult& result, const DeviceInfo& device,
                                  std::string_view series, std::string_view parameter) {
  std::map<double, double> times;
  for (const Point& point : result.points) {
    if (point.series != series || !point.failure.empty()) continue;
    std::optional<double> at = numeric(point, parameter);
    if (!at) at = number_in(point.facts, parameter);
    const std::optional<Estimate> time = estimate(point, device);
    if (at && time && time->ns > 0.0) times[*at] = time->ns;
  }
  return times;
}

double in_unit(const CardPlot& plot, double ns, const DeviceInfo& device) {
  return plot.unit == "cycles" ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

/// Returns a series of the plot's points, at the x that the card declares; points with equal x are
/// averaged.
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

/// Adds the trend of a series over the measured range. The trend precedes the series, since a
/// terminal draws the first series as a line and the other series as marks.
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

/// Returns the chart of a plot whose card declares the x of each point.
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

/// Returns the chart of curves that the card calculates.
Chart chart_of_curves(const CardPlot& plot) {
  Chart chart{.x_name = plot.by,
              .x_unit = plot.across_unit,
              .x_title = plot.across_title,
              .y_unit = plot.unit,
              .y_title = plot.value_title};
  for (const CardCurve& each : plot.curves) {
    ChartSeries series{each.name, {}};
    for (const auto& [x, y] : each.points) series.points.push_back({.x = x, .y = y});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Adds a note to each part of a curve that the card names, at the median of that part.
void add_marks(const CardPlot& plot, Chart& chart) {
  for (const CardMark& mark : plot.marks) {
    const auto series = std::ranges::find(chart.series, mark.series, &ChartSeries::name);
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

std::string_view unit_of(const ProbeResult& result) { return to_word(result.unit); }

std::string value_title(const ProbeResult& result) {
  const std::string& title = result.view.value_title;
  // The title describes the points that have the declared parameter on the x axis.
  const bool is_usual =
      title.empty() || title == "time of an access" || x_of(result) != result.view.x;
  if (is_usual) return result.unit == Unit::seconds ? "latency" : "rate";
  return printable(title);
}

void Names::add(const Point& point) {
  for (const Parameters* const known : {&point.parameters, &point.facts}) {
    for (const auto& [name, value] : *known) {
      if (seen_.insert(name).second) names_.push_back(name);
    }
  }
}

const Value* find_known(const Point& point, std::string_view name) {
  const Value* const parameter = point.parameters.find(name);
  return parameter != nullptr ? parameter : point.facts.find(name);
}

ChartPoint chart_point(double x, const Estimate& time, bool is_rate) {
  const auto shown = [&](double ns) {
    if (!is_rate) return ns / ns_per_second;
    return ns > 0.0 ? ns_per_second / ns : 0.0;
  };
  const Interval& ns = time.ns_interval;
  return {x, shown(time.ns), shown(is_rate ? ns.high : ns.low), shown(is_rate ? ns.low : ns.high),
          time.cycles};
}

std::optional<double> numeric(const Point& point, std::string_view name) {
  const Value* const value = point.parameters.find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* const whole = std::get_if<std::int64_t>(value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* const number = std::get_if<double>(value)) return *number;
  return std::nullopt;
}

std::string x_of(const ProbeResult& result) {
  const std::string& declared = result.view.x;
  const bool has_any = std::ranges::any_of(result.points, [&](const Point& point) {
    return !declared.empty() && numeric(point, declared).has_value();
  });
  return has_any ? declared : varying_parameter(result.points);
}

std::vector<std::string> series_of(const ProbeResult& result) {
  std::vector<std::string> names;
  for (const Point& point : result.points) {
    add_once(names, point.series);
  }
  return names;
}

Chart chart_of(const ProbeResult& result, const DeviceInfo& device) {
  const bool is_rate = result.unit != Unit::seconds;
  Chart chart{.x_name = x_of(result),
              .y_unit = std::string(unit_of(result)),
              .y_title = value_title(result),
              .scale = result.view.scale};
  for (const std::string& name : series_of(result)) {
    const auto is_about = [&](const Finding& finding) { return finding.series == name; };
    const bool is_asked_for =
        result.findings.empty() || std::ranges::any_of(result.findings, is_about);
    if (!is_asked_for) continue;
    ChartSeries series{name, {}};
    for (const Point& point : result.points) {
      if (point.series != name || !point.failure.empty()) continue;
      const std::optional<double> x = numeric(point, chart.x_name);
      const std::optional<Estimate> y = estimate(point, device);
      // A slope between noisy times may be negative; a logarithmic axis cannot show it.
      if (!x || !(*x > 0.0) || !y || !(y->ns > 0.0)) continue;
      series.points.push_back(chart_point(*x, *y, is_rate));
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  // Series with a single point come last, since the first series is drawn as a line.
  std::stable_partition(chart.series.begin(), chart.series.end(),
                        [](const ChartSeries& each) { return each.points.size() > 1; });
  if (!chart.series.empty()) add_pattern_notes(result, chart);
  const auto by_x = [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; };
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::vector<ChartPoint>& points = chart.series[i].points;
    const auto [first, last] = std::ranges::minmax_element(points, by_x);
    for (const Finding& finding : result.findings) {
      // A finding without a level, or of a level without a capacity finding, belongs to no known
      // part of the curve.
      const bool is_plateau = finding.level && !is_at_one_size(finding) && has_end(result, finding);
      const bool is_drawn = finding.unit == unit_of(result) && finding.value && is_plateau &&
                            finding.role == Role::headline;
      if (finding.series != chart.series[i].name || !is_drawn) continue;
      ChartNote note = note_of(result, finding, first->x, last->x);
      note.series = static_cast<int>(i);
      chart.notes.push_back(std::move(note));
    }
  }
  return chart;
}

Chart beside_chart(const ProbeResult& result) {
  const std::string& fact = result.view.beside;
  if (fact.empty()) return {};
  Chart chart{.x_name = x_of(result), .y_unit = "", .y_title = words(fact)};
  for (const std::string& name : series_of(result)) {
    ChartSeries series{name, {}};
    for (const Point& point : result.points) {
      if (point.series != name || !point.failure.empty()) continue;
      const std::optional<double> x = numeric(point, chart.x_name);
      const std::optional<double> y = number_in(point.facts, fact);
      if (x && y && *x > 0.0 && *y > 0.0) series.points.push_back({.x = *x, .y = *y});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device) {
  if (!plot.curves.empty()) return chart_of_curves(plot);
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
