// SPDX-License-Identifier: Apache-2.0
// What a comparison cannot speak of. A check that passes because nothing was measured is worse than
// none: a driver that crashed at once would count as no slower.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/compared_curve.hpp"
#include "analysis/doubts.hpp"
#include "analysis/finding_error.hpp"
#include "analysis/judge.hpp"
#include "clprobe/compare.hpp"

namespace clprobe {
namespace {

const ComparedResult* result_of(const RunDigest& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ComparedResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
}

/// Points with a time, or findings with a value where there are no points at all (imported).
bool has_values(const ComparedResult& result) {
  return !result.curves.empty() ||
         std::any_of(result.findings.begin(), result.findings.end(),
                     [](const ComparedFinding& each) { return each.finding.value.has_value(); });
}

/// "failed: 3 of 9 points failed"
std::string ending_of(const ComparedResult& result) {
  const std::string_view word = to_word(result.status);
  return result.reason.empty() ? std::string(word) : fmt::format("{}: {}", word, result.reason);
}

bool has_ended(const ComparedResult& result) {
  return result.status != Status::failed && result.status != Status::interrupted;
}

/// Two documents with the same ticks are the same only where a tick is known to be as long.
bool has_unknown_clock(const ComparedResult& result) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [](const ComparedFinding& each) { return each.calibration > coarse_change; });
}

/// Why the probe as a whole says nothing; empty where it does.
std::string reason_of_all(const ComparedResult& baseline, const ComparedResult* other) {
  const bool was_measured = has_values(baseline);
  if (was_measured && !has_ended(baseline)) return "baseline " + ending_of(baseline);
  if (other == nullptr) return was_measured ? "not measured" : "";
  const bool is_lost = other->status != Status::ok && was_measured;
  if (!has_ended(*other) || is_lost) return ending_of(*other);
  // Findings alone may be those of a file from which the samples were taken.
  const bool has_what_it_needs =
      baseline.curves.empty() ? !was_measured || has_values(*other) : !other->curves.empty();
  return has_what_it_needs ? "" : "no point was measured";
}

/// Whether a headline of the baseline has nothing to be compared with. A series that the device
/// reports gone is a change.
bool is_lost(const ComparedRow& row, const ComparedCell& cell) {
  const Judgement& judged = cell.judgement;
  if (!says_something(row.baseline->finding)) return false;
  if (cell.finding == nullptr) {
    // A part of a whole that is not there takes nothing of it.
    if (is_part(*row.baseline)) return false;
    return judged.reason.empty() || judged.verdict == Verdict::unclear;
  }
  // Parts that are unclear have one verdict together.
  const bool has_verdict = !judged.reason.empty() || is_part(*row.baseline);
  const bool lacks_value = row.baseline->finding.value && !cell.finding->finding.value;
  return !has_verdict || lacks_value || !says_something(cell.finding->finding);
}

/// The headlines of one probe, or of all.
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

/// Both of a probe in the baseline and in another run.
class ProbeParts {
 public:
  ProbeParts(const Comparison& comparison, std::span<const RunDigest> runs, std::size_t run,
             const ComparedResult& baseline)
      : comparison_(comparison),
        of_baseline_(runs[comparison.baseline]),
        of_other_(runs[run]),
        run_(run),
        baseline_(baseline),
        other_(result_of(runs[run], baseline.probe)) {}

  std::vector<MissingPart> find() {
    // Not every device has a clock of its core, and nobody asked for it as for a probe.
    if (baseline_.probe == clock_section) return {};
    std::string reason = reason_of_all(baseline_, other_);
    if (reason.empty() && other_ != nullptr && !is_same_method(baseline_, *other_)) {
      reason = differing_methods(of_baseline_, of_other_);
    }
    if (reason.empty() && other_ != nullptr && has_unknown_clock(*other_)) {
      reason = "the clock rate is uncertain by more than 25 %";
    }
    if (!reason.empty()) add("", reason);
    if (!gaps_.empty() || other_ == nullptr) return gaps_;
    const bool is_same_device = of_other_.device == of_baseline_.device;
    for (const Cut& cut : find_cuts(baseline_, *other_, is_same_device)) {
      add(cut.series, cut.reason);
    }
    for (const ComparedRow& row : comparison_.rows) {
      if (row.probe == baseline_.probe && row.baseline->finding.role == Role::headline) {
        look_at(row);
      }
    }
    if (comparison_.are_several && headlines_.are_mostly_unclear()) add("", headlines_.text());
    return gaps_;
  }

  [[nodiscard]] const Headlines& headlines() const { return headlines_; }

 private:
  void add(const std::string& series, const std::string& reason) {
    const bool is_new = std::none_of(
        gaps_.begin(), gaps_.end(), [&](const MissingPart& each) { return each.series == series; });
    if (is_new) gaps_.push_back({run_, baseline_.probe, series, reason});
  }

  void look_at(const ComparedRow& row) {
    const Finding& finding = row.baseline->finding;
    const ComparedCell& cell = row.cells[run_];
    if (is_lost(row, cell)) {
      const std::string level = finding.level ? fmt::format(" of level {}", *finding.level) : "";
      add(finding.series, fmt::format("no counterpart for {}{}", finding.name, level));
    } else if (says_something(finding)) {
      ++headlines_.judged;
      // What one run a side leaves open on a virtual machine has a reason of its own.
      const Judgement& judged = cell.judgement;
      if (judged.verdict == Verdict::unclear && !judged.left_open) ++headlines_.unclear;
    }
  }

  const Comparison& comparison_;
  const RunDigest& of_baseline_;
  const RunDigest& of_other_;
  std::size_t run_;
  const ComparedResult& baseline_;
  const ComparedResult* other_;
  std::vector<MissingPart> gaps_{};
  Headlines headlines_{};
};

/// Whether any finding of a probe was judged; the rate of the clock is none of a probe.
bool is_judged(const Comparison& comparison, std::size_t run) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const ComparedRow& row) {
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
      ProbeParts parts(comparison, runs, run, result);
      const std::vector<MissingPart> found = parts.find();
      gaps.insert(gaps.end(), found.begin(), found.end());
      headlines.add(parts.headlines());
    }
    if (headlines.are_mostly_unclear()) gaps.push_back({run, "", "", headlines.text()});
    if (gaps.size() == gaps_before && !is_judged(comparison, run)) {
      gaps.push_back({run, "", "", "no finding in common with the baseline"});
    }
  }
  return gaps;
}

}  // namespace clprobe
