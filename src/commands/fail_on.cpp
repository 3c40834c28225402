// SPDX-License-Identifier: Apache-2.0
#include "commands/fail_on.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "terminal/complain.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

bool is_met(cli::FailOn condition, const VerdictCounts& counts) {
  switch (condition) {
    case cli::FailOn::never:
      return false;
    case cli::FailOn::worse:
      return counts.worse > 0;
    case cli::FailOn::changed:
      return counts.worse + counts.better + counts.different > 0;
  }
  return false;
}

/// "'new.json': latency: not measured (and 2 more)": the first gap, and how many there are besides.
std::string explain_gaps(const std::vector<MissingPart>& gaps, std::span<const RunDigest> runs) {
  const MissingPart& first = gaps.front();
  std::string text = fmt::format("{}: ", quote(runs[first.run].file));
  if (!first.probe.empty()) text += first.probe;
  if (!first.series.empty()) text += ' ' + first.series;
  if (!first.probe.empty()) text += ": ";
  text += first.reason;
  if (gaps.size() > 1) text += fmt::format(" (and {} more)", gaps.size() - 1);
  return text;
}

}  // namespace

int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs) {
  if (condition == cli::FailOn::never) return exit_ok;
  if (is_met(condition, counts_of_pairs(comparison))) return exit_changed;
  const std::vector<MissingPart> gaps = find_missing_parts(runs, comparison);
  if (!gaps.empty()) {
    terminal::complain(fmt::format("--fail-on cannot be decided: {}", explain_gaps(gaps, runs)));
    return exit_undecided;
  }
  return is_met(condition, total_counts(comparison)) ? exit_changed : exit_ok;
}

}  // namespace clprobe::commands
