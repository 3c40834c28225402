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

/// Returns the parameter on the x axis: the parameter that the probe declares, if a point has it,
/// or else the parameter with the most values. Empty if no parameter varies.
std::string x_of(const ProbeResult& result);

/// Returns the series of a result, in order of their first points.
std::vector<std::string> series_of(const ProbeResult& result);

/// Returns the chart of a result, with the measured levels as notes. Series without findings are
/// omitted, since they only support other series. If the result has no findings, all series are
/// drawn.
Chart chart_of(const ProbeResult& result, const DeviceInfo& device);

/// Returns the unit of a result's points, named as in findings: "seconds", "bytes_per_second".
std::string_view unit_of(const ProbeResult& result);
/// Returns the title of a result's charted values: "latency", "bandwidth".
std::string value_title(const ProbeResult& result);

/// Names of the parameters and facts of points, without repetitions, in order of appearance.
class Names {
 public:
  void add(const Point& point);
  [[nodiscard]] const std::vector<std::string>& in_order() const { return names_; }

 private:
  std::vector<std::string> names_{};
  std::set<std::string, std::less<>> seen_{};
};

/// Returns the point's parameter or fact with this name; null if the point has neither.
const Value* find_known(const Point& point, std::string_view name);

/// Returns a point of a curve. Its y is `time` in seconds, or the rate per second if `is_rate`: the
/// inverse of `time`, which is then that of a byte, an operation or a clock cycle.
ChartPoint chart_point(double x, const Estimate& time, bool is_rate);

/// Returns a parameter as a number; nothing if the parameter is absent or a text.
std::optional<double> numeric(const Point& point, std::string_view name);

/// Returns the chart of the fact that the probe's view declares as `beside`, with a curve per
/// series. Zeros are omitted, since axes are logarithmic. The chart is empty if the view declares
/// no such fact.
Chart beside_chart(const ProbeResult& result);

/// Returns the chart of a card's plot. Its y is a point's estimate, or the median of the samples if
/// the card declares x. The chart has no series if the plot's points were not measured.
Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device);

struct TitledChart {
  std::string title{};
  Chart chart{};
};
/// Returns the charts of all plots of the result's card that have points.
std::vector<TitledChart> charts_of_plots(const ProbeResult& result, const DeviceInfo& device);

/// Returns the chart that is shown for a result without a heat map. If the probe usually has a heat
/// map, this is the first plot with points, since a curve over another parameter would show little.
Chart chart_without_map(const ProbeResult& result, const DeviceInfo& device);

}  // namespace clprobe::report
