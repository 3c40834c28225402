// SPDX-License-Identifier: Apache-2.0
// Results as heat maps for the terminal; grids.cpp says which.
#include <algorithm>
#include <optional>
#include <string_view>

#include "clprobe/estimate.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/heat_map.hpp"

namespace clprobe::report {
namespace {

std::string title_of(const std::string& series, std::string_view unit) {
  return words(series) + (unit == "cycles" ? ": cycles of an access" : ": time of an access");
}

HeatMap map_of(const ProbeResult& result, const DeviceInfo& device, const GridAxes& axes,
               const std::string& series) {
  const bool has_cycles =
      device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
  HeatMap map{.x_name = axes.x, .y_name = axes.y};
  map.unit = has_cycles ? "cycles" : "seconds";
  map.title = title_of(series, map.unit);
  for (const Point& point : result.points) {
    const std::optional<double> x = numeric(point, axes.x);
    const std::optional<double> y = numeric(point, axes.y);
    if (point.series != series || !x || !y) continue;
    const std::optional<Estimate> time = estimate(point, device);
    if (!time || !(time->ns > 0.0)) continue;
    map.cells.push_back(
        {*x, *y, has_cycles ? time->cycles.value_or(0.0) : time->ns / ns_per_second});
  }
  std::erase_if(map.cells, [](const HeatCell& cell) { return !(cell.value > 0.0); });
  return map;
}

}  // namespace

std::vector<HeatMap> heat_maps_of(const ProbeResult& result, const DeviceInfo& device) {
  std::vector<HeatMap> maps;
  const std::optional<GridAxes> axes = heat_map_axes(result);
  if (!axes) return maps;
  for (const std::string& series : series_of(result)) {
    HeatMap map = map_of(result, device, *axes, series);
    const bool varies = std::any_of(map.cells.begin(), map.cells.end(), [&](const HeatCell& cell) {
      return cell.x != map.cells.front().x;
    });
    if (varies) maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace clprobe::report
