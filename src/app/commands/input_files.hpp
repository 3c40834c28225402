// SPDX-License-Identifier: Apache-2.0
// Input files of a command, and traces among them.
#pragma once

#include <string>
#include <vector>

#include "app/cli/options.hpp"

namespace clprobe::commands {

/// All input files of a command that are known before anything is measured. No output may replace
/// one.
std::vector<std::string> input_files(const cli::Options& options);

/// The files that the options of probes name as traces.
std::vector<std::string> trace_files(const cli::Options& options);

/// Reads these files. Throws UsageError with the option's name for a file that is not a trace.
std::vector<AskedTrace> read_traces(const cli::Options& options);

}  // namespace clprobe::commands
