// SPDX-License-Identifier: Apache-2.0
// Charts beside that of a result's view, which its probe asked for (CardPlot in clprobe/run.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "report/chart.hpp"

namespace clprobe::report {

/// The chart of a plot; without series where its points were not measured. A value is the middle
/// of its samples.
Chart chart_of_plot(const CardPlot& plot, const ProbeResult& result, const DeviceInfo& device);

struct TitledChart {
  std::string title{};
  Chart chart{};
};
/// Those of the result's plots that have anything to draw.
std::vector<TitledChart> charts_of_plots(const ProbeResult& result, const DeviceInfo& device);

/// The chart of a result that has no heat map. Of a probe whose view is one, the first plot that
/// has points: what else varies most says little.
Chart chart_without_map(const ProbeResult& result, const DeviceInfo& device);

/// A plot of all runs that have it.
struct PagePlot {
  std::string title{};
  std::string picture{};  ///< of the first run that has it
  std::string data{};     ///< as page_chart(), as JSON text
};
std::vector<PagePlot> page_plots(std::span<const Run> runs, std::string_view probe);

}  // namespace clprobe::report
