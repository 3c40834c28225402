// SPDX-License-Identifier: Apache-2.0
// How sure banks must be before they are told: times on both sides of each threshold.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "probes/banks/findings.hpp"
#include "random.hpp"

namespace clprobe::banks {
namespace {

Verdict verdict_of(const std::vector<Curve>& curves) {
  return judge(curves, tabulate_candidates(curves));
}

/// Returns the verdict for strides of 1, 2, 4, 8 and 16 words. On 32 banks of 4 bytes with 32
/// lanes, each takes as many ways as its number.
Verdict verdict_of(const std::vector<double>& times) {
  Curve curve;
  for (const int stride : {1, 2, 4, 8, 16}) {
    curve.patterns.push_back({PatternKind::stride, stride});
  }
  curve.times = times;
  return verdict_of(std::vector{curve});
}

double lead_of(const Verdict& verdict) { return verdict.bic_of_none - verdict.ranking.front().bic; }

/// Returns a curve of all patterns of a survey. Times are base + cost * ways, with relative noise
/// of `noise_share`.
Curve survey(double base, double cost, double noise_share) {
  Random noise(5);
  Curve curve;
  curve.patterns = survey_patterns(survey_strides(true));
  for (const Pattern& pattern : curve.patterns) {
    const double ways = wavefronts_of(offsets_of(pattern, 4, 32), 4, {32, 4, 32});
    curve.times.push_back((base + cost * ways) * (1.0 + noise_share * noise.normal()));
  }
  return curve;
}

TEST_CASE("banks are told from a BIC on that is 20 better than that of no banks") {
  // Times of 18 + 2 per way, alternately too high and too low by half a cycle. In the second call
  // the error is one cycle.
  const Verdict sure = verdict_of(std::vector{20.5, 21.5, 25.5, 34.5, 49.5});
  CHECK(lead_of(sure) > 20.0);
  CHECK(lead_of(sure) < 22.0);
  CHECK(sure.is_visible);
  const Verdict unsure = verdict_of(std::vector{21.0, 21.0, 25.0, 35.0, 49.0});
  CHECK(lead_of(unsure) > 18.0);
  CHECK(lead_of(unsure) < 20.0);
  CHECK_FALSE(unsure.is_visible);
  CHECK(unsure.reason.starts_with(
      "not visible: the scatter of the samples hides the time that conflicts would add"));
}

TEST_CASE("a candidate that explains half of what times differ by is not believed") {
  const Verdict verdict = verdict_of(std::vector{survey(100.0, 1.0, 0.05)});
  CHECK(lead_of(verdict) > 20.0);
  CHECK_FALSE(verdict.is_visible);
  CHECK(verdict.reason.find("the best candidate model explains only 5") != std::string::npos);
  CHECK(verdict_of(std::vector{survey(100.0, 1.0, 0.005)}).is_visible);
}

TEST_CASE("conflicts that would make one of the curves faster are none") {
  const Verdict verdict =
      verdict_of(std::vector{survey(100.0, 2.0, 0.001), survey(200.0, -2.0, 0.001)});
  CHECK(lead_of(verdict) > 20.0);
  CHECK_FALSE(verdict.is_visible);
  CHECK(verdict_of(std::vector{survey(100.0, 2.0, 0.001), survey(200.0, 2.0, 0.001)}).is_visible);
}

TEST_CASE("what adds up to less than 2 % of an access is no conflict") {
  // The most congested pattern has 31 additional ways. Each way adds 0.1 % of an access, or 0.05 %
  // in the second curve.
  CHECK(verdict_of(std::vector{survey(1000.0, 1.0, 0.0)}).is_visible);
  const Verdict verdict = verdict_of(std::vector{survey(1000.0, 0.5, 0.0)});
  CHECK_FALSE(verdict.is_visible);
  CHECK(verdict.reason.starts_with(
      "not visible: all access patterns take nearly the same time (conflicts add at most 1.5"));
}

TEST_CASE("patterns put each lane where they say") {
  // First, two blocks of rows for 4 lanes. Second, a congestion of 2 lanes in one of 32 banks of 4
  // bytes; the other two lanes access the next banks.
  CHECK(offsets_of({PatternKind::blocks, 2, 128}, 4, 4) ==
        std::vector<std::uint32_t>{0, 0, 128, 128});
  CHECK(offsets_of({PatternKind::congestion, 2, 128, 32}, 4, 4) ==
        std::vector<std::uint32_t>{0, 128, 4, 8});
  // With more lanes than banks, lanes start again at the bank after the congested bank, not at the
  // congested bank itself.
  const auto many = offsets_of({PatternKind::congestion, 1, 128, 32}, 4, 64);
  CHECK(many.at(31) == 124);
  CHECK(many.at(32) == 4);
}

TEST_CASE("the line of a curve counts relative deviations, and its interval is one of 95 %") {
  // Least squares of 1 on the columns 1 / t and w / t, solved by Cramer's rule in exact fractions.
  // The interval extends 1.96 standard errors, with 3 degrees of freedom, to each side.
  const ConflictLine line = fit_conflicts(std::vector{1.0, 2.0, 4.0, 8.0, 16.0},
                                          std::vector{21.0, 21.0, 25.0, 35.0, 49.0});
  CHECK(line.cost == doctest::Approx(1.955537488).epsilon(1e-6));
  CHECK(line.base == doctest::Approx(17.996406101).epsilon(1e-6));
  CHECK(line.cost_interval.low == doctest::Approx(1.658563253).epsilon(1e-6));
  CHECK(line.cost_interval.high == doctest::Approx(2.252511722).epsilon(1e-6));
}

}  // namespace
}  // namespace clprobe::banks
