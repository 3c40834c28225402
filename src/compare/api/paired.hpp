// SPDX-License-Identifier: Apache-2.0
// Two sides measured alternately: intervals and verdicts of the ratios of their visits, which hold
// however often they are computed. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"

namespace clprobe {

/// Logarithms of the times of one block of visits, A B B A or B A A B: a linear drift adds the same
/// to both sides.
struct PairBlock {
  std::array<double, 2> baseline{};
  std::array<double, 2> other{};

  /// Logarithm of the ratio of the other side's time to the baseline's.
  [[nodiscard]] double log_ratio() const;
};

/// Result of the visit of a pair of points.
struct VisitRatio {
  double baseline{0.0};   ///< logarithm of the time
  double log_ratio{0.0};  ///< of the other side's time to the baseline's
};

/// The ratio of a visit. Where noise only adds to a time, as to that of one access: from the
/// minimum of up to 8 times a side, or the lower quartile of more, as everywhere (see Estimate).
/// Otherwise, as for whole launches, which may also be faster than usual: the median of the blocks'
/// ratios. Throws std::invalid_argument for no blocks.
VisitRatio ratio_of_visit(std::span<const PairBlock> blocks, bool noise_only_adds);

/// The interval of the mean of `values`, 95 % however often it is computed: if it is computed after
/// each new value, and sampling stops at any time, at most 5 % of cases have an interval without
/// the truth. The values of Student's t that it lets stand are those whose Bayes factor against an
/// effect that is normal, with a standard deviation of 2 in units of that of the values, is below
/// 20. Of fewer than 4 values it is open on both sides.
///
/// Lai (1976), "On confidence sequences", Annals of Statistics 4:265; Wang and Ramdas (2025),
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
/// Sequential Analysis 44:56; the Bayes factor is that of Gönen et al. (2005), American
/// Statistician 59:252.
Interval anytime_interval(std::span<const double> values);

/// Probability of values that far from `truth`, however often it is computed: the inverse of the
/// Bayes factor of anytime_interval(), at most 1.
double anytime_p(std::span<const double> values, double truth);

/// A finding that was measured alternately on both sides.
struct Alternated {
  std::size_t row{0};          ///< of the comparison
  ComparedFinding baseline{};  ///< with the value of the alternating passes
  ComparedFinding other{};
  std::vector<double> log_ratios{};  ///< one per pass, of the values, and not of the times
  /// Half the width of the interval of both clocks' calibrations, as a logarithm; 0 if they cancel.
  double calibration{0.0};
};

/// State of a finding after some passes.
struct PairedState {
  Interval interval{};  ///< of the logarithm of the ratio
  double p_value{1.0};  ///< that the change is within the threshold
};

PairedState state_of(std::span<const double> log_ratios, double calibration, double threshold);

/// Returns whether more passes would not change the verdict: the interval lies within the
/// threshold, or is no wider than it, or lies beyond it at 5 % by Holm's procedure for `family`
/// findings.
bool is_settled(const PairedState& state, double threshold, std::size_t family);

/// Adds rows for headlines of `other` where the baseline has none of that series and name: one
/// measurement on a busy host may miss all levels. Their cells are empty until they are alternated.
void adopt_headlines(Comparison& comparison, const RunDigest& other);

/// Reduces the comparison of one measurement of each side to its headlines, with the verdicts of
/// those that were alternated. A change of another headline rests on one run per side and becomes
/// `unclear`, unless `is_repeatable`: both sides are simulated and always give the same.
void apply_alternation(Comparison& comparison, std::span<const Alternated> alternated,
                       bool is_repeatable);

}  // namespace clprobe
