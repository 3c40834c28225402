// SPDX-License-Identifier: Apache-2.0
// Points over two parameters: what a heat map shows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "report/chart.hpp"

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

}  // namespace clprobe::report
