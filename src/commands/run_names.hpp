// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace clprobe::commands {

/// What a comparison, which may be published, calls its files: as they were typed; of a path from
/// the root or through ".." only as many of its last parts as tell it from the others.
std::vector<std::string> run_names(const std::vector<std::string>& paths);

}  // namespace clprobe::commands
