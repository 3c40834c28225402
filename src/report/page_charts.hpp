// SPDX-License-Identifier: Apache-2.0
// What the scripts of an HTML page draw: one chart per probe, with the points of all devices.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// For the views in html/: {"probe", "view", "x", "value", "places", "curves" or "grids"}. A curve
/// or grid is {"device", "series", "at", "values", "lows", "highs", "texts", "lowTexts",
/// "highTexts", ...}: its places are `places[at]`, which curves of one plan share, and the others
/// columns, a number or text for each place. Numbers are for drawing alone, in any scale; whatever
/// is read is a text. Of axes see page_axes.hpp, of stacks html_stacks.hpp. Null where nothing was
/// measured.
nlohmann::ordered_json page_chart(std::span<const Run> runs, std::string_view probe);

}  // namespace clprobe::report
