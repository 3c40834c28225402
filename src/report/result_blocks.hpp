// SPDX-License-Identifier: Apache-2.0
// A result's block in the table for the terminal: its heading, what of it is drawn, and the short
// form in which many probes share a screen.
#pragma once

#include <string_view>
#include <vector>

#include "clprobe/stacks.hpp"
#include "report/chart.hpp"
#include "report/heat_map.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// What of a result is drawn: bars, maps or curves. Of a probe of heat maps whose points make none,
/// the first plot of its card stands there, where that has points.
struct Pictures {
  std::vector<std::vector<Stack>> stacks{};
  std::vector<HeatMap> maps{};
  Chart chart{};
};

Pictures pictures_of(const ProbeResult& result, const DeviceInfo& device);

/// "latency  what is drawn ----------- 81 points, 243 samples in 5.21 s"
void add_result_heading(Page& page, const ProbeResult& result, std::string_view what, Form form);

/// A block for each result of the run, all of them and what the page has already at most 60 lines
/// at 80 columns or more, twice that on narrower pages. Of what has no room the last line says how
/// to see it, and of the card's levels, too.
void add_brief_blocks(Page& page, const Run& run, const TableStyle& style,
                      std::size_t hidden_levels);

}  // namespace clprobe::report
