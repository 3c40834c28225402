// SPDX-License-Identifier: Apache-2.0
// Two sides measured in turns: what the ratios of their turns say, however often one looks. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clprobe/compare.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// Logarithms of the times of one block of turns, A B B A or B A A B: a drift that is a straight
/// line in time adds as much to both sides.
struct TurnBlock {
  std::array<double, 2> baseline{};
  std::array<double, 2> other{};

  /// Of the other side's time to the baseline's.
  [[nodiscard]] double log_ratio() const;
};

/// What a round of blocks says.
struct RoundRatio {
  double baseline{0.0};   ///< logarithm of the time
  double log_ratio{0.0};  ///< of the other side's time to the baseline's
};

/// Where noise only adds to a time, as to that of one access: from the least of up to 8 turns a
/// side, or the lower quartile of more, as everywhere (see Estimate). Else, as of whole launches,
/// which may also be faster than usual: the median of the blocks' ratios. Throws
/// std::invalid_argument for no blocks.
RoundRatio ratio_of_round(std::span<const TurnBlock> blocks, bool noise_only_adds);

/// The interval of the mean of `values`, 95 % for all looks together: whoever looks after each new
/// value, and stops when he likes, has an interval that never held the truth in at most 5 % of
/// cases. The values of Student's t that it lets stand are those whose Bayes factor against an
/// effect that is normal, with a standard deviation of 2 in units of that of the values, is below
/// 20. Of fewer than 4 values it is open on both sides.
///
/// Lai (1976), "On confidence sequences", Annals of Statistics 4:265; Wang and Ramdas (2025),
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
/// Sequential Analysis 44:56; the Bayes factor is that of Gönen et al. (2005), American
/// Statistician 59:252.
Interval anytime_interval(std::span<const double> values);

/// How likely values that far from `truth` are, looked at as often as one likes: the inverse of the
/// same Bayes factor, at most 1.
double anytime_p(std::span<const double> values, double truth);

/// A finding that both sides have, followed in turns.
struct Followed {
  std::size_t row{0};          ///< of the comparison
  ComparedFinding baseline{};  ///< the value that the turns gave, in the finding's unit
  ComparedFinding other{};
  std::vector<double> log_ratios{};  ///< one a round, of the values, and not of the times
  /// Half the width of the interval of both clocks' calibrations, as a logarithm, where they count.
  double calibration{0.0};
};

/// What can be said of a finding now.
struct PairedState {
  Interval interval{};  ///< of the logarithm of the ratio
  double p_value{1.0};  ///< that the change is none beyond the threshold
};

PairedState state_of(std::span<const double> log_ratios, double calibration, double threshold);

/// Whether more rounds would change nothing that is asked: the interval lies within the threshold,
/// or is no wider than it, or lies beyond it so surely that `family` findings together are told so
/// by Holm's procedure at 5 %.
bool is_settled(const PairedState& state, double threshold, std::size_t family);

/// Adds rows for headlines of `other` where the baseline has none of that series and name: a first
/// look at a busy host may miss all levels. Their cells say nothing until they are followed.
void adopt_headlines(Comparison& comparison, const RunDigest& other);

/// The comparison of both sides' first runs, of its headlines alone: those that were followed as
/// the turns say. A change of one that was seen in one run a side, and not in turns, is `unclear`,
/// unless `is_repeatable`: both sides give the same however often they are asked (simulated).
void take_turns(Comparison& comparison, std::span<const Followed> followed, bool is_repeatable);

}  // namespace clprobe
