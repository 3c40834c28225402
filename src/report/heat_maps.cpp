// SPDX-License-Identifier: Apache-2.0
// Results as heat maps for the terminal; grids.cpp says which.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/heat_map.hpp"

namespace clprobe::report {
namespace {

/// A grid in cycles where its points have them, else in the unit of the probe's charts.
HeatMap map_of(const Grid& grid, const GridAxes& axes, const ProbeResult& result) {
  const bool has_cycles =
      std::all_of(grid.cells.begin(), grid.cells.end(),
                  [](const GridCell& cell) { return cell.value.cycles.has_value(); });
  HeatMap map{.x_name = axes.x, .y_name = axes.y};
  map.unit = has_cycles ? std::string_view("cycles") : unit_of(result);
  map.title = fmt::format("{}: {}", words(grid.series),
                          has_cycles ? "cycles per access" : value_title(result));
  for (const GridCell& cell : grid.cells) {
    map.cells.push_back({cell.value.x, cell.y, has_cycles ? *cell.value.cycles : cell.value.y});
  }
  return map;
}

}  // namespace

std::vector<HeatMap> heat_maps_of(const ProbeResult& result, const DeviceInfo& device) {
  std::vector<HeatMap> maps;
  const std::optional<GridAxes> axes = heat_map_axes(result);
  if (!axes) return maps;
  for (const Grid& grid : grids_of(result, device, *axes)) {
    HeatMap map = map_of(grid, *axes, result);
    const bool varies = std::any_of(map.cells.begin(), map.cells.end(), [&](const HeatCell& cell) {
      return cell.x != map.cells.front().x;
    });
    if (varies) maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace clprobe::report
