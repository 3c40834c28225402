// SPDX-License-Identifier: Apache-2.0
// Which probes are measured on a device, whether what they are asked for can be done, and what they
// would do (--dry-run).
#pragma once

#include <vector>

#include "cli/options.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/worker.hpp"

namespace clprobe::commands {

/// Those that were named, under what they are called today; else all that the device can run.
std::vector<const Probe*> wanted_probes(const cli::Options& options, const DeviceInfo& device);

/// How long and how well one of `probes` probes is measured.
Budget budget_of(const Probe& probe, const cli::Options& options, std::size_t probes);

/// Throws UsageError for what the device can never do: the person's mistake, not the device's.
void check_requests(const cli::Options& options, const DeviceInfo& device);

/// Prints what would be measured, in how much memory and time. Devices are tried as a run tries
/// them, since what they can time decides what is measured. Returns the exit code.
int show_plan(const cli::Options& options, WorkerSettings settings);

}  // namespace clprobe::commands
