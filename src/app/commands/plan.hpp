// SPDX-License-Identifier: Apache-2.0
// Probes to measure on a device, checks of their requests, and the plan of --dry-run.
#pragma once

#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::commands {

/// Returns the named probes; without names, all that the device can run.
std::vector<const Probe*> wanted_probes(const cli::Options& options, const DeviceInfo& device);

/// Returns the budget of one of `probes` probes.
Budget budget_of(const Probe& probe, const cli::Options& options, std::size_t probes);

/// Throws UsageError for requests that the device cannot meet.
void check_requests(const cli::Options& options, const DeviceInfo& device);

/// Prints the points that a run would measure, with memory and time. Tests the devices as a run
/// does, since their clocks decide what is measured. Returns the exit code.
int show_plan(const cli::Options& options);

}  // namespace clprobe::commands
