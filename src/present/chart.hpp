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
  double x{0.0};    ///< above 0
  double y{0.0};    ///< in the chart's unit, above 0
  double low{0.0};  ///< low end of the interval of y; 0 without an interval
  double high{0.0};
  std::optional<double> cycles{};  ///< core cycles per access
  std::string remark{};            ///< text added to the point's tooltip
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};  ///< points in any order
  std::optional<std::size_t>
      look{};  ///< number that selects colour, dashes and mark; nothing: the index of the series
};

/// Label of the part of a curve from `x_low` to `x_high`, at the middle of that part. The label is
/// omitted if it does not fit.
struct ChartNote {
  double x_low{0.0};
  double x_high{0.0};
  double y{0.0};
  std::string text{};
  int series{0};
  std::optional<int> level{};
  double end_low{0.0};  ///< interval of the level's capacity; 0 if the level's end was not measured
  double end_high{0.0};
};

struct Chart {
  std::string x_name{};   ///< parameter, whose unit decides the axis labels: "working_set_bytes"
  std::string x_unit{};   ///< unit of x if x is not a parameter: "bytes_per_second"
  std::string x_title{};  ///< title of x; empty: the parameter's title
  std::string y_unit{"seconds"};  ///< unit of y, named as in findings
  std::string y_title{};          ///< title of y, such as "latency"
  Scale scale{Scale::logarithmic};
  std::optional<Scale> y_scale{};  ///< scale of y if it differs from `scale`
  std::vector<ChartSeries> series{};
  std::vector<ChartNote> notes{};
  /// Series over the same x with a second y axis, on the right of a picture. Each series here has
  /// the name of the series in `series` that it belongs to.
  std::vector<ChartSeries> beside{};
  std::string beside_title{};
};

/// Returns the title of the chart's first curve, such as "Latency by working set, global memory".
std::string title_of(const Chart& chart);

/// Returns a parameter's value as text: "64 KiB" for 65536 of "working_set_bytes".
std::string coordinate_text(std::string_view parameter, double value);
/// Return the title of the x axis ("working set") and the text of a value on it ("64 KiB").
std::string x_title_of(const Chart& chart);
std::string x_text_of(const Chart& chart, double value);

/// Axis from `low` to `high`. On a logarithmic axis, `low` and `high` are natural logarithms of
/// values.
struct Axis {
  double low{0.0};
  double high{0.0};
  Scale scale{Scale::logarithmic};

  /// Convert a value to the scale of `low` and `high`, and a number on that scale to a value.
  [[nodiscard]] double on(double value) const;
  [[nodiscard]] double value(double on_axis) const;
  /// True if a value lies between the ends of the axis, up to rounding.
  [[nodiscard]] bool has(double value) const;

  /// Returns the position of a value: 0 at the low end, 1 at the high end.
  [[nodiscard]] double share(double value) const;
  /// Returns the index of the cell that shows a value if the axis has `places` cells.
  [[nodiscard]] int place(double value, int places) const;
};

/// Return the axes of a chart. The y axis leaves space for notes. A logarithmic y axis covers at
/// least a factor of 10, and a linear y axis at least a tenth of the largest value, so that the
/// noise of a flat curve does not look like levels.
Axis x_axis_of(const Chart& chart);
Axis y_axis_of(const Chart& chart);

/// Returns the multiples of a step from `low` to `high`. The step is the smallest number of the
/// form 1, 2 or 5 times a power of ten that is at least `min_apart`.
std::vector<double> even_ticks(double low, double high, double min_apart);
/// Returns the ticks of an axis of times or rates. A logarithmic axis has ticks at 1, 2, 5, 10,
/// ..., or fewer if neighbouring ticks would be less than `min_share` of the axis apart, but at
/// least the first and the last tick. A linear axis has even ticks.
std::vector<double> y_ticks_of(const Axis& axis, double min_share);
/// Returns the ticks of the x axis. A linear axis has even ticks, and a logarithmic axis of sizes
/// has ticks at powers of two; these ticks are at least `min_share` of the axis apart. Another
/// logarithmic axis has a tick at each value of the parameter, or ticks at 1, 2, 5, 10, ... if the
/// parameter has more than 12 values.
std::vector<double> x_values_of(const Chart& chart, const Axis& axis, double min_share);
/// Returns the text of a tick, without trailing zeros: "10 ns" where a finding shows "10.0 ns".
std::string tick_text(double value, std::string_view unit);

/// Returns the points of the series, sorted by x.
std::vector<ChartPoint> sorted(const ChartSeries& series);

/// Number of rows of a large chart and of a low chart.
inline constexpr int chart_rows = 13;
inline constexpr int low_chart_rows = 3;

/// Draws the first series as a line (braille dots, or '*' in ASCII) and the other series as marks,
/// so that series differ without colour. Draws nothing if all points have equal x.
void draw_chart(Page& page, const Chart& chart);
/// Draws a chart of `low_chart_rows` rows with the first series only, without a legend.
void draw_low_chart(Page& page, const Chart& chart);

}  // namespace clprobe::report
