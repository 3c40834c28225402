// SPDX-License-Identifier: Apache-2.0
// What --fail-on makes of a comparison.
#pragma once

#include <span>

#include "cli/options.hpp"
#include "clprobe/compare.hpp"

namespace clprobe::commands {

/// The exit code: 4 where a finding that both runs have meets the condition, whatever else is
/// missing; else 5, with a line on stderr, where a run lacks what the baseline measured; else 0.
/// Without a condition 0.
int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs);

}  // namespace clprobe::commands
