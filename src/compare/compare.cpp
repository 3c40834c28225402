// SPDX-License-Identifier: Apache-2.0
// Matching of findings and points.
#include "compare/api/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/stacks.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

/// Returns the first finding of a series in which no finding has a value; its reason explains why
/// the series is missing. Returns null if a finding has a value or the series has no findings.
const Finding* lost_series(const ComparedResult& result, std::string_view series) {
  const Finding* lost = nullptr;
  for (const ComparedFinding& each : result.findings) {
    if (each.finding.series != series) continue;
    if (each.finding.value) return nullptr;
    if (lost == nullptr) lost = &each.finding;
  }
  return lost;
}

/// Returns true if the series of a finding is the series of `curve`, or begins with its name and a
/// blank, as "load-throughput 4 B" does.
bool is_about(std::string_view series, const ComparedCurve& curve) {
  if (!series.starts_with(curve.series)) return false;
  return series.size() == curve.series.size() || series[curve.series.size()] == ' ';
}

/// Returns the timer of the curve from which the findings of a series are derived; empty if
/// unknown.
std::string timer_of(const ComparedResult& result, std::string_view series) {
  const auto curve =
      std::ranges::find_if(result.curves, [&](const auto& each) { return is_about(series, each); });
  return curve == result.curves.end() ? "" : curve->settings.text_or("timer", "");
}

/// Collects the findings of one probe whose verdict is unclear, and builds the single table row
/// that replaces their separate rows.
class Unresolved {
 public:
  struct Cell {
    const ComparedFinding* baseline{nullptr};
    const ComparedFinding* other{nullptr};
    Judgement judgement{};
  };

  /// `kind` is the name of the findings in the plural. `why` is the text that follows "3 of 7 ...
  /// are unclear: ".
  Unresolved(std::string_view kind, std::string why) : kind_(kind), why_(std::move(why)) {}

  /// Counts a finding. If its verdict is unclear, stores the finding and returns true.
  bool takes(const ComparedFinding& baseline, const ComparedFinding* other,
             const Judgement& judged) {
    ++total_;
    if (judged.verdict != Verdict::unclear) return false;
    cells_.push_back({&baseline, other, judged});
    return true;
  }

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }

  /// Cells of the combined row. all() has the number of findings, and resolved() the number of
  /// decided findings. judgement() states why the other findings are unclear.
  [[nodiscard]] ComparedFinding all() const { return counted(fmt::format("{} {}", total_, kind_)); }
  [[nodiscard]] ComparedFinding resolved() const {
    return counted(fmt::format("{} of {} decided", total_ - cells_.size(), total_));
  }
  [[nodiscard]] Judgement judgement() const {
    return {
        .verdict = Verdict::unclear,
        .reason = fmt::format("{} of {} {} are unclear: {}", cells_.size(), total_, kind_, why_),
        .p_value = 1.0};
  }

 private:
  [[nodiscard]] ComparedFinding counted(std::string label) const {
    ComparedFinding made;
    made.finding = {.name = std::string(kind_), .series = "all"};
    made.finding.label = std::move(label);
    return made;
  }

  std::string_view kind_;
  std::string why_;
  std::vector<Cell> cells_{};
  std::size_t total_{0};
};

class Comparator {
 public:
  Comparator(std::span<const RunDigest> runs, std::size_t baseline, double threshold)
      : runs_(runs), baseline_(runs[baseline]) {
    made_.baseline = baseline;
    made_.threshold = threshold;
    made_.are_several =
        std::ranges::all_of(runs_, [](const RunDigest& side) { return side.runs > 1; });
    made_.counts.resize(runs.size());
    for (const ComparedResult& result : baseline_.results) add_rows(result);
  }

  Comparison run() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (run != made_.baseline) add_run(run);
    }
    count_verdicts(made_);
    return std::move(made_);
  }

 private:
  void add_rows(const ComparedResult& result) {
    for (const ComparedFinding& each : result.findings) {
      ComparedRow row{.probe = result.probe, .baseline = &each};
      row.cells.resize(runs_.size());
      row.cells[made_.baseline].finding = &each;
      row_of_[&each] = made_.rows.size();
      made_.rows.push_back(std::move(row));
    }
  }

  void add_run(std::size_t run) {
    for (const ComparedResult& result : baseline_.results) {
      const ComparedResult* const other = result_of(runs_[run], result.probe);
      // Some devices have no core clock. Unlike a probe, the clock section cannot be requested, so
      // that its absence is not reported.
      if (other == nullptr && result.probe == clock_section) continue;
      if (other != nullptr && !is_same_method(result, *other)) {
        made_.unmatched.push_back(
            {run, result.probe, "", "", std::nullopt, differing_methods(baseline_, runs_[run])});
        continue;
      }
      const bool has_nothing = other == nullptr || other->findings.empty();
      if (has_nothing && other != nullptr && result.findings.empty()) {
        if (other->status != result.status) lose_probe(run, result, other);
      } else if (has_nothing) {
        lose_probe(run, result, other);
      } else {
        match_findings(run, result, *other);
      }
      if (other != nullptr) match_curves(run, result, *other);
    }
    for (const ComparedResult& result : runs_[run].results) {
      const bool is_matched = result_of(baseline_, result.probe) != nullptr;
      if (result.probe == clock_section || is_matched) continue;
      made_.unmatched.push_back(
          {run, result.probe, "", "", std::nullopt, std::string(not_in_baseline)});
    }
  }

  /// Records a missing probe. If the probe succeeded in the baseline and failed in this run, the
  /// result is a change. A probe that this run omitted is not a change.
  void lose_probe(std::size_t run, const ComparedResult& result, const ComparedResult* other) {
    const bool has_failed = other != nullptr && other->status != Status::ok;
    std::string reason = "not measured in this run";
    if (has_failed) reason = fmt::format("{}: {}", to_word(other->status), other->reason);
    made_.unmatched.push_back({run, result.probe, "", "", std::nullopt, reason});
    if (!has_failed || result.status != Status::ok) return;
    for (const ComparedFinding& each : result.findings) {
      if (!each.finding.value) continue;
      settle(run, each, {}, {.verdict = Verdict::different, .reason = reason});
    }
  }

  void settle(std::size_t run, const ComparedFinding& baseline, const ComparedFinding* finding,
              Judgement judgement) {
    made_.rows[row_of_.at(&baseline)].cells[run] = {finding, std::move(judgement)};
  }

  /// Sets the run's cell in one row for a group of findings without verdicts of their own.
  void settle_together(std::size_t run, const std::string& probe, const ComparedFinding& baseline,
                       const ComparedFinding& other, const Judgement& judgement) {
    const auto keep = [&](const ComparedFinding& finding) {
      made_.made.push_back(std::make_shared<const ComparedFinding>(finding));
      return made_.made.back().get();
    };
    const auto is_row = [&](const ComparedRow& row) {
      const Finding& finding = row.baseline->finding;
      return row.probe == probe && finding.series == baseline.finding.series &&
             finding.name == baseline.finding.name && !finding.level;
    };
    auto row = std::ranges::find_if(made_.rows, is_row);
    if (row == made_.rows.end()) {
      made_.rows.push_back({.probe = probe, .baseline = keep(baseline)});
      row = made_.rows.end() - 1;
      row->cells.resize(runs_.size());
      row->cells[made_.baseline].finding = row->baseline;
    }
    row->cells[run] = {keep(other), judgement};
  }

  /// Reports the unclear findings of a kind: several in one common row, a single one in its own.
  void settle_unresolved(std::size_t run, const std::string& probe, const Unresolved& unresolved) {
    const auto& cells = unresolved.cells();
    const bool are_several = cells.size() > 1;
    for (const auto& each : cells) {
      settle(run, *each.baseline, each.other, are_several ? Judgement() : each.judgement);
    }
    if (!are_several) return;
    settle_together(run, probe, unresolved.all(), unresolved.resolved(), unresolved.judgement());
  }

  struct Side {
    const ComparedResult& result;
    const ComparedFinding& finding;
  };

  [[nodiscard]] Judgement judge_match(const Side& baseline, const Side& other,
                                      bool is_same_device) const {
    const Finding& finding = baseline.finding.finding;
    Judgement judged = is_same_device
                           ? judge_same_device(baseline.finding, other.finding, made_.threshold)
                           : judge(baseline.finding, other.finding, made_.threshold);
    look_at_curves(baseline.result, other.result, baseline.finding, other.finding, judged);
    if (is_same_device) leave_to_several_runs(baseline.finding, other.finding, judged);
    if (!is_change(judged.verdict)) return judged;
    std::string doubt;
    if (baseline.result.probe == clock_section) {
      doubt = doubt_of_clock(finding, other.finding.finding);
    } else if (is_same_device) {
      doubt = doubt_of_timers(baseline.result, other.result, finding.series);
    }
    if (!doubt.empty()) judged.verdict = Verdict::unclear;
    judged.reason += doubt;
    return judged;
  }

  /// Judges a finding that the other run lacks. The verdict is a change if the device no longer has
  /// the feature, and `unclear` if the run could not measure it. Returns nothing if the finding has
  /// no value or `lost` (see lost_series()) is null.
  static std::optional<Judgement> judge_lost(const ComparedFinding& finding, const Finding* lost) {
    if (lost == nullptr || !finding.finding.value) return std::nullopt;
    const bool is_known = lost->source == Source::reported;
    return Judgement{.verdict = is_known ? Verdict::different : Verdict::unclear,
                     .reason = fmt::format("not measured in this run: {}", lost->reason)};
  }

  void match_findings(std::size_t run, const ComparedResult& baseline,
                      const ComparedResult& other) {
    const bool is_same_device = are_of_one_device(baseline_, runs_[run]);
    const LevelMaps maps = paired_levels(baseline, other, is_same_device);
    const auto theirs = keyed(baseline, {});
    const auto ours = keyed(other, maps);
    const std::vector<LevelSets> sets = differing_levels(baseline, other, maps, is_same_device);
    for (const LevelSets& each : sets) {
      settle_together(run, baseline.probe, each.baseline, each.other, each.judgement);
    }
    // Shares of a whole. A noisy machine can have hundreds of unclear shares.
    Unresolved shares(
        "shares",
        fmt::format("a change of {:g} % of the total is possible, or one run has no value",
                    100.0 * coarse_change));
    // Values that vary from run to run, so that one baseline run and one new run cannot show a
    // change.
    Unresolved passing("passing values",
                       "values of this kind vary from run to run; compare several baseline runs "
                       "with several new runs");
    std::set<const Finding*> stated;  // reasons for missing series that verdicts state
    for (const auto& [key, finding] : theirs) {
      const auto found = ours.find(key);
      const ComparedFinding* const match = found == ours.end() ? nullptr : found->second;
      // If the runs are of two devices, a finding of only one device is not compared.
      const bool is_of_one = !is_same_device && match != nullptr &&
                             says_something(finding->finding) != says_something(match->finding);
      if (is_of_one) {
        const bool is_here = says_something(match->finding);
        leave(run, baseline.probe, is_here ? *match : *finding,
              is_here ? not_in_baseline : only_in_baseline);
      }
      if (is_of_one || (match != nullptr && rests_on_differing(finding->finding, sets))) {
        settle(run, *finding, match, {});
        continue;
      }
      const Finding* const lost =
          match == nullptr ? lost_series(other, finding->finding.series) : nullptr;
      std::optional<Judgement> judged =
          match != nullptr ? judge_match({baseline, *finding}, {other, *match}, is_same_device)
                           : judge_lost(*finding, lost);
      if (judged && lost != nullptr) stated.insert(lost);
      if (!judged) judged = judge_undivided(finding->finding, sets);
      if (!judged) {
        leave(run, baseline.probe, *finding, only_in_baseline);
        continue;
      }
      const bool passes = is_same_device && match != nullptr && passes_with_run(*finding, *match);
      const bool is_kept = passes ? passing.takes(*finding, match, *judged)
                                  : is_part(*finding) && shares.takes(*finding, match, *judged);
      if (!is_kept) settle(run, *finding, match, *std::move(judged));
    }
    settle_unresolved(run, baseline.probe, shares);
    settle_unresolved(run, baseline.probe, passing);
    for (const auto& [key, finding] : ours) {
      const bool is_left = !theirs.contains(key) && !stated.contains(&finding->finding);
      if (is_left) leave(run, baseline.probe, *finding, not_in_baseline);
    }
  }

  void leave(std::size_t run, const std::string& probe, const ComparedFinding& compared,
             std::string_view reason) {
    const Finding& finding = compared.finding;
    std::string name = finding.name;
    if (is_share_of_bar(finding)) name += fmt::format(" {} ({})", finding.label, finding.method);
    made_.unmatched.push_back({run, probe, finding.series, std::move(name), finding.level,
                               std::string(reason), compared.series_title, compared.level_name});
  }

  void match_curves(std::size_t run, const ComparedResult& baseline, const ComparedResult& other) {
    for (const ComparedCurve& ours : other.curves) {
      const auto theirs = std::ranges::find(baseline.curves, ours.series, &ComparedCurve::series);
      if (theirs == baseline.curves.end()) continue;
      made_.curves.push_back(summarise_curve(run, baseline.probe, *theirs, ours));
    }
  }

  std::span<const RunDigest> runs_;
  const RunDigest& baseline_;
  Comparison made_{};
  std::map<const ComparedFinding*, std::size_t> row_of_{};
};

}  // namespace

const ComparedResult* result_of(const RunDigest& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ComparedResult::probe);
  return found == run.results.end() ? nullptr : &*found;
}

std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series) {
  const std::string before = timer_of(baseline, series);
  const std::string now = timer_of(other, series);
  if (before.empty() || now.empty() || before == now) return {};
  return fmt::format("; but timed by {} (baseline: {})", now, before);
}

std::string doubt_of_clock(const Finding& baseline, const Finding& other) {
  if (baseline.method == other.method) return {};
  return fmt::format("; but measured by {} (baseline: {})", other.method, baseline.method);
}

bool are_of_one_device(const RunDigest& a, const RunDigest& b) {
  return a.type == b.type && model_name(a.device, a.type) == model_name(b.device, b.type);
}

std::vector<std::string> differing_origins(const RunDigest& baseline, const RunDigest& other) {
  if (!are_of_one_device(baseline, other)) return {};
  std::vector<std::string> texts;
  const auto add = [&](std::string_view what, const std::string& before, const std::string& now) {
    if (before.empty() || now.empty() || before == now) return;
    texts.push_back(fmt::format("{} {} instead of {}", what, now, before));
  };
  add("another card of the same model: UUID", baseline.uuid, other.uuid);
  add("driver", baseline.driver, other.driver);
  add("platform", baseline.platform, other.platform);
  return texts;
}

bool is_same_method(const ComparedResult& baseline, const ComparedResult& other) {
  if (baseline.method != 0 && other.method != 0) return baseline.method == other.method;
  if (baseline.kernels.empty() || other.kernels.empty()) return true;
  return std::ranges::any_of(baseline.kernels, [&](const auto& kernel) {
    return std::ranges::find(other.kernels, kernel) != other.kernels.end();
  });
}

std::string differing_methods(const RunDigest& baseline, const RunDigest& other) {
  return fmt::format(
      "measured by another version of the method ({}; baseline: {}); measure both runs with the "
      "same version of clprobe",
      other.tool, baseline.tool);
}

Comparison compare(std::span<const RunDigest> runs, std::size_t baseline, double threshold) {
  if (baseline >= runs.size()) throw std::out_of_range("the baseline is not one of the runs");
  return Comparator(runs, baseline, threshold).run();
}

void count(VerdictCounts& counts, Verdict verdict) {
  const std::array places{&VerdictCounts::same, &VerdictCounts::better, &VerdictCounts::worse,
                          &VerdictCounts::different, &VerdictCounts::unclear};
  ++(counts.*places.at(static_cast<std::size_t>(verdict)));
}

namespace {

/// Returns true if the finding `cycles` is the finding `time` converted to core cycles.
bool is_in_cycles_of(const Finding& cycles, const ComparedFinding& time) {
  constexpr double rounding = 1e-3;
  const Finding& finding = time.finding;
  if (!cycles.value || !finding.value || !time.clock || finding.unit == cycles.unit) return false;
  if (finding.series != cycles.series || finding.level != cycles.level) return false;
  const Finding converted = in_cycles(time).finding;
  return converted.unit == cycles.unit &&
         std::fabs(*converted.value - *cycles.value) <= rounding * std::fabs(*cycles.value);
}

/// Returns true if a row repeats another row in core cycles. The verdicts of the two rows must be
/// equal, or both must be changes.
bool is_repeated(const ComparedRow& row, const std::vector<ComparedRow>& rows, std::size_t run) {
  const Verdict own = row.cells[run].judgement.verdict;
  return std::ranges::any_of(rows, [&](const ComparedRow& other) {
    const Judgement& judged = other.cells[run].judgement;
    const bool is_alike = judged.verdict == own || (is_change(judged.verdict) && is_change(own));
    return other.probe == row.probe && is_alike && !judged.reason.empty() &&
           is_in_cycles_of(row.baseline->finding, *other.baseline);
  });
}

}  // namespace

void count_verdicts(Comparison& comparison) {
  comparison.counts.assign(comparison.counts.size(), {});
  for (std::size_t run = 0; run < comparison.counts.size(); ++run) {
    if (run == comparison.baseline) continue;
    for (ComparedRow& row : comparison.rows) {
      Judgement& judged = row.cells[run].judgement;
      const bool repeats = is_repeated(row, comparison.rows, run);
      judged.is_repeated = repeats && is_change(judged.verdict);
      if (!judged.reason.empty() && !repeats) count(comparison.counts[run], judged.verdict);
    }
  }
}

VerdictCounts total_counts(const Comparison& comparison) {
  VerdictCounts total;
  for (const VerdictCounts& each : comparison.counts) {
    total.same += each.same;
    total.better += each.better;
    total.worse += each.worse;
    total.different += each.different;
    total.unclear += each.unclear;
  }
  return total;
}

}  // namespace clprobe
