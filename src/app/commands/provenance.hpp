// SPDX-License-Identifier: Apache-2.0
// Origin of a run: the program, the host and the time.
#pragma once

#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

ToolInfo tool_info();
/// Returns the host's processor, system and kernel, without the host's name.
HostInfo host_info();
/// Returns the present time in UTC: "2026-01-02T03:04:05Z".
std::string utc_now();
/// Returns a new run that begins now. The caller clears its mark `interrupted` at the end, so that
/// a document written earlier is not mistaken for a complete run.
Run new_run(const cli::Options& options, const std::vector<std::string>& arguments);

}  // namespace clprobe::commands
