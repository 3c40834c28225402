// SPDX-License-Identifier: Apache-2.0
// A small chart for the terminal: several curves over a logarithmic axis.
#pragma once

#include <string>
#include <vector>

#include "report/page.hpp"

namespace clprobe::report {

struct ChartPoint {
  double x{0.0};  ///< above 0
  double y{0.0};  ///< in the chart's unit, above 0
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};  ///< in any order
};

/// A note above the middle of a piece of a curve; left out where other things are in its place.
struct ChartNote {
  double x_low{0.0};
  double x_high{0.0};
  double y{0.0};
  std::string text{};
  int series{0};
};

struct Chart {
  std::string x_name{};  ///< its unit decides how the axis is labelled: "working_set_bytes"
  std::string y_unit{"seconds"};  ///< as a finding's
  std::vector<ChartSeries> series{};
  std::vector<ChartNote> notes{};
};

/// The first series is a line (braille dots, or '*' in ASCII), the others are marks, so that they
/// can be told apart without colour. Nothing is drawn for a chart without two different x.
void draw_chart(Page& page, const Chart& chart);

}  // namespace clprobe::report
