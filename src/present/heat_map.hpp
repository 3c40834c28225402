// SPDX-License-Identifier: Apache-2.0
// Points over two parameters: what a heat map shows, and how the terminal draws it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"
#include "present/chart.hpp"

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
  GridAxes axes{};
  std::string unit{};             ///< unit, named as a finding's
  std::string value_title{};      ///< "latency"
  std::vector<GridCell> cells{};  ///< cells in any order; the last one of a place counts
};

/// Returns the axes of a result that is shown as a heat map, nothing for a curve: the declared
/// ones, else the two parameters that form a grid of at least 4 by 4.
std::optional<GridAxes> heat_map_axes(const ProbeResult& result);

/// A grid for each series of such a result that has points with a time.
std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device);

/// True if the grid's points differ in x; otherwise there is no map to draw.
bool is_map(const Grid& grid);

/// Terminals show cycles where all points have them: "load latency: cycles per access".
std::string map_title(const Grid& grid);

/// A row for each y, a column for each x, shades by the logarithm of the value from the map's least
/// to its greatest, and what they stand for. Columns that do not fit follow below. Nothing is drawn
/// of a map without two different x. The brief form has no title and no labels across.
void draw_heat_map(Page& page, const Grid& grid, Form form);

}  // namespace clprobe::report
