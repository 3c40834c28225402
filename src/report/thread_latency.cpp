// SPDX-License-Identifier: Apache-2.0
#include "report/thread_latency.hpp"

#include "clprobe/outstanding.hpp"
#include "report/curves.hpp"

namespace clprobe::report {
namespace {

ThreadLatencyPlot plot_of_series(const ProbeResult& result, const std::string& series) {
  ThreadLatencyCurve curve;
  for (const Point& point : result.points) {
    const bool is_curve = point.series == series && point.failure.empty() &&
                          point.parameters.integer_or("loads", 0) > 0 &&
                          point.parameters.integer_or("merger", 0) == 1;
    if (!is_curve) continue;
    ThreadLatencyPoint each;
    each.work_items = static_cast<int>(point.parameters.integer_or("work_items", 0));
    for (const Sample& sample : point.samples) {
      if (!sample.ticks || sample.accesses == 0) continue;
      each.runs_cycles.push_back(static_cast<double>(*sample.ticks) /
                                 static_cast<double>(sample.accesses));
    }
    curve.points.push_back(std::move(each));
  }
  return plot_of(curve);
}

}  // namespace

Chart variance_chart(const ProbeResult& result) {
  Chart chart{.x_name = "work_items", .y_unit = "cycles"};
  for (const std::string& name : series_of(result)) {
    const ThreadLatencyPlot plot = plot_of_series(result, name);
    ChartSeries series{name, {}};
    for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
      if (!(plot.variance[i] > 0.0)) continue;
      series.points.push_back({static_cast<double>(plot.work_items[i]), plot.variance[i]});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace clprobe::report
