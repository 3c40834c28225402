// SPDX-License-Identifier: Apache-2.0
#include "compare/api/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "clprobe/units.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

// Prior variance of the effect, in units of the values' variance. A variance of 2 would need one
// more pass to show a change of a few standard deviations. A variance of 8 would need a fifth more
// passes for narrow intervals.
constexpr double effect_variance = 4.0;
constexpr double level = 0.05;

/// Returns the variance of the mean of `values`.
double variance_of_mean(std::span<const double> values) {
  const double deviation = standard_deviation(values);
  return deviation * deviation / static_cast<double>(values.size());
}

/// Returns an interval of logarithms as text: "-2 to 4.2 %"; "range unknown" for an infinite end.
std::string text_of(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "range unknown";
  return fmt::format("{:.3g} to {:.3g} %", 100.0 * std::expm1(interval.low),
                     100.0 * std::expm1(interval.high));
}

bool is_beyond(const Interval& interval, double bound) {
  return interval.low > bound || interval.high < -bound;
}

double farthest(const Interval& interval) {
  return std::max(std::fabs(interval.low), std::fabs(interval.high));
}

Judgement judge(const Alternated& alternated, double threshold) {
  const Finding& finding = alternated.other.finding;
  const PairedState state = state_of(alternated.log_ratios, alternated.calibration, threshold);
  const double bound = std::log1p(threshold);
  const Interval& interval = state.interval;
  const double far = farthest(interval);
  const double change = alternated.log_ratios.empty() ? 0.0 : mean(alternated.log_ratios);
  Judgement judged;
  judged.ratio = std::exp(change);
  judged.interval = Interval{std::exp(interval.low), std::exp(interval.high)};
  judged.p_value = state.p_value;
  const std::size_t passes = alternated.log_ratios.size();
  judged.reason = fmt::format("{:.3g} % ({}) in {} alternating {}", 100.0 * std::expm1(change),
                              text_of(interval), passes, passes == 1 ? "pass" : "passes");
  if (is_beyond(interval, bound)) {
    judged.verdict = direction_of(finding, change > 0.0);
    judged.reason += fmt::format(", beyond the threshold of {:.3g} %", 100.0 * threshold);
    return judged;
  }
  const bool is_same = far <= std::log1p(std::max(threshold, coarse_change));
  judged.verdict = is_same ? Verdict::same : Verdict::unclear;
  if (std::isfinite(far)) judged.resolution = std::expm1(far);
  judged.reason +=
      is_same ? fmt::format(": a change of more than {:.3g} % is excluded", 100.0 * std::expm1(far))
              : std::string(": too few passes, or too much scatter between the passes");
  return judged;
}

/// Makes the verdict of a change `unclear`, since one run of each device does not show how values
/// vary between runs.
void doubt_single_runs(ComparedCell& cell) {
  Judgement& judged = cell.judgement;
  // A finding that only one device has is not caused by noise.
  if (cell.finding == nullptr || !is_change(judged.verdict)) return;
  judged.verdict = Verdict::unclear;
  judged.reason += is_bracket(cell.finding->finding)
                       ? "; but compare --live does not compare capacities: compare two saved runs"
                       : "; but each device has one run, and no single point shows the change: "
                         "compare several baseline runs with several new runs";
}

}  // namespace

double PairBlock::log_ratio() const {
  return (other[0] + other[1] - baseline[0] - baseline[1]) / 2.0;
}

VisitRatio ratio_of_visit(std::span<const PairBlock> blocks, bool noise_only_adds) {
  std::vector<double> ratios;
  std::vector<double> ours;
  std::vector<double> theirs;
  for (const PairBlock& block : blocks) {
    ratios.push_back(block.log_ratio());
    ours.insert(ours.end(), block.baseline.begin(), block.baseline.end());
    theirs.insert(theirs.end(), block.other.begin(), block.other.end());
  }
  if (!noise_only_adds) return {median(ours), median(ratios)};
  constexpr std::size_t few = 8;
  const double part = ours.size() <= few ? 0.0 : 0.25;
  const double least = quantile(ours, part);
  return {least, quantile(theirs, part) - least};
}

// With n values, Student's t of n - 1 degrees and a = 1 + n * effect_variance, the Bayes factor is
//     a^(-1/2) * ((1 + t^2 / (n - 1)) / (1 + t^2 / (a * (n - 1))))^(n / 2).
// With q = (sqrt(a) / level)^(2 / n), the Bayes factor is below 1 / level if
//     t^2 / (n - 1) < a * (q - 1) / (a - q).
// If q is at least a, the Bayes factor is below 1 / level for all t.
Interval anytime_interval(std::span<const double> values) {
  const Interval open{-HUGE_VAL, HUGE_VAL};
  if (values.size() < 2) return open;
  const auto count = static_cast<double>(values.size());
  const double a = 1.0 + count * effect_variance;
  const double q = std::pow(std::sqrt(a) / level, 2.0 / count);
  if (q >= a) return open;
  const double t = std::sqrt((count - 1.0) * a * (q - 1.0) / (a - q));
  const double half = t * std::sqrt(variance_of_mean(values));
  return {mean(values) - half, mean(values) + half};
}

double anytime_p(std::span<const double> values, double truth) {
  if (values.size() < 2) return 1.0;
  const auto count = static_cast<double>(values.size());
  const double a = 1.0 + count * effect_variance;
  const double distance = mean(values) - truth;
  if (distance == 0.0) return 1.0;
  // Repeated simulations give equal values, so that their variance is 0 and t is infinite.
  const double variance = variance_of_mean(values);
  const double x = variance > 0.0 ? distance * distance / variance / (count - 1.0) : HUGE_VAL;
  const double base = std::isfinite(x) ? (1.0 + x) / (1.0 + x / a) : a;
  return std::min(1.0, std::sqrt(a) * std::pow(base, -count / 2.0));
}

PairedState state_of(std::span<const double> log_ratios, double calibration, double threshold) {
  PairedState state{.interval = anytime_interval(log_ratios)};
  if (log_ratios.empty()) return state;
  const double change = mean(log_ratios);
  const double half = std::hypot(change - state.interval.low, calibration);
  state.interval = {change - half, change + half};
  const double bound = std::log1p(threshold);
  // Calibration errors may have the same sign in all passes, so that the bound includes them.
  const double nearest_none = bound + calibration;
  if (std::fabs(change) > nearest_none) {
    state.p_value = anytime_p(log_ratios, std::copysign(nearest_none, change));
  }
  return state;
}

bool is_settled(const PairedState& state, double threshold, std::size_t family) {
  const Interval& interval = state.interval;
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return false;
  const double bound = std::log1p(threshold);
  if (is_beyond(interval, bound)) {
    return state.p_value < level / static_cast<double>(std::max<std::size_t>(1, family));
  }
  return farthest(interval) <= bound || interval.high - interval.low <= bound;
}

void adopt_headlines(Comparison& comparison, const RunDigest& other) {
  const std::size_t known = comparison.rows.size();
  for (const ComparedResult& result : other.results) {
    for (const ComparedFinding& each : result.findings) {
      const auto is_like = [&](const ComparedRow& row) {
        const Finding& finding = row.baseline->finding;
        return row.probe == result.probe && finding.series == each.finding.series &&
               finding.name == each.finding.name && finding.value;
      };
      const auto end = comparison.rows.begin() + static_cast<std::ptrdiff_t>(known);
      const bool is_new = std::none_of(comparison.rows.begin(), end, is_like);
      if (each.finding.role != Role::headline || !each.finding.value || !is_new) continue;
      ComparedRow row{.probe = result.probe, .baseline = &each};
      row.cells.resize(2);
      row.cells[1].finding = &each;
      comparison.rows.push_back(std::move(row));
    }
  }
}

void apply_alternation(Comparison& comparison, std::span<const Alternated> alternated,
                       bool is_repeatable) {
  const auto keep = [&](const ComparedFinding& finding) {
    comparison.made.push_back(std::make_shared<const ComparedFinding>(finding));
    return comparison.made.back().get();
  };
  std::vector<bool> is_alternated(comparison.rows.size());
  for (const Alternated& each : alternated) {
    ComparedRow& row = comparison.rows[each.row];
    is_alternated[each.row] = true;
    row.baseline = keep(each.baseline);
    row.cells[0].finding = row.baseline;
    row.cells[1] = {keep(each.other), judge(each, comparison.threshold)};
    // A finding that only one of the two runs had was listed as unmatched. After alternation, both
    // runs have the finding.
    std::erase_if(comparison.unmatched, [&](const Unmatched& left) {
      const Finding& finding = row.baseline->finding;
      return left.probe == row.probe && left.series == finding.series &&
             left.name == finding.name && left.level == finding.level;
    });
  }
  std::vector<ComparedRow> rows;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    ComparedRow& row = comparison.rows[i];
    // An adopted row that no pass has visited.
    const bool is_adopted = row.cells[0].finding == nullptr;
    if (row.baseline->finding.role != Role::headline || is_adopted) continue;
    if (!is_alternated[i] && !is_repeatable) doubt_single_runs(row.cells[1]);
    rows.push_back(std::move(row));
  }
  comparison.rows = std::move(rows);
  count_verdicts(comparison);
}

}  // namespace clprobe
