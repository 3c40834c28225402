// SPDX-License-Identifier: Apache-2.0
// Results of other tools as run documents. Pure: text in, runs out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// What the text itself may not say.
struct ImportHints {
  std::string file{};               ///< its name without folders, for the document
  std::string device_name{};        ///< empty: the file's name
  std::string series{"global"};     ///< what a list of sizes and latencies is of
  double bytes_per_size_unit{0.0};  ///< 0: as the header of the list says
  double ns_per_time_unit{0.0};     ///< 0: as the header of the list says
};

/// Runs of the devices in the text, marked as imported, without findings that an analysis of the
/// points would make. The format is told by the text itself:
/// - JSON of clpeak 2: its metrics are findings without an interval;
/// - XML of clpeak 1.1 and 2: the same;
/// - what clmempatterns prints: a bandwidth for each stride;
/// - lists of sizes and latencies, a pair a line, with commas, semicolons or blanks: a curve.
/// Throws RunFormatError, on one line without control characters, with the line or the path.
std::vector<Run> import_runs(std::string_view text, const ImportHints& hints);

}  // namespace clprobe
