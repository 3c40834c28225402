// SPDX-License-Identifier: Apache-2.0
// What a comparison cannot speak of. A check that passes because nothing was measured is worse than
// none: a driver that crashed at once would count as no slower.
#include <fmt/format.h>

#include <algorithm>

#include "clprobe/compare.hpp"

namespace clprobe {
namespace {

/// Both of a probe in the baseline and in another run.
class ProbeParts {
 public:
  ProbeParts(std::size_t run, const ComparedResult& baseline, const ComparedResult* other)
      : run_(run), baseline_(baseline), other_(other) {}

  std::vector<MissingPart> find() {
    std::vector<MissingPart> gaps;
    const std::string reason = reason_of_all();
    if (!reason.empty()) gaps.push_back({run_, baseline_.probe, "", reason});
    if (!gaps.empty() || other_ == nullptr) return gaps;
    for (const ComparedCurve& curve : baseline_.curves) {
      if (!curve.is_follow_up && !has_curve(curve.series)) {
        gaps.push_back({run_, baseline_.probe, curve.series, reason_of(curve.series)});
      }
    }
    return gaps;
  }

 private:
  /// Points with a time, or findings with a value where there are no points at all (imported).
  static bool has_values(const ComparedResult& result) {
    return !result.curves.empty() ||
           std::any_of(result.findings.begin(), result.findings.end(),
                       [](const ComparedFinding& each) { return each.finding.value.has_value(); });
  }

  [[nodiscard]] bool has_curve(std::string_view series) const {
    return std::any_of(other_->curves.begin(), other_->curves.end(),
                       [&](const ComparedCurve& each) { return each.series == series; });
  }

  /// Why the probe as a whole says nothing; empty where it does.
  [[nodiscard]] std::string reason_of_all() const {
    const bool was_measured = has_values(baseline_);
    if (other_ == nullptr) return was_measured ? "not measured" : "";
    const bool ended = other_->status != Status::failed && other_->status != Status::interrupted;
    const bool is_lost = other_->status != Status::ok && was_measured;
    if (!ended || is_lost) {
      const std::string_view word = to_word(other_->status);
      return other_->reason.empty() ? std::string(word)
                                    : fmt::format("{}: {}", word, other_->reason);
    }
    // Findings alone may be those of a file from which the samples were taken.
    const bool has_what_it_needs =
        baseline_.curves.empty() ? !was_measured || has_values(*other_) : !other_->curves.empty();
    return has_what_it_needs ? "" : "no point of it was measured";
  }

  /// Why the series is not there: what the run itself says, where it says something.
  [[nodiscard]] std::string reason_of(std::string_view series) const {
    for (const ComparedFinding& each : other_->findings) {
      const Finding& finding = each.finding;
      if (finding.series == series && !finding.value && !finding.reason.empty()) {
        return finding.reason;
      }
    }
    return "no point of it was measured";
  }

  std::size_t run_;
  const ComparedResult& baseline_;
  const ComparedResult* other_;
};

const ComparedResult* result_of(const RunDigest& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ComparedResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
}

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
    if (runs[run].interrupted) gaps.push_back({run, "", "", "it was interrupted"});
    for (const ComparedResult& result : baseline.results) {
      // Not every device has a clock of its core, and nobody asked for it as for a probe.
      if (result.probe == clock_section) continue;
      const std::vector<MissingPart> found =
          ProbeParts(run, result, result_of(runs[run], result.probe)).find();
      gaps.insert(gaps.end(), found.begin(), found.end());
    }
    if (gaps.size() == gaps_before && !is_judged(comparison, run)) {
      gaps.push_back({run, "", "", "it and the baseline have no finding in common"});
    }
  }
  return gaps;
}

}  // namespace clprobe
