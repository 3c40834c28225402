// SPDX-License-Identifier: Apache-2.0
// Several runs as one side of a comparison.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"
#include "compare/comparing.hpp"
#include "random.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;
constexpr double z = 1.959963985;

std::vector<double> half_widths(std::vector<double> errors) {
  for (double& each : errors) each *= z;
  return errors;
}

}  // namespace

// The 13 trials of BCG vaccine (Colditz et al. 1994, metafor's dat.bcg), logarithms of the risk
// ratios: metafor's page gives for method="DL" tau^2 0.3088, estimate -0.7141. All digits are those
// of the formulas of DerSimonian and Laird and of Hartung and Knapp in a script of 15 lines
// (Python): 0.30876026, -0.71411722, standard error 0.18069663; t of 12 degrees is 2.1788128.
TEST_CASE("random effects are those of metafor on the trials of BCG vaccine") {
  const std::vector<double> values{-0.889311, -1.585389, -1.348073, -1.441551, -0.217547,
                                   -0.786116, -1.620898, 0.011952,  -0.469418, -1.371345,
                                   -0.339359, 0.445913,  -0.017314};
  const std::vector<double> errors =
      half_widths({0.5706, 0.441114, 0.64449, 0.141457, 0.226297, 0.0831, 0.472247, 0.062941,
                   0.237559, 0.270231, 0.11141, 0.72973, 0.267217});
  const PooledMean pooled = pool_means(values, errors);
  CHECK(pooled.between == doctest::Approx(0.30876026).epsilon(1e-4));
  CHECK(pooled.mean == doctest::Approx(-0.71411722).epsilon(1e-4));
  CHECK(pooled.half_width == doctest::Approx(2.1788128 * 0.18069663).epsilon(1e-4));
  CHECK(pooled.degrees == 12);
}

TEST_CASE("runs that agree better than their errors do not narrow the interval") {
  const std::vector<double> values{0.10, 0.11, 0.12};
  const PooledMean pooled = pool_means(values, half_widths({0.05, 0.06, 0.1}));
  CHECK(pooled.between == 0.0);
  // 1 / sqrt(1 / 0.05^2 + 1 / 0.06^2 + 1 / 0.1^2) = 0.0358569, times t of 2 degrees.
  CHECK(pooled.half_width == doctest::Approx(4.3026527 * 0.0358569).epsilon(1e-5));
  CHECK_THROWS_AS(pool_means(std::vector{1.0}, std::vector{1.0}), std::invalid_argument);
}

TEST_CASE(
    "the interval of a mean holds the truth in 95 of 100 cases, whatever the runs differ by") {
  Random random(11);
  for (const double between : {0.0, 0.02, 0.1}) {
    for (const std::size_t runs : {2U, 3U, 5U, 10U}) {
      CAPTURE(between);
      CAPTURE(runs);
      int inside = 0;
      constexpr int rounds = 2000;
      for (int round = 0; round < rounds; ++round) {
        std::vector<double> values;
        std::vector<double> errors;
        for (std::size_t run = 0; run < runs; ++run) {
          errors.push_back(random.uniform(0.005, 0.02));
          values.push_back(1.0 + between * random.normal() + errors.back() * random.normal());
        }
        const PooledMean pooled = pool_means(values, half_widths(errors));
        inside += std::fabs(pooled.mean - 1.0) <= pooled.half_width ? 1 : 0;
      }
      CHECK(inside >= 0.93 * rounds);
    }
  }
}

namespace {

ComparedFinding finding_of(std::string_view name, double value, std::string_view unit,
                           double aside = 0.001) {
  Finding finding{.name = std::string(name), .series = "all", .level = 1};
  finding.unit = unit;
  finding.value = value;
  finding.low = value * (1.0 - aside);
  finding.high = value * (1.0 + aside);
  finding.better = usual_direction(unit);
  return {finding};
}

RunDigest run_of(std::vector<ComparedFinding> findings) {
  ComparedResult result{.probe = "made", .findings = std::move(findings)};
  return {.file = "a.json", .device = "Made", .results = {std::move(result)}};
}

Finding pooled_finding(const RunDigest& side) { return side.results.at(0).findings.at(0).finding; }

/// Runs whose one time scatters by so much beyond its own interval.
std::vector<RunDigest> noisy_runs(std::size_t count, double time, double noise, Random& random) {
  std::vector<RunDigest> runs;
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back(
        run_of({finding_of("latency", time * std::exp(noise * random.normal()), "seconds")}));
  }
  return runs;
}

}  // namespace

// By hand: (a + b)^2 / (a^2 / 2 + b^2 / 4) of variances a = 0.01^2 and b = 0.02^2 is 5.6, of
// 0.012^2 with the normal distribution and 0.01^2 with 2 degrees 11.9; Student's t by tables.
TEST_CASE("the error of a difference has the degrees of Welch and Satterthwaite") {
  const auto place = [](double error, double t, std::size_t degrees) {
    return Position{
        .below = error * t, .above = error * t, .has_interval = true, .degrees = degrees};
  };
  const Position few = place(0.01, 4.302653, 2);
  const Position more = place(0.02, 2.776445, 4);
  const Position single = place(0.012, 1.959964, normal_degrees);
  const auto half_width = [](const Position& from, const Position& to) {
    return difference(from, to).interval.high;
  };
  CHECK(difference(few, more).degrees == 5);
  CHECK(half_width(few, more) == doctest::Approx(2.570582 * std::sqrt(5e-4)).epsilon(0.002));
  CHECK(difference(single, few).degrees == 11);
  CHECK(half_width(single, few) == doctest::Approx(2.200985 * std::sqrt(2.44e-4)).epsilon(0.002));
  CHECK(difference(few, few).degrees == 4);
  CHECK(difference(single, single).degrees == normal_degrees);
  CHECK(half_width(single, single) ==
        doctest::Approx(1.959964 * std::sqrt(2.88e-4)).epsilon(0.002));
  // Of an end that is open nobody knows a share.
  CHECK(difference(few, place(HUGE_VAL, 1.0, 4)).degrees == 2);
}

TEST_CASE("three runs a side that are twice as slow are found among hundreds of findings") {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0.0, 0.02);
  const auto side = [&](double factor, std::size_t changed) {
    std::vector<RunDigest> runs;
    for (int run = 0; run < 3; ++run) {
      ComparedResult result{.probe = "latency"};
      for (std::size_t i = 0; i < 300; ++i) {
        const double value = (i < changed ? factor : 1.0) * std::exp(noise(random)) * 1e-6;
        Finding finding{.name = "latency", .series = "s" + std::to_string(i), .unit = "seconds"};
        finding.value = value;
        finding.low = value * 0.999;
        finding.high = value * 1.001;
        finding.better = Better::less;
        result.findings.push_back({finding});
      }
      runs.push_back({.file = "a.json", .device = "Made", .results = {std::move(result)}});
    }
    return pool(runs);
  };
  const auto sure = [&](double factor, std::size_t changed) {
    const std::array sides{side(1.0, 0), side(factor, changed)};
    return find_sure_changes(compare(sides, 0, 0.03)).size();
  };
  CHECK(sure(1.0, 0) == 0);
  CHECK(sure(2.0, 1) == 1);
  CHECK(sure(1.15, 300) >= 270);
}

TEST_CASE("one run a side is that run; of no runs there is no side") {
  const std::vector runs{run_of({finding_of("latency", 1e-7, "seconds")})};
  const RunDigest side = pool(runs);
  CHECK(side.runs == 1);
  CHECK(pooled_finding(side) == runs[0].results[0].findings[0].finding);
  CHECK_THROWS_AS(pool({}), std::invalid_argument);
}

TEST_CASE("what differs from run to run is in the interval, so that noise is no change") {
  Random random(5);
  int changes_of_single = 0;
  int changes_of_sides = 0;
  int found = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    const auto before = noisy_runs(5, 1e-7, 0.03, random);
    const auto after = noisy_runs(5, 1e-7, 0.03, random);
    const auto slower = noisy_runs(5, 1.2e-7, 0.03, random);
    const auto is_worse = [](const RunDigest& a, const RunDigest& b) {
      return compare(std::array{a, b}, 0, threshold).counts[1].worse == 1;
    };
    changes_of_single += is_worse(before[0], after[0]) ? 1 : 0;
    changes_of_sides += is_worse(pool(before), pool(after)) ? 1 : 0;
    found += is_worse(pool(before), pool(slower)) ? 1 : 0;
  }
  CHECK(changes_of_single > rounds / 10);  // the interval of one run does not hold it
  CHECK(changes_of_sides <= rounds / 40);
  CHECK(found >= rounds * 9 / 10);
}

TEST_CASE(
    "several runs of a virtual machine's CPU tell what one of them does not, sizes among them") {
  for (const std::string_view unit : {"seconds", "bytes"}) {
    CAPTURE(unit);
    const auto runs = [&](double value, std::size_t count) {
      ComparedFinding found = finding_of("latency", value, unit, 0.001);
      found.finding.better = Better::less;
      found.is_of_virtual_cpu = true;
      return pool(std::vector<RunDigest>(count, run_of({found})));
    };
    const auto is_worse = [&](std::size_t count) {
      return compare(std::array{runs(100.0, count), runs(250.0, count)}, 0, threshold)
                 .counts[1]
                 .worse == 1;
    };
    CHECK_FALSE(is_worse(1));
    CHECK(is_worse(5));
  }
}

TEST_CASE("parts are pooled as shares of what they are parts of, those below 0 too") {
  std::vector<RunDigest> runs;
  for (const double share : {-0.02, 0.0, 0.05}) {
    RunDigest run = run_of({finding_of("extra_cost", share * 1e-5, "seconds")});
    ComparedFinding& cost = run.results[0].findings[0];
    cost.finding.low = *cost.finding.value - 0.01e-5;
    cost.finding.high = *cost.finding.value + 0.01e-5;
    cost.whole = 1e-5;
    cost.disturbance = 0.3;  // of so little of the whole that it is nothing
    runs.push_back(std::move(run));
  }
  const RunDigest side = pool(runs);
  const ComparedFinding& cost = side.results.at(0).findings.at(0);
  CHECK(cost.whole == doctest::Approx(1e-5).scale(0));
  CHECK(*cost.finding.value == doctest::Approx(0.01e-5).scale(0).epsilon(0.2));
  // Student's t of two degrees: wider than the runs are apart.
  CHECK(*cost.finding.low < -0.07e-5);
  CHECK(*cost.finding.high > 0.09e-5);
  CHECK(cost.degrees == 2);
  CHECK(cost.disturbance == 0.0);
}

TEST_CASE("what disturbed the runs of a side counts once") {
  std::vector<RunDigest> runs;
  for (int i = 0; i < 3; ++i) {
    RunDigest run = run_of({finding_of("latency", 1e-7, "seconds")});
    run.results[0].findings[0].disturbance = 0.1;
    runs.push_back(std::move(run));
  }
  const RunDigest side = pool(runs);
  const ComparedFinding& latency = side.results.at(0).findings.at(0);
  CHECK(*latency.finding.high > 1.05e-7);
  CHECK(latency.disturbance == 0.0);
}

TEST_CASE("several runs are pooled in cycles, and shown in seconds of their mean clock") {
  std::vector<RunDigest> runs;
  for (const double hertz : {0.9e9, 1.0e9, 1.1e9}) {
    RunDigest run = run_of({finding_of("latency", 100.0 / hertz, "seconds")});
    run.results[0].findings[0].clock = CoreClock{hertz, 0.999 * hertz, 1.001 * hertz};
    ComparedResult clock{.probe = std::string(clock_section)};
    clock.findings.push_back(finding_of("rate", hertz, "hertz"));
    run.results.insert(run.results.begin(), std::move(clock));
    runs.push_back(std::move(run));
  }
  const RunDigest side = pool(runs);
  const ComparedFinding& latency = side.results.at(1).findings.at(0);
  const double rate = *side.results.at(0).findings.at(0).finding.value;
  REQUIRE(latency.clock.has_value());
  CHECK(latency.clock->hertz == rate);
  CHECK(*latency.finding.value * rate == doctest::Approx(100.0));
  // In cycles the three agree to 0.1 %, though the clocks are 10 % apart.
  CHECK(*latency.finding.high / *latency.finding.low < 1.01);
  CHECK(latency.degrees == 2);
}

TEST_CASE("sizes are pooled to their median, and brackets to those that may be its own") {
  const auto side = [](std::size_t count) {
    std::vector<RunDigest> runs;
    for (std::size_t i = 1; i <= count; ++i) {
      runs.push_back(
          run_of({finding_of("capacity", 100.0 * static_cast<double>(i), "bytes", 0.1)}));
    }
    return pooled_finding(pool(runs));
  };
  CHECK(side(5).value == 300.0);
  CHECK(side(5).low == doctest::Approx(90.0));
  CHECK(side(5).high == doctest::Approx(550.0));
  // Of 9 the second smallest to the second largest hold the median with 96 % (binomial tables).
  CHECK(side(9).low == doctest::Approx(180.0));
  CHECK(side(9).high == doctest::Approx(880.0));
  CHECK(side(8).low == doctest::Approx(90.0));
}

TEST_CASE("what half of the runs do not have, the side does not have") {
  std::vector runs(4, run_of({finding_of("latency", 1e-7, "seconds")}));
  for (std::size_t i : {1U, 2U}) {
    runs[i].results[0].findings[0].finding.value.reset();
    runs[i].results[0].findings[0].finding.label = "hidden";
  }
  CHECK_FALSE(pooled_finding(pool(runs)).value.has_value());
  CHECK(pooled_finding(pool(runs)).label.empty());
  runs[1] = runs[0];
  CHECK(pooled_finding(pool(runs)).value.has_value());
  // A check fails closed.
  runs[3].results[0].status = Status::failed;
  runs[3].results[0].reason = "lost";
  CHECK(pool(runs).results[0].status == Status::failed);
  runs[3].results.clear();
  CHECK(pool(runs).results[0].reason == "not measured in a.json");
  runs[2].interrupted = true;
  CHECK(pool(runs).interrupted);
}

TEST_CASE("a level that one of the runs did not find does not shift the others") {
  const auto levels = [](const std::vector<double>& times) {
    std::vector<ComparedFinding> findings;
    for (const double time : times) {
      findings.push_back(finding_of("latency", time, "seconds"));
      findings.back().finding.level = static_cast<int>(findings.size());
    }
    return run_of(std::move(findings));
  };
  const std::vector runs{levels({1, 5, 100}), levels({1, 100}), levels({1.01, 5.05, 101})};
  const RunDigest side = pool(runs);
  REQUIRE(side.results[0].findings.size() == 3);
  CHECK(*side.results[0].findings[1].finding.value == doctest::Approx(5.025).epsilon(0.01));
  CHECK(*side.results[0].findings[2].finding.value == doctest::Approx(100.3).epsilon(0.01));
}

TEST_CASE("points of curves are the medians of the runs") {
  std::vector runs(3, run_of({}));
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].results[0].curves.push_back({.series = "all", .unit = "seconds"});
    runs[i].results[0].curves[0].points = {{"size 1", std::exp2(static_cast<double>(i)), 1.0}};
  }
  runs[0].results[0].curves[0].points.push_back({"size 2", 1.0, 2.0});
  const RunDigest side = pool(runs);
  REQUIRE(side.results[0].curves.at(0).points.size() == 1);
  CHECK(side.results[0].curves[0].points[0].value == 2.0);
}

}  // namespace clprobe
