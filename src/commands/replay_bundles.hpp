// SPDX-License-Identifier: Apache-2.0
// Captured or described launches, measured.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/launch.hpp"

namespace clprobe::commands {

/// Time besides `--timeout` before a launch: all of its objects are read, hashed, and several times
/// copied and compared, on a busy machine at some 32 MiB a second.
std::chrono::milliseconds reading_time(const bundle::Launch& launch);

/// Reads the bundles, and measures their launches on the device that was asked for, else on the one
/// that the first was captured on, else on the best. Returns the exit code. Throws as measure().
int replay_bundles(const cli::Options& options, const std::vector<bundle::Source>& sources,
                   const std::vector<std::string>& arguments);

}  // namespace clprobe::commands
