// SPDX-License-Identifier: Apache-2.0
#include "commands/worker_settings.hpp"

namespace clprobe::commands {

WorkerSettings worker_settings(const cli::Options& options) {
  WorkerSettings settings;
  settings.seed = options.seed;
  settings.keeps_memory = options.max_memory.count == 0;
  settings.timeout = options.timeout;
  settings.clock = options.clock;
  return settings;
}

}  // namespace clprobe::commands
