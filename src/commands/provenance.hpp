// SPDX-License-Identifier: Apache-2.0
// What made a run: this program, this host, this moment.
#pragma once

#include <string>

#include "clprobe/run.hpp"

namespace clprobe::commands {

ToolInfo tool_info();
/// The processor, the system and the kernel; never the host's name.
HostInfo host_info();
/// Now, in UTC: "2026-01-02T03:04:05Z".
std::string utc_now();

}  // namespace clprobe::commands
