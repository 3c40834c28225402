// SPDX-License-Identifier: Apache-2.0
// Charts beside that of a result's view, which its probe asked for (CardPlot in clprobe/run.hpp).
#pragma once

#include <string>
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

}  // namespace clprobe::report
