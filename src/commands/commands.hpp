// SPDX-License-Identifier: Apache-2.0
// The commands: from options to exit codes. Everything that prints is here.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace clprobe::commands {

/// What the process ends with; the numbers are part of the interface.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,  ///< a probe failed, a result could not be written
  exit_usage = 2,   ///< the command line, or a file that is no run
  exit_no_device = 3,
  exit_changed = 4,    ///< `compare` met the condition of --fail-on
  exit_undecided = 5,  ///< it did not, but a run lacks something that the baseline measured
  exit_interrupted = 130,
};

/// Runs the command that was typed; `arguments`, without folders, are kept in the run document.
/// Returns the exit code. Throws UsageError, NoDevice, DeviceError, OutputError, RunFormatError.
int run(const cli::Options& options, const std::vector<std::string>& arguments);

int measure(const cli::Options& options, const std::vector<std::string>& arguments);
int list(const cli::Options& options);
int explain(const cli::Options& options);
int report(const cli::Options& options);
int compare(const cli::Options& options);
int compare_live(const cli::Options& options, const std::vector<std::string>& arguments);
int import(const cli::Options& options, const std::vector<std::string>& arguments);

}  // namespace clprobe::commands
