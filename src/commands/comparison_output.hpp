// SPDX-License-Identifier: Apache-2.0
// What becomes of a comparison, of files or of two sides: what is written, and what --fail-on makes
// of it.
#pragma once

#include <span>

#include "cli/options.hpp"
#include "clprobe/compare.hpp"
#include "commands/results.hpp"

namespace clprobe::commands {

/// Throws UsageError where a picture is wanted: a comparison has many.
void refuse_pictures(const cli::Options& options);

/// Writes the comparison to all targets. Returns the exit code of that.
int write_comparison(Results& results, const Comparison& comparison,
                     std::span<const RunDigest> runs);

/// The exit code: 4 where a finding that both runs have meets the condition, whatever else is
/// missing; else 5, with a line on stderr, where a run lacks what the baseline measured; else 0.
/// Without a condition 0.
int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs);

}  // namespace clprobe::commands
