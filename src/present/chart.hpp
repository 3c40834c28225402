// SPDX-License-Identifier: Apache-2.0
// Curves over logarithmic or linear axes: data for all formats, and the drawing on a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"

namespace clprobe::report {

struct ChartPoint {
  double x{0.0};    ///< x, above 0
  double y{0.0};    ///< y, in the chart's unit, above 0
  double low{0.0};  ///< low end of the interval of y; 0 without an interval
  double high{0.0};
  std::optional<double> cycles{};  ///< core cycles per access
  std::string remark{};            ///< text appended under the pointer
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};  ///< points in any order
  std::optional<std::size_t>
      look{};  ///< number of colour, dashes and mark; nothing: the index of the series
};

/// Label above the middle of part of a curve; omitted if there is no room.
struct ChartNote {
  double x_low{0.0};
  double x_high{0.0};
  double y{0.0};
  std::string text{};
  int series{0};
  std::optional<int> level{};
  double end_low{0.0};  ///< interval of the capacity; 0 if the end was not reached
  double end_high{0.0};
};

struct Chart {
  std::string x_name{};   ///< parameter, whose unit decides the axis labels: "working_set_bytes"
  std::string x_unit{};   ///< unit of x if x is not a parameter: "bytes_per_second"
  std::string x_title{};  ///< title of x; empty: that of the parameter
  std::string y_unit{"seconds"};  ///< unit, named as a finding's
  std::string y_title{};          ///< title of y, such as "latency"
  Scale scale{Scale::logarithmic};
  std::optional<Scale> y_scale{};  ///< scale of y, if it differs from that of x
  std::vector<ChartSeries> series{};
  std::vector<ChartNote> notes{};
  /// Series over the same x with a second axis, on the right of a picture. Their names are those of
  /// the series that they belong to.
  std::vector<ChartSeries> beside{};
  std::string beside_title{};
};

/// Returns the title of the first curve: "Latency by working set, global memory".
std::string title_of(const Chart& chart);

/// Returns a value of a parameter: "64 KiB" for 65536 "working_set_bytes".
std::string coordinate_text(std::string_view parameter, double value);
/// Return the title of the x axis ("working set") and the text of a value on it ("64 KiB").
std::string x_title_of(const Chart& chart);
std::string x_text_of(const Chart& chart, double value);

/// Axis from `low` to `high`, which are logarithms of values on a logarithmic axis.
struct Axis {
  double low{0.0};
  double high{0.0};
  Scale scale{Scale::logarithmic};

  /// Convert a value to the scale of `low` and `high`, and back.
  [[nodiscard]] double on(double value) const;
  [[nodiscard]] double value(double on_axis) const;
  /// True if a value lies on the axis, up to rounding.
  [[nodiscard]] bool has(double value) const;

  /// Returns the position of a value: 0 at the low end, 1 at the high end.
  [[nodiscard]] double share(double value) const;
  /// Returns the index of a value's cell among `places` cells.
  [[nodiscard]] int place(double value, int places) const;
};

/// Return the axes of a chart. The y axis has room for notes and covers at least a factor of ten
/// (linear: a tenth of the largest value), so that noise of a flat curve does not look like levels.
Axis x_axis_of(const Chart& chart);
Axis y_axis_of(const Chart& chart);

/// Returns multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at least `min_apart`
/// apart.
std::vector<double> even_ticks(double low, double high, double min_apart);
/// Returns ticks of an axis of times or rates: 1, 2, 5, 10, ..., or fewer if neighbours are less
/// than `min_share` of the axis apart; at least first and last. Linear axes have even ticks.
std::vector<double> y_ticks_of(const Axis& axis, double min_share);
/// Returns ticks of the x axis: sizes at powers of two; other parameters at their values, or at 1,
/// 2 and 5 of every power of ten if there are many; even ticks on a linear axis. Powers of two and
/// even ticks are at least `min_share` of the axis apart.
std::vector<double> x_values_of(const Chart& chart, const Axis& axis, double min_share);
/// Returns the text of a tick, without trailing zeros: "10 ns" where a finding shows "10.0 ns".
std::string tick_text(double value, std::string_view unit);

/// Returns the points by increasing x.
std::vector<ChartPoint> sorted(const ChartSeries& series);

/// Number of rows of a large chart, and of a low one.
inline constexpr int chart_rows = 13;
inline constexpr int low_chart_rows = 3;

/// Draws the first series as a line (braille dots, or '*' in ASCII) and others as marks,
/// distinguishable without colour. Draws nothing without two different x.
void draw_chart(Page& page, const Chart& chart);
/// Draws the first series in few rows without a legend.
void draw_low_chart(Page& page, const Chart& chart);

}  // namespace clprobe::report
