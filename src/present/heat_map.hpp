// SPDX-License-Identifier: Apache-2.0
// Heat maps: points over two parameters, and their drawings on a terminal.
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
  ChartPoint value{};  ///< x of the grid; y is the time or rate
};

/// Series of a result over two parameters.
struct Grid {
  std::string series{};
  GridAxes axes{};
  std::string unit{};         ///< unit, named as a finding's
  std::string value_title{};  ///< title of the values, such as "latency"
  std::vector<GridCell>
      cells{};  ///< cells in any order; a later cell at one position replaces an earlier one
};

/// Returns the axes of a result that is shown as a heat map; nothing for a curve. The axes are the
/// declared ones, else two parameters that form a grid of at least 4 by 4.
std::optional<GridAxes> heat_map_axes(const ProbeResult& result);

/// Returns a grid for each series of such a result that has points with a time.
std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device);

/// True if the grid's points differ in x, so that there is a map to draw.
bool is_map(const Grid& grid);

/// Returns the title on a terminal, which shows cycles if all points have them: "load latency:
/// cycles per access".
std::string map_title(const Grid& grid);

/// Draws a row for each y and a column for each x, shaded by the logarithm of the value from the
/// map's minimum to its maximum, and a legend. Columns that do not fit follow below. Maps without
/// two different x are not drawn. The brief form has no title and no labels of columns.
void draw_heat_map(Page& page, const Grid& grid, Form form);

}  // namespace clprobe::report
