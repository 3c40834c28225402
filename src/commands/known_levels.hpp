// SPDX-License-Identifier: Apache-2.0
// `profile --levels`: what an earlier run found of the device.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace clprobe::commands {

/// The runs of a file that found levels of memory. Throws UsageError where none did, RunFormatError
/// as `read_runs`.
std::vector<Run> read_levels(const std::string& path);

/// What those of the options' runs that are of this device know of it; nothing where the options
/// have none. Throws UsageError where all are of others.
Known known_levels(const cli::Options& options, const DeviceInfo& device);

}  // namespace clprobe::commands
