// SPDX-License-Identifier: Apache-2.0
// Points over two parameters: what a heat map shows, and how the terminal draws it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "report/chart.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// Two parameters whose values are combined with each other.
struct GridAxes {
  std::string x{};
  std::string y{};
};

struct GridCell {
  double y{0.0};
  ChartPoint value{};  ///< its x is the grid's, its y the time or rate
};

/// One series of one result over two parameters.
struct Grid {
  std::string series{};
  std::vector<GridCell> cells{};
};

/// A grid for each series that has points with a time.
std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device,
                           const GridAxes& axes);

/// The axes of a result that is seen as a heat map; nothing for a curve. Those that it declares;
/// else the two parameters that form a grid of at least 4 by 4.
std::optional<GridAxes> heat_map_axes(const ProbeResult& result);

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
