// SPDX-License-Identifier: Apache-2.0
// The command `fleet`: one function per verb.
#include "fleet/api/fleet.hpp"

#include <stdexcept>

#include "app/commands/commands.hpp"

namespace clprobe::commands {

int fleet_run(const cli::Options& /*options*/, const std::vector<std::string>& /*arguments*/) {
  return fleet::run();
}

int fleet_script(const cli::Options& /*options*/) { return fleet::script(); }

int fleet_report(const cli::Options& /*options*/) {
  throw std::runtime_error("fleet report is not built yet");
}

}  // namespace clprobe::commands
