// SPDX-License-Identifier: Apache-2.0
// Heat maps: values over two parameters, and drawings of them on a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"
#include "present/chart.hpp"

namespace clprobe::report {

/// Two parameters whose values form a grid.
struct GridAxes {
  std::string x{};
  std::string y{};
};

struct GridCell {
  double y{0.0};
  ChartPoint value{};  ///< its x is that of the grid, its y the time or rate
};

/// Values of a series over two parameters.
struct Grid {
  std::string series{};
  GridAxes axes{};
  std::string unit{};         ///< unit of the values, named as in findings
  std::string value_title{};  ///< title of the values, such as "latency"
  std::vector<GridCell>
      cells{};  ///< cells in any order; a later cell replaces an earlier cell at the same position
};

/// Returns the axes of a result that is shown as a heat map; nothing for other results. The axes
/// are the parameters that the probe declares, or else two parameters that form a grid of at least
/// 4 by 4 points.
std::optional<GridAxes> heat_map_axes(const ProbeResult& result);

/// Returns the grids of a result that is shown as a heat map: a grid for each series with a
/// measured point.
std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device);

/// True if the grid has points with different x, which a heat map requires.
bool is_map(const Grid& grid);

/// Returns the map's title on a terminal, such as "load latency: cycles per access". A terminal
/// shows cycles if all points have cycles, or else times or rates.
std::string map_title(const Grid& grid);

/// Draws a heat map with a row for each y, a column for each x, and a legend. The shade of a cell
/// shows the logarithm of its value, from the map's minimum to its maximum. Columns that do not fit
/// into the page follow below. A grid whose points have equal x is not drawn. The brief form has
/// neither a title nor column labels.
void draw_heat_map(Page& page, const Grid& grid, Form form);

}  // namespace clprobe::report
