// SPDX-License-Identifier: Apache-2.0
#include "report/beside.hpp"

#include <algorithm>
#include <optional>

#include "clprobe/estimate.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"

namespace clprobe::report {

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

std::string beside_text(const ProbeResult& result, double value) {
  return parameter_text(result.view.beside, Value{value});
}

std::vector<LargestBeside> largest_beside(const ProbeResult& result) {
  std::vector<LargestBeside> largest;
  const Chart chart = beside_chart(result);
  for (const ChartSeries& series : chart.series) {
    const std::vector<ChartPoint> points = sorted(series);
    const auto most =
        std::max_element(points.begin(), points.end(),
                         [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
    largest.push_back({series.name, x_text_of(chart, most->x), beside_text(result, most->y)});
  }
  return largest;
}

}  // namespace clprobe::report
