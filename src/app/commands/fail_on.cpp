// SPDX-License-Identifier: Apache-2.0
#include "app/commands/fail_on.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/terminal/output.hpp"
#include "compare/api/compare.hpp"
#include "present/api/report.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

bool is_met(cli::FailOn condition, Verdict verdict) {
  if (condition == cli::FailOn::worse) return verdict == Verdict::worse;
  return condition == cli::FailOn::changed && verdict != Verdict::same &&
         verdict != Verdict::unclear;
}

/// The changes that meet the condition.
std::vector<ComparedPlace> that_meet(cli::FailOn condition, const Comparison& comparison,
                                     std::vector<ComparedPlace> places) {
  std::erase_if(places, [&](const ComparedPlace& place) {
    const Judgement& judged = comparison.rows[place.row].cells[place.run].judgement;
    return judged.is_repeated || !is_met(condition, judged.left_open.value_or(judged.verdict));
  });
  return places;
}

/// Findings that the other run lacks: its probe failed, or its device lost the series.
std::vector<ComparedPlace> lost_findings(const Comparison& comparison) {
  std::vector<ComparedPlace> places;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const bool is_lost = cells[run].finding == nullptr && !cells[run].judgement.reason.empty();
      if (run != comparison.baseline && is_lost) places.push_back({row, run});
    }
  }
  return places;
}

/// Writes a line per change to stderr, so that a log shows why the condition was met or not.
void name_changes(const std::vector<ComparedPlace>& places, const Comparison& comparison,
                  std::span<const RunDigest> runs, const std::string& note) {
  constexpr std::size_t max_named = 10;
  for (std::size_t i = 0; i < std::min(max_named, places.size()); ++i) {
    terminal::complain(change_text(comparison, runs, places[i]) + note);
  }
  if (places.size() > max_named) {
    terminal::complain(fmt::format("and {} more{}", places.size() - max_named, note));
  }
}

/// Names the changes of the table that are not significant among all findings.
void name_not_significant(cli::FailOn condition, const Comparison& comparison,
                          std::span<const RunDigest> runs, const std::vector<ComparedPlace>& seen) {
  std::vector<ComparedPlace> places;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const Judgement& judged = cells[run].judgement;
      const bool is_seen = std::ranges::any_of(
          seen, [&](const ComparedPlace& each) { return each.row == row && each.run == run; });
      const bool is_change = !judged.reason.empty() && is_met(condition, judged.verdict);
      if (run == comparison.baseline || cells[run].finding == nullptr || is_seen) continue;
      if (is_change && !judged.is_repeated) places.push_back({row, run});
    }
  }
  name_changes(places, comparison, runs,
               fmt::format("; not significant among {} comparisons: rerun with {} runs per side",
                           count_compared(comparison), comparison.are_several ? "more" : "3"));
}

/// " (and 2 more)" after the first of three.
std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" (and {} more)", count - 1) : std::string();
}

/// "'new.json': latency: not measured (and 2 more)": the first gap, and how many there are besides.
std::string explain_gaps(const std::vector<MissingPart>& gaps, std::span<const RunDigest> runs) {
  const MissingPart& first = gaps.front();
  std::string text = fmt::format("{}: ", quote(runs[first.run].file));
  if (!first.probe.empty()) text += first.probe;
  if (!first.series.empty()) text += ' ' + first.series;
  if (!first.probe.empty()) text += ": ";
  return text + first.reason + and_more(gaps.size());
}

/// "worse: latency global 1 latency: 1.08 ns -> 2.05 ns in 'new.json' (and 12 more), but ...": what
/// one run a side leaves open.
std::string explain_open(const std::vector<ComparedPlace>& open, const Comparison& comparison,
                         std::span<const RunDigest> runs) {
  return fmt::format("{}{}, but {}: compare several runs per side, or use --live",
                     change_text(comparison, runs, open.front()), and_more(open.size()),
                     others_on_host);
}

int undecided(const std::string& why) {
  terminal::complain(fmt::format("--fail-on cannot be decided: {}", why));
  return exit_undecided;
}

}  // namespace

int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs) {
  if (condition == cli::FailOn::never) return exit_ok;
  const std::vector<ComparedPlace> seen =
      that_meet(condition, comparison, find_sure_changes(comparison));
  name_changes(seen, comparison, runs, "");
  name_not_significant(condition, comparison, runs, seen);
  const auto is_of_other_card = [&](const ComparedPlace& place) {
    const std::string& card = runs[comparison.baseline].uuid;
    const std::string& other = runs[place.run].uuid;
    return !card.empty() && !other.empty() && card != other;
  };
  if (std::ranges::all_of(seen, is_of_other_card) && !seen.empty()) {
    return undecided("the changed runs are from another card: measure a baseline on that card");
  }
  if (!seen.empty()) return exit_changed;
  const std::vector<MissingPart> gaps = find_missing_parts(runs, comparison);
  if (!gaps.empty()) return undecided(explain_gaps(gaps, runs));
  const std::vector<ComparedPlace> lost =
      that_meet(condition, comparison, lost_findings(comparison));
  name_changes(lost, comparison, runs, "");
  if (!lost.empty()) return exit_changed;
  const std::vector<ComparedPlace> open =
      that_meet(condition, comparison, find_open_changes(comparison));
  return open.empty() ? exit_ok : undecided(explain_open(open, comparison, runs));
}

}  // namespace clprobe::commands
