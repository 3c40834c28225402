// SPDX-License-Identifier: Apache-2.0
// The rule of docs/compare.md: what holds for all numbers, and its numbers against those of others.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"
#include "compare/comparing.hpp"
#include "random.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;

ComparedFinding finding_of(double value, double low, double high, std::string_view unit) {
  Finding finding{.name = "made", .series = "all"};
  finding.unit = unit;
  finding.value = value;
  finding.low = low;
  finding.high = high;
  finding.better = usual_direction(unit);
  return {finding};
}

/// Intervals from 0.1 % to beyond a factor of 2, margins as runs have them, changes of both signs.
ComparedFinding random_finding(Random& random, std::string_view unit) {
  const double value = 100.0 * std::exp(0.2 * random.normal());
  const double low = value / (1.0 + random.log_uniform(0.001, 1.5));
  const double high = value * (1.0 + random.log_uniform(0.001, 1.5));
  ComparedFinding compared = finding_of(value, low, high, unit);
  compared.margin = random.log_uniform(0.001, 0.2);
  compared.calibration = random.chance(0.5) ? 0.01 : 0.0;
  if (unit == "bytes") compared.step = std::log1p(random.log_uniform(0.01, 0.5));
  if (random.chance(0.1)) compared.finding.low.reset();
  return compared;
}

ComparedFinding scaled(ComparedFinding compared, double factor) {
  Finding& finding = compared.finding;
  finding.value = *finding.value * factor;
  if (finding.low) finding.low = *finding.low * factor;
  if (finding.high) finding.high = *finding.high * factor;
  return compared;
}

ComparedFinding widened(ComparedFinding compared, double factor) {
  Finding& finding = compared.finding;
  if (finding.low) finding.low = *finding.low / factor;
  if (finding.high) finding.high = *finding.high * factor;
  return compared;
}

constexpr int rounds = 2000;
constexpr std::array<std::string_view, 3> units{"seconds", "bytes_per_second", "bytes"};

}  // namespace

TEST_CASE("swapping the sides swaps better and worse, and nothing else") {
  Random random(1);
  int changes = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string_view unit = random.one_of(units);
    const ComparedFinding a = random_finding(random, unit);
    const ComparedFinding b = random_finding(random, unit);
    const Judgement there = judge(a, b, threshold);
    const Judgement back = judge(b, a, threshold);
    const bool is_swapped = there.verdict == Verdict::better || there.verdict == Verdict::worse;
    CHECK(back.verdict == (!is_swapped                        ? there.verdict
                           : there.verdict == Verdict::better ? Verdict::worse
                                                              : Verdict::better));
    CHECK(back.resolution.has_value() == there.resolution.has_value());
    CHECK(back.resolution.value_or(0.0) == doctest::Approx(there.resolution.value_or(0.0)));
    CHECK(back.p_value.value() == doctest::Approx(there.p_value.value()));
    changes += is_change(there.verdict) ? 1 : 0;
  }
  CHECK(changes > rounds / 20);
  CHECK(changes < rounds / 2);
}

TEST_CASE("a wider interval never makes a change of what was none, nor tells more") {
  Random random(2);
  int lost = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string_view unit = random.one_of(units);
    const ComparedFinding a = random_finding(random, unit);
    const ComparedFinding b = random_finding(random, unit);
    const Judgement narrow = judge(a, b, threshold);
    const Judgement wide = judge(a, widened(b, random.uniform(1.0, 1.5)), threshold);
    if (!is_change(narrow.verdict)) CHECK_FALSE(is_change(wide.verdict));
    if (narrow.verdict == Verdict::unclear) CHECK(wide.verdict == Verdict::unclear);
    CHECK(wide.p_value.value() >= narrow.p_value.value());
    lost += is_change(narrow.verdict) && !is_change(wide.verdict) ? 1 : 0;
  }
  CHECK(lost > 0);
}

TEST_CASE("other units of measure change nothing") {
  Random random(3);
  for (int round = 0; round < rounds; ++round) {
    const std::string_view unit = random.one_of(units);
    const ComparedFinding a = random_finding(random, unit);
    const ComparedFinding b = random_finding(random, unit);
    const double factor = random.log_uniform(1e-9, 1e9);
    const Judgement one = judge(a, b, threshold);
    const Judgement other = judge(scaled(a, factor), scaled(b, factor), threshold);
    CHECK(one.verdict == other.verdict);
    CHECK(one.ratio.value() == doctest::Approx(other.ratio.value()));
    CHECK(one.p_value.value() == doctest::Approx(other.p_value.value()));
  }
}

TEST_CASE("a change is one if its p-value is below 5 %, and the more likely the nearer it is") {
  Random random(4);
  for (int round = 0; round < rounds; ++round) {
    const std::string_view unit = random.one_of(units);
    const Judgement judged =
        judge(random_finding(random, unit), random_finding(random, unit), threshold);
    CHECK(is_change(judged.verdict) == (judged.p_value.value() < 0.05));
  }
}

// Zou and Donner's limits by hand (Python 3.11's math and statistics.NormalDist): the change is
// ln 1.05, its ends ln 1.05 -+ sqrt(ln(105/103)^2 + ln(101/100)^2) and so on.
TEST_CASE(
    "the interval of the ratio, its farther end and its p-value are those of a hand calculation") {
  const Judgement judged =
      judge(finding_of(100, 99, 101, "seconds"), finding_of(105, 103, 106, "seconds"), threshold);
  REQUIRE(judged.interval.has_value());
  CHECK(judged.ratio == doctest::Approx(1.05));
  CHECK(judged.interval->low == doctest::Approx(1.0275086840540193).epsilon(1e-9));
  CHECK(judged.interval->high == doctest::Approx(1.0646064736195318).epsilon(1e-9));
  CHECK(judged.resolution == doctest::Approx(0.06460647361953184).epsilon(1e-9));
  CHECK(judged.p_value == doctest::Approx(0.08172547935872387).epsilon(1e-6));
}

// The density of Student's t integrated from 0 to t by Simpson's rule in 400,000 steps (Python).
TEST_CASE("p-values of Student's t are those of the integral of its density") {
  CHECK(two_sided_p(2.0, 1) == doctest::Approx(0.295167235300859).epsilon(1e-9));
  CHECK(two_sided_p(2.0, 2) == doctest::Approx(0.18350341907227463).epsilon(1e-9));
  CHECK(two_sided_p(-3.5, 3) == doctest::Approx(0.03948103761928501).epsilon(1e-9));
  CHECK(two_sided_p(5.0, 4) == doctest::Approx(0.007490433881255698).epsilon(1e-9));
  CHECK(two_sided_p(4.0, 9) == doctest::Approx(0.003110428310331703).epsilon(1e-9));
  CHECK(two_sided_p(3.919927970, normal_degrees) ==
        doctest::Approx(8.857543798e-5).scale(0).epsilon(1e-6));
  for (const std::size_t degrees : {0UL, 1UL, 2UL, 5UL, 9UL, 30UL}) {
    CHECK(two_sided_p(student_t(degrees), degrees) == doctest::Approx(0.05).epsilon(5e-3));
  }
}

TEST_CASE("the resolution up to which two are the same is 25 %") {
  const auto verdict = [](double aside) {
    const double low = 100.0 / (1.0 + aside);
    const ComparedFinding exact = finding_of(100.0, 100.0, 100.0, "seconds");
    return judge(exact, finding_of(100.0, low, 100.0 * (1.0 + aside), "seconds"), threshold)
        .verdict;
  };
  CHECK(verdict(0.249) == Verdict::same);
  CHECK(verdict(0.251) == Verdict::unclear);
}

namespace {

/// A run with one level that ends at `capacity`, measured at sizes 3 % apart; beyond it a load
/// takes `beyond` times as long.
ComparedResult run_of(double capacity, double low, double high, double beyond,
                      double level_seconds = 100e-9) {
  ComparedResult result{.probe = "made"};
  ComparedCurve curve{.series = "all", .unit = "seconds"};
  for (double size = 1000.0; size < 4000.0; size *= 1.03) {
    const double seconds = size <= capacity ? level_seconds : level_seconds * beyond;
    curve.points.push_back({std::to_string(size), seconds, size});
  }
  result.curves.push_back(std::move(curve));
  ComparedFinding compared = finding_of(capacity, low, high, "bytes");
  compared.finding.name = "capacity";
  compared.finding.level = 1;
  compared.finding.better = Better::more;
  compared.step = std::log(1.03);
  result.findings.push_back(std::move(compared));
  return result;
}

Verdict looked_at(const ComparedResult& a, const ComparedResult& b) {
  Judgement judged = judge(a.findings[0], b.findings[0], threshold);
  look_at_curves(a, b, a.findings[0], b.findings[0], judged);
  return judged.verdict;
}

}  // namespace

TEST_CASE("brackets that touch are told apart where the curves between them are") {
  const ComparedResult small = run_of(2000, 1950, 2300, 1.4);
  CHECK(looked_at(small, run_of(2400, 2300, 2600, 1.4)) == Verdict::better);
  CHECK(looked_at(run_of(2400, 2300, 2600, 1.4), small) == Verdict::worse);
  // A faster device all along, too.
  CHECK(looked_at(small, run_of(2400, 2300, 2600, 1.4, 50e-9)) == Verdict::better);
  // By less than 25 %, by brackets that overlap, and by values of about one grid step: no.
  CHECK(looked_at(small, run_of(2400, 2300, 2600, 1.24)) == Verdict::better);
  CHECK(looked_at(run_of(2000, 1950, 2300, 1.24), run_of(2400, 2300, 2600, 1.4)) ==
        Verdict::unclear);
  // A level that slopes: the smaller one's loads are slower than at its own foot, but near the
  // other's.
  const auto sloping = [](double until) {
    ComparedResult run = run_of(2400, 2300, 2600, 1.4);
    for (ComparedPoint& point : run.curves[0].points) {
      if (point.size > 1950) point.value = until;
    }
    return run;
  };
  CHECK(looked_at(small, sloping(115e-9)) == Verdict::unclear);
  CHECK(looked_at(small, sloping(111e-9)) == Verdict::better);
  CHECK(looked_at(small, run_of(2400, 2200, 2600, 1.4)) == Verdict::unclear);
  CHECK(looked_at(run_of(2000, 1950, 2050, 1.4), run_of(2100, 2040, 2600, 1.4)) == Verdict::same);
}

TEST_CASE("what curves tell of a virtual machine's caches takes several runs a side") {
  const auto worse = [](bool is_virtual, std::size_t degrees) {
    ComparedResult before = run_of(2400, 2300, 2600, 1.4);
    ComparedResult after = run_of(2000, 1950, 2300, 1.4);
    for (ComparedResult* const each : {&before, &after}) {
      each->findings[0].is_of_virtual_cpu = is_virtual;
      each->findings[0].degrees = degrees;
    }
    const std::array runs{RunDigest{.file = "a", .device = "Made", .results = {before}},
                          RunDigest{.file = "b", .device = "Made", .results = {after}}};
    return compare(runs, 0, threshold).counts[1].worse;
  };
  CHECK(worse(false, normal_degrees) == 1);
  CHECK(worse(true, normal_degrees) == 0);
  CHECK(worse(true, 4) == 1);
}

TEST_CASE("curves that cross between two capacities do not tell them apart") {
  const ComparedResult small = run_of(2000, 1950, 2300, 1.4);
  // Six sizes lie between, which this changes in turn.
  const auto crossing = [](double first, double second) {
    ComparedResult run = run_of(2400, 2300, 2600, 1.4);
    std::size_t place = 0;
    for (ComparedPoint& point : run.curves[0].points) {
      if (point.size <= 2000 || point.size >= 2400) continue;
      point.value *= ++place % 2 == 0 ? first : second;
    }
    return run;
  };
  CHECK(looked_at(small, crossing(0.8, 1.1)) == Verdict::better);
  CHECK(looked_at(small, crossing(0.5, 1.1)) == Verdict::better);
  // On average further apart than 25 %, but so scattered that it may be nothing.
  CHECK(looked_at(small, crossing(0.3, 2.0)) == Verdict::unclear);
  // At the feet a single point that was disturbed says nothing of the level.
  ComparedResult disturbed = run_of(2400, 2300, 2600, 1.4);
  for (ComparedPoint& point : disturbed.curves[0].points) {
    if (point.size > 1850) point.value *= point.size < 1950 ? 3.0 : 1.15;
  }
  CHECK(looked_at(disturbed, small) == Verdict::unclear);
}

}  // namespace clprobe
