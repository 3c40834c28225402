// SPDX-License-Identifier: Apache-2.0
// Origin of a run: the program, the host and the time.
#pragma once

#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

ToolInfo tool_info();
/// Returns processor, system and kernel, but not the host's name.
HostInfo host_info();
/// Returns the present time in UTC: "2026-01-02T03:04:05Z".
std::string utc_now();
/// Returns a run that begins now. It is marked as interrupted until its end, so that partial
/// documents do not look complete.
Run new_run(const cli::Options& options, const std::vector<std::string>& arguments);

}  // namespace clprobe::commands
