// SPDX-License-Identifier: Apache-2.0
// The part of runs that `report` was asked to show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Leaves the results of these probes, and of them what is about these series (a list with commas);
/// empty: all. Runs that have none of it go. Throws cli::UsageError, which names what there is,
/// where none has.
void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series);

/// Throws cli::UsageError: no run has the probe or series `word`, but what is `there`.
[[noreturn]] void refuse_part(std::string_view kind, const std::string& word,
                              const std::vector<std::string>& there);

}  // namespace clprobe::commands
