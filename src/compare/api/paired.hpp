// SPDX-License-Identifier: Apache-2.0
// Alternating measurements on two devices or drivers, baseline and other: intervals and verdicts
// for the ratios of their visits. The intervals stay valid if they are computed after each pass.
// Results depend only on the arguments.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"

namespace clprobe {

/// Logarithms of the times of one block of visits, in the order A B B A or B A A B. With this
/// order, a linear drift affects baseline and other equally.
struct PairBlock {
  std::array<double, 2> baseline{};
  std::array<double, 2> other{};

  /// Returns the logarithm of the ratio of `other` to `baseline`.
  [[nodiscard]] double log_ratio() const;
};

/// Result of one visit of a point on the baseline device and of a point on the other device.
struct VisitRatio {
  double baseline{0.0};   ///< logarithm of the baseline's time
  double log_ratio{0.0};  ///< logarithm of the other time divided by the baseline's time
};

/// Returns the ratio of one visit. `noise_only_adds` is true for single accesses, whose ratio is
/// that of the minima of up to 8 times each, or of the lower quartiles of more times (see
/// Estimate). For whole launches, the ratio is the median of the ratios of all blocks.
/// Throws std::invalid_argument if `blocks` is empty.
VisitRatio ratio_of_visit(std::span<const PairBlock> blocks, bool noise_only_adds);

/// Returns an interval of the mean of `values` that stays valid at 95 % however often it is
/// computed. The interval may be computed after each new value, and sampling may stop at any time.
/// At most 5 % of the intervals miss the true mean.
///
/// The interval contains all means whose Bayes factor is below 20. The alternative is a normal
/// effect with a standard deviation of 2, in units of the standard deviation of `values`. For fewer
/// than 4 values, both ends are infinite.
///
/// Lai (1976), "On confidence sequences", Annals of Statistics 4:265; Wang and Ramdas (2025),
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
/// Sequential Analysis 44:56. The Bayes factor is that of Gönen et al. (2005), American
/// Statistician 59:252.
Interval anytime_interval(std::span<const double> values);

/// Returns the p-value of the hypothesis that the true mean of `values` is `truth`. The p-value
/// stays valid if it is computed after each new value. It is the inverse of the Bayes factor of
/// anytime_interval(), at most 1.
double anytime_p(std::span<const double> values, double truth);

/// A finding that was measured alternately on the baseline and the other device.
struct Alternated {
  std::size_t row{0};          ///< row of the comparison
  ComparedFinding baseline{};  ///< its value is the result of the alternating passes
  ComparedFinding other{};
  /// Ratios of the values (not of the times), one per pass, as logarithms.
  std::vector<double> log_ratios{};
  /// Half-width of the interval for the calibrations of both clocks, as a logarithm; 0 if the
  /// calibration errors cancel.
  double calibration{0.0};
};

/// State of a finding after the passes so far.
struct PairedState {
  Interval interval{};  ///< interval of the logarithm of the ratio
  double p_value{1.0};  ///< probability of the data if the change is within the threshold
};

PairedState state_of(std::span<const double> log_ratios, double calibration, double threshold);

/// Returns true if further passes would not change the verdict. If the interval is beyond the
/// threshold, the p-value must be below 5 % / `family` (the first step of Holm's procedure).
/// Otherwise, the interval must lie within the threshold or be no wider than the threshold.
bool is_settled(const PairedState& state, double threshold, std::size_t family);

/// Adds rows for headlines of `other` that the baseline lacks, since a measurement on a busy host
/// may miss all levels. The baseline's cell of such a row stays empty until baseline and other
/// have alternated.
void adopt_headlines(Comparison& comparison, const RunDigest& other);

/// Reduces the comparison to headlines, and sets the verdicts of alternated headlines. A change of
/// a headline that did not alternate becomes `unclear`, since it depends on one measurement of each
/// device. If `is_repeatable` (both devices are simulated), repetitions are equal, and such changes
/// stay.
void apply_alternation(Comparison& comparison, std::span<const Alternated> alternated,
                       bool is_repeatable);

}  // namespace clprobe
