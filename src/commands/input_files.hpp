// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace clprobe::commands {

/// Every file that the command line has a run read, as far as it is known before anything is
/// measured: none of the outputs may replace one.
std::vector<std::string> input_files(const cli::Options& options);

}  // namespace clprobe::commands
