// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

namespace clprobe::commands {

int import(const cli::Options& /*options*/, const std::vector<std::string>& /*arguments*/) {
  return exit_usage;
}

}  // namespace clprobe::commands
