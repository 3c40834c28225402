// SPDX-License-Identifier: Apache-2.0
// Curves and levels of a result, ready to be drawn.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"
#include "present/chart.hpp"

namespace clprobe::report {

/// Returns the parameter on the x axis: the declared one if any point has it, else the one with the
/// most values. Empty if none varies.
std::string x_of(const ProbeResult& result);

/// Returns the series of a result, in order of their first points.
std::vector<std::string> series_of(const ProbeResult& result);

/// Returns the chart of a result; the measured levels are its notes. Series without findings only
/// support others and are omitted, unless there are no findings.
Chart chart_of(const ProbeResult& result, const DeviceInfo& device);

/// Returns the unit of a result's points: "seconds" or "bytes_per_second".
std::string_view unit_of(const ProbeResult& result);
/// Returns the title of a result's charted values: "latency", "bandwidth".
std::string value_title(const ProbeResult& result);

/// Names of parameters and facts of points, parameters first, each once.
class Names {
 public:
  void add(const Point& point);
  [[nodiscard]] const std::vector<std::string>& in_order() const { return names_; }

 private:
  std::vector<std::string> names_{};
  std::set<std::string, std::less<>> seen_{};
};

/// Returns the parameter or fact of that name; null if the point has none.
const Value* find_known(const Point& point, std::string_view name);

/// Returns a point of a curve, in seconds or, for a rate, in bytes per second.
ChartPoint chart_point(double x, const Estimate& time, bool is_rate);

/// Returns a parameter as a number; nothing if it is absent or text.
std::optional<double> numeric(const Point& point, std::string_view name);

/// Returns the chart of the fact that the view declares as `beside`, per series. Zeros are omitted,
/// since axes are logarithmic. Empty without such a fact.
Chart beside_chart(const ProbeResult& result);

/// Returns the chart of a plot: the median of each point's samples. Without series if its points
/// were not measured.
Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device);

struct TitledChart {
  std::string title{};
  Chart chart{};
};
/// Returns the charts of the result's plots that are not empty.
std::vector<TitledChart> charts_of_plots(const ProbeResult& result, const DeviceInfo& device);

/// Returns the chart of a result without a heat map. For a probe of heat maps, the first plot with
/// points, since a curve over another parameter would say little.
Chart chart_without_map(const ProbeResult& result, const DeviceInfo& device);

}  // namespace clprobe::report
