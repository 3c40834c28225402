// SPDX-License-Identifier: Apache-2.0
// What the worker's process is told of the command line.
#pragma once

#include "cli/options.hpp"
#include "clprobe/worker.hpp"

namespace clprobe::commands {

/// Without what cancels it and its environment, which are the caller's.
WorkerSettings worker_settings(const cli::Options& options);

}  // namespace clprobe::commands
