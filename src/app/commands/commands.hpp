// SPDX-License-Identifier: Apache-2.0
// The commands: from options to exit codes. Everything that prints is here.
#pragma once

#include <string>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/options.hpp"

namespace clprobe::commands {

using enum cli::ExitCode;

/// Runs the command that was typed; `arguments`, without folders, are kept in the run document.
/// Returns the exit code. Throws UsageError, NoDevice, DeviceError, OutputError, RunFormatError.
int run(const cli::Options& options, const std::vector<std::string>& arguments);

int measure(const cli::Options& options, const std::vector<std::string>& arguments);
int list(const cli::Options& options);
int explain(const cli::Options& options);
int report(const cli::Options& options);
int compare(const cli::Options& options);
int compare_live(const cli::Options& options, const std::vector<std::string>& arguments);
int profile(const cli::Options& options, const std::vector<std::string>& arguments);
int import(const cli::Options& options, const std::vector<std::string>& arguments);

}  // namespace clprobe::commands
