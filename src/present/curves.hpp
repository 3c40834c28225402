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

/// The parameter that the curves of a result are drawn over: the declared one where any point has
/// it, else the one with the most values. Empty when none varies.
std::string x_of(const ProbeResult& result);

/// The series of a result in the order of their first points.
std::vector<std::string> series_of(const ProbeResult& result);

/// The chart of a result: series that no finding is about only help others, and are left out
/// (unless there are no findings at all); the measured levels are its notes.
Chart chart_of(const ProbeResult& result, const DeviceInfo& device);

/// The unit of its points: "seconds" or "bytes_per_second".
std::string_view unit_of(const ProbeResult& result);
/// The title of a result's charted values: "latency", "bandwidth".
std::string value_title(const ProbeResult& result);

/// The names of what is known of points, parameters before facts, each once.
class Names {
 public:
  void add(const Point& point);
  [[nodiscard]] const std::vector<std::string>& in_order() const { return names_; }

 private:
  std::vector<std::string> names_{};
  std::set<std::string, std::less<>> seen_{};
};

/// The parameter or fact of that name; null where the point has none.
const Value* find_known(const Point& point, std::string_view name);

/// A point of a curve in seconds or, of a rate, bytes in a second.
ChartPoint chart_point(double x, const Estimate& time, bool is_rate);

/// A parameter as a number; nothing when it is absent or text.
std::optional<double> numeric(const Point& point, std::string_view name);

/// The chart of the fact that the view declares as `beside`, over the curves' parameter, for each
/// series that has it. Zeros are left out, since axes are logarithmic. Empty without such a fact.
Chart beside_chart(const ProbeResult& result);

/// The chart of a plot; without series where its points were not measured. A value is the middle
/// of its samples.
Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device);

struct TitledChart {
  std::string title{};
  Chart chart{};
};
/// The charts of the result's plots that have anything to draw.
std::vector<TitledChart> charts_of_plots(const ProbeResult& result, const DeviceInfo& device);

/// The chart of a result that has no heat map. Of a probe whose view is one, the first plot that
/// has points: what else varies most says little.
Chart chart_without_map(const ProbeResult& result, const DeviceInfo& device);

}  // namespace clprobe::report
