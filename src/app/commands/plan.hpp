// SPDX-License-Identifier: Apache-2.0
// Probes to measure on a device, checks of their requests, and the plan of --dry-run.
#pragma once

#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::commands {

/// Returns the replay probe if there are launches, else the named probes, or all that can run.
std::vector<const Probe*> wanted_probes(const cli::Options& options, const DeviceInfo& device);

/// Returns the budget of `probe` in a run of `probes` probes.
Budget budget_of(const Probe& probe, const cli::Options& options, std::size_t probes);

/// Throws UsageError if the options contain a request that the device cannot fulfil.
void check_requests(const cli::Options& options, const DeviceInfo& device);

/// Prints the number of points that a run would measure, with the memory and time needed. Tests the
/// devices as a run does, since their clocks determine which points are measured. Returns the exit
/// code.
int show_plan(const cli::Options& options);

}  // namespace clprobe::commands
