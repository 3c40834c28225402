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
  std::string device_name{};        ///< empty: as the text says, else the file's name
  std::string series{};             ///< what a curve is of; empty: as the text says, else "global"
  double bytes_per_size_unit{0.0};  ///< 0: as the header of the list says
  double ns_per_time_unit{0.0};     ///< 0: as the header of the list says
  bool in_cycles{false};            ///< the unit of time is a cycle of the clock
  double clock_hertz{0.0};          ///< of the device that was measured; 0: as the text says
};

/// Runs of the devices in the text, marked as imported, without findings that an analysis of the
/// points would make. The format is told by the text itself; docs/formats.md lists what is read.
/// Throws RunFormatError, on one line without control characters, with the line or the path; a hint
/// that says nothing about the format is refused, too.
std::vector<Run> import_runs(std::string_view text, const ImportHints& hints);

}  // namespace clprobe
