// SPDX-License-Identifier: Apache-2.0
// A value over two parameters, as shades in the terminal.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "report/page.hpp"

namespace clprobe::report {

struct HeatCell {
  double x{0.0};
  double y{0.0};
  double value{0.0};  ///< in the map's unit, above 0
};

struct HeatMap {
  std::string title{};
  std::string x_name{};  ///< parameters; their units decide how the axes are labelled
  std::string y_name{};
  std::string unit{};             ///< as a finding's
  std::vector<HeatCell> cells{};  ///< in any order; of the same place the last one counts
};

/// One map for each series, for the probes whose points are better seen over two parameters than as
/// curves; none for the others, nor where the points do not vary in both.
std::vector<HeatMap> heat_maps_of(const ProbeResult& result, const DeviceInfo& device);

/// A row for each y, a column for each x, shades by the logarithm of the value from the map's least
/// to its greatest, and what they stand for. Columns that do not fit follow below. Nothing is drawn
/// of a map without two different x. The brief form has no title and no labels across.
void draw_heat_map(Page& page, const HeatMap& map, Form form);

}  // namespace clprobe::report
