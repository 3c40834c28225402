// SPDX-License-Identifier: Apache-2.0
// The command `profile` in a build that has neither the loader layer nor the probe that replays
// launches.
#include "app/commands/commands.hpp"

namespace clprobe::commands {

int profile(const cli::Options& /*options*/, const std::vector<std::string>& /*arguments*/) {
  throw cli::UsageError("this build has no `profile`: rebuild clprobe with -DCLPROBE_PROFILE=ON");
}

}  // namespace clprobe::commands
