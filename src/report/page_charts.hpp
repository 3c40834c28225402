// SPDX-License-Identifier: Apache-2.0
// What the scripts of an HTML page draw: one chart per probe, with the points of all devices.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// For `views` in html/report.js: {"probe", "view", "x", "y", "value", "curves" or "grids"}, with
/// {"device", "series", "points", ...} in each curve and grid. Of a curve, points are [x, value,
/// low, high, cycles]; of a heat map, [x, y, value, low, high]. Of stacks see html_stacks.hpp. Null
/// where nothing was measured.
nlohmann::ordered_json page_chart(std::span<const Run> runs, std::string_view probe);

}  // namespace clprobe::report
