// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace clprobe::commands {

/// The files that the options of probes name as traces.
std::vector<std::string> trace_files(const cli::Options& options);

/// Reads them. Throws UsageError with the option's name, for one that cannot be read or is no
/// trace, and where the device is a recorded run, whose points are given.
std::vector<AskedTrace> read_traces(const cli::Options& options);

}  // namespace clprobe::commands
