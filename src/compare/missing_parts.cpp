// SPDX-License-Identifier: Apache-2.0
// Significance of changes among all findings, and gaps of a comparison. A check without
// measurements must not pass: a driver that crashes immediately would otherwise count as not
// slower.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "compare/comparing.hpp"

namespace clprobe {
namespace {

struct Member {
  double p_value{1.0};
  ComparedPlace place{};
};

using ChangeOf = std::function<bool(const Judgement&)>;

/// Returns all judged findings, smallest p-value first.
std::vector<Member> family_of(const Comparison& comparison, const ChangeOf& is_changed) {
  std::vector<Member> family;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const Judgement& judged = cells[run].judgement;
      const bool is_judged =
          cells[run].finding != nullptr && !judged.reason.empty() && !judged.is_repeated;
      if (run == comparison.baseline || !is_judged) continue;
      // A changed label, or a series that the device no longer supports, has no p-value and counts
      // as significant.
      const double p = is_changed(judged) ? judged.p_value.value_or(0.0) : 1.0;
      family.push_back({p, {row, run}});
    }
  }
  std::ranges::stable_sort(family, {}, &Member::p_value);
  return family;
}

// Holm (1979), "A simple sequentially rejective multiple test procedure": compares the i-th
// smallest of m p-values (from 0) with level / (m - i), and stops at the first that is not smaller.
std::size_t count_by_holm(const std::vector<Member>& family, double level) {
  std::size_t i = 0;
  while (i < family.size() && family[i].p_value < level / static_cast<double>(family.size() - i)) {
    ++i;
  }
  return i;
}

// Benjamini and Hochberg (1995), "Controlling the false discovery rate": finds the largest i for
// which the i-th smallest of m p-values (from 1) is at most level * i / m. All p-values up to this
// one are significant.
std::size_t count_by_discoveries(const std::vector<Member>& family, double level) {
  const double step = level / static_cast<double>(family.size());
  std::size_t i = family.size();
  while (i > 0 && family[i - 1].p_value > step * static_cast<double>(i)) --i;
  return i;
}

std::vector<ComparedPlace> find_changes(const Comparison& comparison, const ChangeOf& is_changed) {
  constexpr double level = 0.05;
  const std::vector<Member> family = family_of(comparison, is_changed);
  // An effect on a whole run, such as the time of day, may change many findings at the same time. A
  // single pair of runs therefore needs the stricter procedure of Holm.
  const std::size_t sure =
      comparison.are_several ? count_by_discoveries(family, level) : count_by_holm(family, level);
  std::vector<ComparedPlace> places;
  for (std::size_t i = 0; i < sure; ++i) places.push_back(family[i].place);
  return places;
}

}  // namespace

std::size_t count_compared(const Comparison& comparison) {
  return family_of(comparison, [](const Judgement&) { return false; }).size();
}

std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison) {
  return find_changes(comparison,
                      [](const Judgement& judged) { return is_change(judged.verdict); });
}

std::vector<ComparedPlace> find_open_changes(const Comparison& comparison) {
  return find_changes(comparison,
                      [](const Judgement& judged) { return judged.left_open.has_value(); });
}

namespace {

/// Returns true if the result has points with a time, or, for an imported result without points,
/// findings with a value.
bool has_values(const ComparedResult& result) {
  return !result.curves.empty() ||
         std::ranges::any_of(result.findings, [](const ComparedFinding& each) {
           return each.finding.value.has_value();
         });
}

/// Returns the status of a result and its reason: "failed: 3 of 9 points failed".
std::string ending_of(const ComparedResult& result) {
  const std::string_view word = to_word(result.status);
  return result.reason.empty() ? std::string(word) : fmt::format("{}: {}", word, result.reason);
}

bool has_ended(const ComparedResult& result) {
  return result.status != Status::failed && result.status != Status::interrupted;
}

/// Returns true if the calibrated clock rate is uncertain by more than `coarse_change`, so that
/// ticks do not indicate times.
bool has_unknown_clock(const ComparedResult& result) {
  return std::ranges::any_of(result.findings, [](const ComparedFinding& each) {
    return each.calibration > coarse_change;
  });
}

/// Returns why a probe gives no result; empty if it gives one.
std::string reason_of_all(const ComparedResult& baseline, const ComparedResult* other) {
  const bool was_measured = has_values(baseline);
  if (was_measured && !has_ended(baseline)) return "baseline " + ending_of(baseline);
  if (other == nullptr) return was_measured ? "not measured" : "";
  const bool is_lost = other->status != Status::ok && was_measured;
  if (!has_ended(*other) || is_lost) return ending_of(*other);
  // Findings without points may come from a file from which the samples were removed.
  const bool has_what_it_needs =
      baseline.curves.empty() ? !was_measured || has_values(*other) : !other->curves.empty();
  return has_what_it_needs ? "" : "no point was measured";
}

/// Returns true if a headline of the baseline has no counterpart in the run. A series that the
/// device no longer supports counts as a change, not as a gap.
bool is_lost(const ComparedRow& row, const ComparedCell& cell) {
  const Judgement& judged = cell.judgement;
  if (!says_something(row.baseline->finding)) return false;
  if (cell.finding == nullptr) {
    // A part that is missing in the run counts as 0.
    if (is_part(*row.baseline)) return false;
    return judged.reason.empty() || judged.verdict == Verdict::unclear;
  }
  // Unclear parts have no verdicts of their own, since one row reports all of them.
  const bool has_verdict = !judged.reason.empty() || is_part(*row.baseline);
  const bool lacks_value = row.baseline->finding.value && !cell.finding->finding.value;
  return !has_verdict || lacks_value || !says_something(cell.finding->finding);
}

/// Numbers of headlines of one probe or of all probes.
struct Headlines {
  std::size_t judged{0};
  std::size_t unclear{0};

  void add(const Headlines& other) {
    judged += other.judged;
    unclear += other.unclear;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} of {} headlines are unclear", unclear, judged);
  }
  [[nodiscard]] bool are_mostly_unclear() const { return 2 * unclear > judged; }
};

/// Returns why a run does not confirm the baseline's result; empty if the run confirms it.
std::string reason_of_probe(const RunDigest& baseline, const ComparedResult& result,
                            const RunDigest& run, const ComparedResult* other) {
  std::string reason = reason_of_all(result, other);
  if (!reason.empty() || other == nullptr) return reason;
  if (!is_same_method(result, *other)) return differing_methods(baseline, run);
  return has_unknown_clock(*other) ? "the clock rate is uncertain by more than 25 %" : "";
}

/// Returns the gaps of a run for one probe of the baseline. Adds the headlines of the probe to
/// `all`.
std::vector<MissingPart> find_gaps(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run, const ComparedResult& result, Headlines& all) {
  const RunDigest& baseline = runs[comparison.baseline];
  const ComparedResult* const other = result_of(runs[run], result.probe);
  std::vector<MissingPart> gaps;
  const auto add = [&](const std::string& series, const std::string& reason) {
    const bool is_new =
        std::ranges::none_of(gaps, [&](const MissingPart& each) { return each.series == series; });
    if (is_new) gaps.push_back({run, result.probe, series, reason});
  };
  const std::string reason = reason_of_probe(baseline, result, runs[run], other);
  if (!reason.empty()) add("", reason);
  if (!gaps.empty() || other == nullptr) return gaps;
  const bool is_same_device = are_of_one_device(baseline, runs[run]);
  for (const Cut& cut : find_cuts(result, *other, is_same_device)) add(cut.series, cut.reason);
  Headlines headlines;
  for (const ComparedRow& row : comparison.rows) {
    const Finding& finding = row.baseline->finding;
    if (row.probe != result.probe || finding.role != Role::headline) continue;
    if (is_lost(row, row.cells[run])) {
      const std::string level = finding.level ? fmt::format(" of level {}", *finding.level) : "";
      add(finding.series, fmt::format("no counterpart for {}{}", finding.name, level));
    } else if (says_something(finding)) {
      ++headlines.judged;
      // A change that one baseline run and one new run leave open on a virtual machine is reported
      // separately.
      const Judgement& judged = row.cells[run].judgement;
      if (judged.verdict == Verdict::unclear && !judged.left_open) ++headlines.unclear;
    }
  }
  if (comparison.are_several && headlines.are_mostly_unclear()) add("", headlines.text());
  all.add(headlines);
  return gaps;
}

/// Returns true if the run has a finding of the baseline. The clock rate does not count, since it
/// belongs to no probe.
bool is_judged(const Comparison& comparison, std::size_t run) {
  return std::ranges::any_of(comparison.rows, [&](const ComparedRow& row) {
    return row.probe != clock_section && row.cells[run].finding != nullptr;
  });
}

}  // namespace

std::vector<MissingPart> find_missing_parts(std::span<const RunDigest> runs,
                                            const Comparison& comparison) {
  std::vector<MissingPart> gaps;
  const RunDigest& baseline = runs[comparison.baseline];
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (run == comparison.baseline) continue;
    const std::size_t gaps_before = gaps.size();
    if (!runs[run].failure.empty()) {
      gaps.push_back({run, "", "", fmt::format("the device failed: {}", runs[run].failure)});
    }
    if (runs[run].interrupted) gaps.push_back({run, "", "", "the run was interrupted"});
    Headlines headlines;
    for (const ComparedResult& result : baseline.results) {
      // Some devices have no core clock. Unlike a probe, the clock section cannot be requested, so
      // that its absence is not a gap.
      if (result.probe == clock_section) continue;
      const std::vector<MissingPart> found = find_gaps(comparison, runs, run, result, headlines);
      gaps.insert(gaps.end(), found.begin(), found.end());
    }
    if (headlines.are_mostly_unclear()) gaps.push_back({run, "", "", headlines.text()});
    if (gaps.size() == gaps_before && !is_judged(comparison, run)) {
      gaps.push_back({run, "", "", "no finding in common with the baseline"});
    }
  }
  return gaps;
}

}  // namespace clprobe
