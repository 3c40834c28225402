// SPDX-License-Identifier: Apache-2.0
// Conversion of other tools' results to run documents. All functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// The user's options for an imported text.
struct ImportHints {
  std::string file{};         ///< name of the file without folders, stored in the document
  std::string device_name{};  ///< empty: taken from the text, or else from the file's name
  /// Series of a curve; empty: taken from the text, or else "global" (bandwidths: "read").
  std::string series{};
  double bytes_per_size_unit{0.0};  ///< bytes per unit of size; 0: given by the header of the list
  double ns_per_time_unit{0.0};     ///< ns per unit of time; 0: given by the header of the list
  bool in_cycles{false};            ///< true if latencies are in clock cycles
  /// Clock rate of the measured device in Hz; 0: given by the text.
  double clock_hertz{0.0};
};

/// Returns one run for each device, curve or stride in the text, marked as imported, without
/// findings of an analysis. The format is detected (docs/formats.md lists all formats). Throws
/// RunFormatError for text that cannot be read, and for an option that the format does not use. The
/// message is one line without control characters, with the line or the JSON path.
std::vector<Run> import_runs(std::string_view text, const ImportHints& hints);

}  // namespace clprobe
