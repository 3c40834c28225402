// SPDX-License-Identifier: Apache-2.0
// The exit code of --fail-on.
#pragma once

#include <span>

#include "app/cli/options.hpp"
#include "compare/api/compare.hpp"

namespace clprobe::commands {

/// The exit code: 4 if a finding of both runs meets the condition, whatever else is missing;
/// otherwise 5, with a line on stderr, if a run lacks results of the baseline; otherwise, or
/// without a condition, 0.
int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs);

}  // namespace clprobe::commands
