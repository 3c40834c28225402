// SPDX-License-Identifier: Apache-2.0
// Curves and levels of a result, ready to be drawn.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/run.hpp"
#include "report/chart.hpp"

namespace clprobe::report {

/// The parameter that takes the most values among the points: the x axis. Empty when none varies.
/// What the curves of a result are drawn over: the declared parameter where any point has it, else
/// the one that varies most.
std::string x_of(const ProbeResult& result);

std::string varying_parameter(const std::vector<Point>& points);

/// The series of a result in the order of their first points.
std::vector<std::string> series_of(const ProbeResult& result);

/// The chart of a result: series that no finding is about only help others, and are left out
/// (unless there are no findings at all); the measured levels are its notes.
Chart chart_of(const ProbeResult& result, const DeviceInfo& device);

/// The unit of its points: "seconds" or "bytes_per_second".
std::string_view unit_of(const ProbeResult& result);
/// What the values of its chart are: "latency", "bandwidth".
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

}  // namespace clprobe::report
