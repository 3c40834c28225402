// SPDX-License-Identifier: Apache-2.0
// Several curves over logarithmic or linear axes: what every format draws, and how the terminal
// does.
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
  double y{0.0};    ///< value in the chart's unit, above 0
  double low{0.0};  ///< low end of the interval of y, 0 without one
  double high{0.0};
  std::optional<double> cycles{};  ///< core cycles per access
  std::string remark{};            ///< end of the text under the pointer
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};   ///< points in any order
  std::optional<std::size_t> look{};  ///< number of its colour, dashes and mark; none: its place
};

/// A note above the middle of a piece of a curve; left out where other things are in its place.
struct ChartNote {
  double x_low{0.0};
  double x_high{0.0};
  double y{0.0};
  std::string text{};
  int series{0};
  std::optional<int> level{};
  double end_low{0.0};  ///< the bracket of its capacity; 0 where its end was not reached
  double end_high{0.0};
};

struct Chart {
  std::string x_name{};   ///< its unit decides how the axis is labelled: "working_set_bytes"
  std::string x_unit{};   ///< unit of x if x is no parameter: "bytes_per_second"
  std::string x_title{};  ///< empty: that of the parameter
  std::string y_unit{"seconds"};  ///< unit, named as a finding's
  std::string y_title{};          ///< "latency"
  Scale scale{Scale::logarithmic};
  std::optional<Scale> y_scale{};  ///< scale of y, if it differs from that of x
  std::vector<ChartSeries> series{};
  std::vector<ChartNote> notes{};
  /// Series over the same x on an axis of their own, on the right of a picture; their names are
  /// those of the series that they belong to.
  std::vector<ChartSeries> beside{};
  std::string beside_title{};
};

/// "Latency by working set, global memory": of several curves the first.
std::string title_of(const Chart& chart);

/// A value of a parameter: "64 KiB" of 65536 "working_set_bytes".
std::string place_text(std::string_view parameter, double value);
/// The title of the axis below, "working set", and a value on it, "64 KiB".
std::string x_title_of(const Chart& chart);
std::string x_text_of(const Chart& chart, double value);

/// An axis from `low` to `high`, which on a logarithmic axis are logarithms of values.
struct Axis {
  double low{0.0};
  double high{0.0};
  Scale scale{Scale::logarithmic};

  /// Converts a value to the scale of `low` and `high`, and back.
  [[nodiscard]] double on(double value) const;
  [[nodiscard]] double value(double on_axis) const;
  /// True if a value lies on the axis, but for rounding.
  [[nodiscard]] bool has(double value) const;

  /// Position of a value: 0 at the low end, 1 at the high end.
  [[nodiscard]] double share(double value) const;
  /// Index, from 0, of the place among `places` that a value falls into.
  [[nodiscard]] int place(double value, int places) const;
};

/// The axes of a chart. Vertically with room for notes, and over at least a factor of ten (linear:
/// a tenth of the largest value), so that the noise of a flat curve does not look like levels.
Axis x_axis_of(const Chart& chart);
Axis y_axis_of(const Chart& chart);

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at least `min_apart` apart.
std::vector<double> even_ticks(double low, double high, double min_apart);
/// Values for an axis of times or rates: 1, 2, 5, 10, ... or fewer, where two neighbours are less
/// than `min_share` of the axis apart; the first and the last where that leaves less than two. Of a
/// linear one even ticks.
std::vector<double> y_ticks_of(const Axis& axis, double min_share);
/// Values for the axis below: sizes at powers of two, other parameters at their own values, or at
/// 1, 2 and 5 of every power of ten where there are many; even ones on a linear axis. Powers of two
/// and even values are at least `min_share` of the axis apart.
std::vector<double> x_values_of(const Chart& chart, const Axis& axis, double min_share);
/// "10 ns" at a tick, where a finding would be "10.0 ns".
std::string tick_text(double value, std::string_view unit);

/// The points by rising x.
std::vector<ChartPoint> sorted(const ChartSeries& series);

/// Rows of a chart that has the page for itself, and of one among many.
inline constexpr int chart_rows = 13;
inline constexpr int low_chart_rows = 3;

/// The first series is a line (braille dots, or '*' in ASCII), the others are marks, so that they
/// can be told apart without colour. Nothing is drawn for a chart without two different x.
void draw_chart(Page& page, const Chart& chart);
/// The first series alone, in few rows and without a legend.
void draw_low_chart(Page& page, const Chart& chart);

}  // namespace clprobe::report
