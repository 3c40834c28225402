// SPDX-License-Identifier: Apache-2.0
// Alternating measurements of two sides: intervals and verdicts of the ratios of their visits,
// which stay valid if they are computed repeatedly. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"

namespace clprobe {

/// Logarithms of the times of one block of visits, A B B A or B A A B, in which a linear drift
/// affects both sides equally.
struct PairBlock {
  std::array<double, 2> baseline{};
  std::array<double, 2> other{};

  /// Returns the logarithm of the ratio of the other side's time to the baseline's.
  [[nodiscard]] double log_ratio() const;
};

/// Result of visiting a pair of points.
struct VisitRatio {
  double baseline{0.0};   ///< logarithm of the time
  double log_ratio{0.0};  ///< logarithm of the ratio of the other side's time to the baseline's
};

/// Returns the ratio of a visit. If noise only increases the times, as for one access, the ratio of
/// the minima of up to 8 times per side, or of the lower quartiles of more (see Estimate).
/// Otherwise, as for whole launches, the median of the blocks' ratios. Throws std::invalid_argument
/// without blocks.
VisitRatio ratio_of_visit(std::span<const PairBlock> blocks, bool noise_only_adds);

/// Returns an interval of the mean of `values` that stays valid at 95 % however often it is
/// computed. If it is computed after each new value and sampling stops at any time, at most 5 % of
/// the intervals miss the true mean.
///
/// The interval contains the values whose Bayes factor is below 20. The alternative is a normal
/// effect with a standard deviation of 2, in units of the values' deviation. For fewer than 4
/// values, both ends are infinite.
///
/// Lai (1976), "On confidence sequences", Annals of Statistics 4:265; Wang and Ramdas (2025),
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
/// Sequential Analysis 44:56. The Bayes factor is that of Gönen et al. (2005), American
/// Statistician 59:252.
Interval anytime_interval(std::span<const double> values);

/// Returns the probability of values that far from `truth`, which stays valid if it is computed
/// repeatedly: the inverse of the Bayes factor of anytime_interval(), at most 1.
double anytime_p(std::span<const double> values, double truth);

/// A finding that was measured alternately on both sides.
struct Alternated {
  std::size_t row{0};          ///< row of the comparison
  ComparedFinding baseline{};  ///< the value is that of the alternating passes
  ComparedFinding other{};
  std::vector<double> log_ratios{};  ///< ratios of the values (not of the times), one per pass
  /// Half-width of the interval of both clocks' calibrations, as a logarithm; 0 if they cancel.
  double calibration{0.0};
};

/// State of a finding after some passes.
struct PairedState {
  Interval interval{};  ///< interval of the logarithm of the ratio
  double p_value{1.0};  ///< probability of the data if the change is within the threshold
};

PairedState state_of(std::span<const double> log_ratios, double calibration, double threshold);

/// Returns true if further passes would not change the verdict. The interval then lies within the
/// threshold, is no wider than the threshold, or lies beyond it at 5 % by Holm's procedure for
/// `family` findings.
bool is_settled(const PairedState& state, double threshold, std::size_t family);

/// Adds rows for headlines of `other` that the baseline lacks, since one measurement on a busy host
/// may miss all levels. Their cells are empty until both sides have alternated.
void adopt_headlines(Comparison& comparison, const RunDigest& other);

/// Reduces the comparison of single measurements to headlines, and sets the verdicts of alternated
/// ones. A change of another headline becomes `unclear`, since it depends on one run per side.
/// `is_repeatable`: both sides are simulated, so that repetitions are equal and such changes stay.
void apply_alternation(Comparison& comparison, std::span<const Alternated> alternated,
                       bool is_repeatable);

}  // namespace clprobe
