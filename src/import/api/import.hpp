// SPDX-License-Identifier: Apache-2.0
// Results of other tools as run documents. Pure: text in, runs out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// Options of the user for an imported text.
struct ImportHints {
  std::string file{};               ///< name of the file without folders, for the document
  std::string device_name{};        ///< empty: from the text, else the file's name
  std::string series{};             ///< series of a curve; empty: from the text, else "global"
  double bytes_per_size_unit{0.0};  ///< 0: from the header of the list
  double ns_per_time_unit{0.0};     ///< 0: from the header of the list
  bool in_cycles{false};            ///< true if the unit of time is a clock cycle
  double clock_hertz{0.0};          ///< clock rate of the measured device; 0: from the text
};

/// Returns the runs of the devices in the text, marked as imported, without the findings of an
/// analysis. Detects the format; docs/formats.md lists all formats. Throws RunFormatError with the
/// line or the path, on one line without control characters, also for an option that the format
/// does not use.
std::vector<Run> import_runs(std::string_view text, const ImportHints& hints);

}  // namespace clprobe
