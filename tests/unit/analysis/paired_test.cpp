// SPDX-License-Identifier: Apache-2.0
// Turns, and what their ratios say however often one looks.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "compare/api/paired.hpp"
#include "random.hpp"
#include "rounds.hpp"
#include "turning_host.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;
const double bound = std::log1p(threshold);

/// How many of `tries` sequences of 60 rounds ever had an interval without the truth.
template <typename IntervalOf>
int misses(int tries, double change, IntervalOf interval_of) {
  int missed = 0;
  for (int i = 0; i < tries; ++i) {
    Host host = disturbed_host(static_cast<std::uint64_t>(i));
    std::vector<double> ratios;
    bool has_missed = false;
    for (int round = 0; round < 60 && !has_missed; ++round) {
      ratios.push_back(host.round(change));
      const Interval interval = interval_of(ratios);
      has_missed = interval.low > change || interval.high < change;
    }
    missed += has_missed ? 1 : 0;
  }
  return missed;
}

/// The usual one, which is right for one look.
Interval usual_interval(const std::vector<double>& values) {
  if (values.size() < 2) return {-HUGE_VAL, HUGE_VAL};
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  const double half = student_t(values.size() - 1) * std::sqrt(squares / (count - 1.0) / count);
  return {mean - half, mean + half};
}

/// Rounds until a host of that kind is settled; 0: it is not in 60.
std::size_t rounds_to_settle(Host host, double change, PairedState& state) {
  std::vector<double> ratios;
  for (std::size_t round = 1; round <= 60; ++round) {
    ratios.push_back(host.round(change));
    state = state_of(ratios, 0.0, threshold);
    if (is_settled(state, threshold, 5)) return round;
  }
  return 0;
}

ComparedFinding headline(std::string name, double value) {
  Finding finding{.name = std::move(name), .series = "global"};
  finding.value = value;
  finding.unit = "seconds";
  finding.role = Role::headline;
  finding.better = Better::less;
  return {finding};
}

}  // namespace

TEST_CASE("a drift that is a line in time is in no block's ratio, whichever side begins") {
  for (const double drift : {-0.01, 0.0, 0.003, 0.1}) {
    for (const bool is_mirrored : {false, true}) {
      Host host(1);
      host.noise = 0.0;
      host.drift = drift;
      for (int i = 0; i < 5; ++i) {
        CHECK(host.block(0.05, is_mirrored).log_ratio() == doctest::Approx(0.05).epsilon(1e-9));
      }
    }
  }
  // In the order A B A B it would be in each.
  const PairBlock in_order{{0.0, 0.02}, {0.01, 0.03}};
  CHECK(in_order.log_ratio() == doctest::Approx(0.01));
}

TEST_CASE("a burst that meets one block of a round is not in the round's ratio") {
  const PairBlock quiet{{1.0, 1.0}, {1.1, 1.1}};
  const PairBlock burst{{1.0, 2.0}, {1.1, 1.1}};
  for (const bool noise_only_adds : {false, true}) {
    const VisitRatio found = ratio_of_visit(std::array{quiet, burst, quiet}, noise_only_adds);
    CHECK(found.log_ratio == doctest::Approx(0.1));
    CHECK(found.baseline == doctest::Approx(1.0));
  }
  CHECK_THROWS_AS(ratio_of_visit({}, false), std::invalid_argument);
}

TEST_CASE("of times to which noise only adds the least counts, and of many the lower quartile") {
  // Nearly all turns of one side were disturbed, and of the other one.
  const PairBlock both{{1.5, 1.4}, {1.1, 1.9}};
  const PairBlock one{{1.0, 1.3}, {1.7, 1.6}};
  CHECK(ratio_of_visit(std::array{both, one}, true).log_ratio == doctest::Approx(0.1));
  // A launch may also be faster than usual: the pairs count.
  CHECK(ratio_of_visit(std::array{both, one}, false).log_ratio == doctest::Approx(0.275));
  std::vector<PairBlock> many(5, PairBlock{{1.0, 1.0}, {1.2, 1.2}});
  many[2].other[1] = 0.5;
  CHECK(ratio_of_visit(many, true).log_ratio == doctest::Approx(0.2));
  for (std::size_t i = 0; i < 3; ++i) many[i].other = {1.8, 1.8};
  CHECK(ratio_of_visit(many, true).log_ratio == doctest::Approx(0.2));
  many[2].other[1] = 0.5;
  many.pop_back();
  CHECK(ratio_of_visit(many, true).log_ratio == doctest::Approx(-0.5));
}

TEST_CASE("the interval's ends are where the Bayes factor is 20") {
  Random random(3);
  for (std::size_t count = 2; count < 40; ++count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(0.1 + 0.02 * random.normal());
    const Interval interval = anytime_interval(values);
    CHECK(std::isfinite(interval.low) == (count >= 4));
    if (count < 4) continue;
    CHECK(anytime_p(values, interval.low) == doctest::Approx(0.05).epsilon(1e-6));
    CHECK(anytime_p(values, interval.high) == doctest::Approx(0.05).epsilon(1e-6));
    const Interval usual = usual_interval(values);
    CHECK(interval.low < usual.low);
    CHECK(interval.high > usual.high);
  }
  // By sums over effect and scale, in another program: n = 10, t = 3.
  std::vector<double> ten{-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  const double error = std::sqrt(10.0 / 9.0 / 10.0);
  CHECK(anytime_p(ten, 3.0 * error) == doctest::Approx(0.22572).epsilon(0.001));
  CHECK(anytime_p(ten, 0.0) == 1.0);
  const std::vector<double> equal(8, 0.1);
  CHECK(anytime_interval(equal).low == doctest::Approx(0.1));
  CHECK(anytime_interval(equal).high == doctest::Approx(0.1));
  CHECK(anytime_p(equal, 0.0) < 0.001);
}

TEST_CASE(
    "95 % of sequences never lose the truth, looked at after each round, under bursts and drift") {
  const int tries = rounds(1000);
  for (const double change : {0.0, 0.1}) {
    const auto anytime = [](const std::vector<double>& ratios) { return anytime_interval(ratios); };
    const int missed = misses(tries, change, anytime);
    const int missed_by_usual = misses(tries, change, usual_interval);
    CAPTURE(missed);
    CAPTURE(missed_by_usual);
    CHECK(missed <= tries / 20);
    // An interval for one look loses it several times as often.
    CHECK(missed_by_usual > tries / 7);
  }
}

TEST_CASE("10 % is found soon, and no change where there is none") {
  const int tries = rounds(400);
  int found = 0;
  int false_alarms = 0;
  for (int i = 0; i < tries; ++i) {
    PairedState state;
    const std::size_t needed =
        rounds_to_settle(disturbed_host(static_cast<std::uint64_t>(i)), std::log(1.1), state);
    found += needed > 0 && needed <= 30 && state.interval.low > bound ? 1 : 0;
    rounds_to_settle(disturbed_host(static_cast<std::uint64_t>(i) + 10000), 0.0, state);
    const bool is_change = state.interval.low > bound || state.interval.high < -bound;
    false_alarms += is_change ? 1 : 0;
  }
  CHECK(found >= tries * 95 / 100);
  CHECK(false_alarms <= tries / 100);
}

TEST_CASE("what settles a finding") {
  // Within the threshold; no wider than it; and beyond it, for as many findings as there are.
  CHECK(is_settled({{-0.029, 0.029}}, threshold, 1));
  CHECK_FALSE(is_settled({{-0.02, 0.031}}, threshold, 1));
  CHECK(is_settled({{0.01, 0.039}}, threshold, 1));
  CHECK_FALSE(is_settled({{0.01, 0.041}}, threshold, 1));
  CHECK(is_settled({{0.04, 0.2}, 0.04}, threshold, 1));
  CHECK_FALSE(is_settled({{0.04, 0.2}, 0.04}, threshold, 2));
  CHECK(is_settled({{-0.2, -0.04}, 0.02}, threshold, 2));
  CHECK_FALSE(is_settled({{-HUGE_VAL, HUGE_VAL}}, threshold, 1));
}

TEST_CASE("errors of calibrations widen the interval, and no number of rounds makes them less") {
  const std::vector<double> equal(20, 0.05);
  CHECK(state_of(equal, 0.0, threshold).interval.low == doctest::Approx(0.05));
  const PairedState state = state_of(equal, 0.03, threshold);
  CHECK(state.interval.low == doctest::Approx(0.02));
  CHECK(state.interval.high == doctest::Approx(0.08));
  CHECK(state.p_value == 1.0);
  CHECK(state_of(equal, 0.01, threshold).p_value < 0.001);
  CHECK(state_of({}, 0.0, threshold).p_value == 1.0);
}

TEST_CASE("headlines that the baseline's first look missed are there once they were followed") {
  const ComparedFinding known = headline("latency", 1e-9);
  RunDigest other;
  ComparedFinding far = headline("latency", 5e-9);
  far.finding.series = "far";
  ComparedFinding fact = headline("cycles", 3.0);
  fact.finding.role = Role::fact;
  ComparedFinding second = headline("latency", 3e-9);
  second.finding.level = 2;
  other.results = {
      {.probe = "latency", .findings = {headline("latency", 2e-9), second, far, fact}}};
  Comparison comparison;
  comparison.threshold = threshold;
  comparison.counts.resize(2);
  ComparedRow row{.probe = "latency", .baseline = &known};
  row.cells = {{&known, {}}, {}};
  comparison.rows = {row};
  adopt_headlines(comparison, other);
  REQUIRE(comparison.rows.size() == 2);
  CHECK(comparison.rows[1].baseline->finding.series == "far");
  Comparison ignored = comparison;
  apply_alternation(ignored, {}, false);
  CHECK(ignored.rows.size() == 1);
  comparison.unmatched = {{1, "latency", "far", "latency", std::nullopt, "not in the baseline"},
                          {1, "latency", "far", "cycles", std::nullopt, "not in the baseline"}};
  const Alternated turns{
      .row = 1, .baseline = far, .other = far, .log_ratios = {0.0, 0.0, 0.0, 0.0}};
  apply_alternation(comparison, std::array{turns}, false);
  REQUIRE(comparison.rows.size() == 2);
  CHECK(comparison.unmatched.size() == 1);
  CHECK(comparison.rows[1].cells[1].judgement.verdict == Verdict::same);
}

TEST_CASE("a comparison of turns has the headlines, as they were followed") {
  const ComparedFinding followed = headline("latency", 1e-9);
  ComparedFinding capacity = headline("capacity", 1024.0);
  capacity.finding.unit = "bytes";
  capacity.finding.better = Better::more;
  ComparedFinding fact = headline("cycles", 3.0);
  fact.finding.role = Role::fact;
  Comparison comparison;
  comparison.threshold = threshold;
  comparison.counts.resize(2);
  const auto add = [&](const ComparedFinding& finding, Verdict verdict) {
    ComparedRow row{.probe = "latency", .baseline = &finding};
    row.cells = {{&finding, {}}, {&finding, {.verdict = verdict, .reason = "seen once"}}};
    comparison.rows.push_back(row);
  };
  add(fact, Verdict::worse);
  add(followed, Verdict::same);
  add(capacity, Verdict::worse);
  Alternated turns{
      .row = 1, .baseline = headline("latency", 2e-9), .other = headline("latency", 3e-9)};
  for (int i = 0; i < 10; ++i) turns.log_ratios.push_back(std::log(1.5) + 0.001 * (i % 2));
  Comparison once = comparison;
  apply_alternation(once, std::array{turns}, false);
  REQUIRE(once.rows.size() == 2);
  const Judgement& judged = once.rows[0].cells[1].judgement;
  CHECK(judged.verdict == Verdict::worse);
  CHECK(*judged.ratio == doctest::Approx(1.5).epsilon(0.001));
  CHECK(judged.interval->low > 1.49);
  CHECK(*judged.p_value < 0.001);
  CHECK(judged.reason.find("10 alternating passes") != std::string::npos);
  CHECK(*once.rows[0].baseline->finding.value == 2e-9);
  CHECK(*once.rows[0].cells[1].finding->finding.value == 3e-9);
  // What one run a side says is no change, unless each run says the same.
  CHECK(once.rows[1].cells[1].judgement.verdict == Verdict::unclear);
  CHECK(once.counts[1].worse == 1);
  CHECK(once.counts[1].unclear == 1);
  Comparison repeatable = comparison;
  apply_alternation(repeatable, std::array{turns}, true);
  CHECK(repeatable.rows[1].cells[1].judgement.verdict == Verdict::worse);
  // Of too few rounds nothing can be said, and of none of change how much could have been missed.
  turns.log_ratios.resize(3);
  Comparison few = comparison;
  apply_alternation(few, std::array{turns}, false);
  CHECK(few.rows[0].cells[1].judgement.verdict == Verdict::unclear);
  turns.log_ratios = {0.001, -0.001, 0.0, 0.001, -0.001, 0.0, 0.0, 0.0};
  Comparison same = comparison;
  apply_alternation(same, std::array{turns}, false);
  CHECK(same.rows[0].cells[1].judgement.verdict == Verdict::same);
  CHECK(*same.rows[0].cells[1].judgement.resolution < threshold);
}

TEST_CASE("a change that was not followed is in doubt, and of a capacity it is said why") {
  ComparedFinding capacity = headline("capacity", 1024.0);
  capacity.finding.unit = "bytes";
  const ComparedFinding count = headline("banks", 32.0);
  Comparison comparison;
  comparison.counts.resize(2);
  const std::array<const ComparedFinding*, 3> findings{&capacity, &capacity, &count};
  for (const ComparedFinding* const each : findings) {
    ComparedRow row{.probe = "latency", .baseline = each};
    row.cells = {{each, {}}, {each, {.verdict = Verdict::worse, .reason = "seen once"}}};
    comparison.rows.push_back(row);
  }
  comparison.rows[1].cells[1].judgement.verdict = Verdict::same;
  apply_alternation(comparison, {}, false);
  const auto judged = [&](std::size_t row) { return comparison.rows[row].cells[1].judgement; };
  CHECK(judged(0).verdict == Verdict::unclear);
  CHECK(judged(0).reason ==
        "seen once; but compare --live does not compare capacities: compare two saved runs");
  CHECK(judged(1).verdict == Verdict::same);
  CHECK(judged(1).reason == "seen once");
  CHECK(judged(2).verdict == Verdict::unclear);
  CHECK(judged(2).reason.ends_with(
      "no single point shows the change: compare several baseline runs with several new runs"));
}

}  // namespace clprobe
