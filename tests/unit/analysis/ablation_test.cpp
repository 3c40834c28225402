// SPDX-License-Identifier: Apache-2.0
// Shapley values and interactions of made-up kernels whose answers are known in closed
// form.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "random.hpp"

namespace clprobe {
namespace {

using Time = std::function<double(std::uint32_t set)>;

std::vector<AblationBuild> builds_of(std::size_t factors, const Time& time, int samples = 1,
                                     double sigma = 0.0, std::uint64_t seed = 1) {
  NormalNoise noise(seed);
  std::vector<AblationBuild> builds;
  for (std::uint32_t set = 0; set < (1U << factors); ++set) {
    AblationBuild build;
    build.idealised = set;
    for (int i = 0; i < samples; ++i) {
      build.visits_ns.push_back({time(set) + sigma * noise.next()});
    }
    builds.push_back(build);
  }
  // Their order is of no meaning.
  std::reverse(builds.begin(), builds.end());
  return builds;
}

bool has(std::uint32_t set, unsigned factor) { return ((set >> factor) & 1U) != 0; }

double sum_of(const std::vector<Cost>& costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0,
                         [](double sum, const Cost& each) { return sum + each.ns; });
}

}  // namespace

TEST_CASE("costs that add up are each their own, and do not interact") {
  const std::vector<double> cost{300.0, 0.0, 70.0, 10.0, 120.0};
  const auto time = [&](std::uint32_t set) {
    double left = 1000.0;
    for (unsigned i = 0; i < 5; ++i) left -= has(set, i) ? cost[i] : 0.0;
    return left;
  };
  const Ablation found = attribute_time(builds_of(5, time), 5);
  CHECK(found.none.ns == 1000.0);
  CHECK(found.all.ns == 500.0);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(found.factors[i].ns == doctest::Approx(cost[i]));
    for (std::size_t j = 0; j < 5; ++j) CHECK(found.interactions[i][j].ns == doctest::Approx(0.0));
  }
}

TEST_CASE("of costs that overlap either is worth nothing alone, and both share") {
  // max(a, b) + rest, with a = b: only without both is there less to do.
  const auto time = [](std::uint32_t set) {
    return 100.0 + std::max(has(set, 0) ? 0.0 : 400.0, has(set, 1) ? 0.0 : 400.0);
  };
  const Ablation found = attribute_time(builds_of(2, time), 2);
  CHECK(found.factors[0].ns == 200.0);
  CHECK(found.factors[1].ns == 200.0);
  CHECK(found.interactions[0][1].ns == 400.0);
  CHECK(found.interactions[1][0].ns == 400.0);
  // Of unequal ones the first is worth the difference more: 100 + (400 - 100) and 100 over 2.
  const auto unequal = [](std::uint32_t set) {
    return 100.0 + std::max(has(set, 0) ? 0.0 : 400.0, has(set, 1) ? 0.0 : 100.0);
  };
  const Ablation other = attribute_time(builds_of(2, unequal), 2);
  CHECK(other.factors[0].ns == 350.0);
  CHECK(other.factors[1].ns == 50.0);
  CHECK(other.interactions[0][1].ns == 100.0);
}

TEST_CASE("of costs in series, either of which takes both away, the interaction is below 0") {
  const auto time = [](std::uint32_t set) { return set == 0 ? 500.0 : 200.0; };
  const Ablation found = attribute_time(builds_of(2, time), 2);
  CHECK(found.factors[0].ns == 150.0);
  CHECK(found.factors[1].ns == 150.0);
  CHECK(found.interactions[0][1].ns == -300.0);
}

TEST_CASE("a product of savings is shared as its closed form says") {
  // T = 1000 a b c with a = 1/2, b = 1/4, c = 1/5 where taken away. The Shapley value of a by the
  // sets of the others: (1 - a) (1/3 + b/6 + c/6 + bc/3).
  const double keep[] = {0.5, 0.25, 0.2};
  const auto time = [&](std::uint32_t set) {
    double left = 1000.0;
    for (unsigned i = 0; i < 3; ++i) left *= has(set, i) ? keep[i] : 1.0;
    return left;
  };
  const Ablation found = attribute_time(builds_of(3, time), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const double b = keep[(i + 1) % 3];
    const double c = keep[(i + 2) % 3];
    const double expected =
        1000.0 * (1.0 - keep[i]) * (1.0 / 3.0 + b / 6.0 + c / 6.0 + b * c / 3.0);
    CHECK(found.factors[i].ns == doctest::Approx(expected));
  }
}

TEST_CASE("of causes that lie behind one another each is what it saves once the nearer ones can") {
  // Loads from main memory: 300 ns to the second cache, 100 from there to the first; others from
  // the second cache to the first 50; and a chain that overlaps with nothing.
  const auto time = [](std::uint32_t set) {
    const double far = has(set, 0) ? (has(set, 1) ? 20.0 : 120.0) : 420.0;
    const double near = has(set, 1) ? 10.0 : 60.0;
    return far + near + (has(set, 2) ? 0.0 : 70.0);
  };
  AblationOptions options;
  options.needs = {0, 1, 0};
  const Ablation found = attribute_time(builds_of(3, time), 3, options);
  CHECK(found.factors[0].ns == doctest::Approx(300.0));
  CHECK(found.factors[1].ns == doctest::Approx(150.0));
  CHECK(found.factors[2].ns == doctest::Approx(70.0));
  CHECK(found.interactions[0][1].ns == 0.0);
  // With main memory gone: the second cache and the chain do not interact.
  CHECK(found.interactions[1][2].ns == doctest::Approx(0.0));
  // What no order meets is neither needed nor looked at.
  std::vector<AblationBuild> builds = builds_of(3, time);
  for (AblationBuild& each : builds) {
    if (has(each.idealised, 1) && !has(each.idealised, 0)) each.visits_ns = {{1e9}};
  }
  CHECK(attribute_time(builds, 3, options).factors[1].ns == doctest::Approx(150.0));
  std::erase_if(builds, [](const AblationBuild& each) {
    return has(each.idealised, 1) && !has(each.idealised, 0);
  });
  REQUIRE(builds.size() == 6);
  CHECK(attribute_time(builds, 3, options).factors[1].ns == doctest::Approx(150.0));
  std::erase_if(builds, [](const AblationBuild& each) { return each.idealised == 3; });
  CHECK_THROWS_WITH(attribute_time(builds, 3, options), "kernel version 3 of 8 is missing");
}

TEST_CASE("the orders that keep to what is needed count, each as much") {
  // c needs a, and d both b and c: a b c d, b a c d and a c b d are all that there are.
  const std::vector<std::uint32_t> needs{0, 0, 0b0001, 0b0110};
  std::vector<double> times(16);
  std::mt19937_64 generator(5);
  for (double& each : times) each = static_cast<double>(generator() % 1000);
  std::vector<double> expected(4, 0.0);
  for (const std::vector<unsigned>& order :
       {std::vector<unsigned>{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}}) {
    std::uint32_t set = 0;
    for (const unsigned each : order) {
      expected[each] += (times[set] - times[set | (1U << each)]) / 3.0;
      set |= 1U << each;
    }
  }
  const std::vector<double> found = shapley_values(times, needs);
  for (std::size_t i = 0; i < 4; ++i) CHECK(found[i] == doctest::Approx(expected[i]));
  CHECK(is_reachable(0b0101, needs));
  CHECK_FALSE(is_reachable(0b0100, needs));
  CHECK_FALSE(is_reachable(0b1101, needs));
}

TEST_CASE("values always add up to what all factors save; one that does nothing is worth nothing") {
  std::mt19937_64 generator(3);
  for (std::size_t factors = 1; factors <= max_factors; ++factors) {
    CAPTURE(factors);
    std::vector<double> times;
    for (std::uint32_t set = 0; set < (1U << factors); ++set) {
      times.push_back(static_cast<double>(generator() % 100000));
    }
    const Ablation found =
        attribute_time(builds_of(factors, [&](auto set) { return times[set]; }), factors);
    CHECK(sum_of(found.factors) == doctest::Approx(times.front() - times.back()));
    // The last factor changes nothing.
    const std::uint32_t last = 1U << (factors - 1);
    const Ablation other =
        attribute_time(builds_of(factors, [&](auto set) { return times[set & ~last]; }), factors);
    CHECK(other.factors.back().ns == doctest::Approx(0.0));
    CHECK_FALSE(other.factors.back().is_resolved);
  }
}

TEST_CASE("factors that change places change values") {
  const auto time = [](std::uint32_t set) {
    return 1000.0 - (has(set, 0) ? 100.0 : 0.0) - (has(set, 1) && has(set, 2) ? 300.0 : 0.0);
  };
  const auto rotated = [&](std::uint32_t set) { return time((set >> 1U) | ((set & 1U) << 2U)); };
  const Ablation a = attribute_time(builds_of(3, time), 3);
  const Ablation b = attribute_time(builds_of(3, rotated), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(a.factors[i].ns == doctest::Approx(b.factors[(i + 1) % 3].ns));
  }
}

TEST_CASE("a cost is resolved if its interval excludes 0, and intervals hold the truth as said") {
  const auto time = [](std::uint32_t set) {
    return 1000.0 - (has(set, 0) ? 200.0 : 0.0) - (has(set, 1) ? 0.5 : 0.0);
  };
  int held = 0;
  int nothing_resolved = 0;
  constexpr int rounds = 100;
  for (int round = 0; round < rounds; ++round) {
    AblationOptions options;
    options.resamples = 200;
    const auto builds = builds_of(2, time, 20, 10.0, static_cast<std::uint64_t>(round) + 1);
    const Ablation found = attribute_time(builds, 2, options);
    CHECK(found.factors[0].is_resolved);
    if (found.factors[1].is_resolved) ++nothing_resolved;
    const Interval& interval = found.factors[0].interval;
    if (interval.low <= 200.0 && 200.0 <= interval.high) ++held;
    for (const Cost& each : found.factors) {
      CHECK(each.is_resolved == (each.interval.low > 0.0 || each.interval.high < 0.0));
    }
    CHECK(interval.low <= found.factors[0].ns);
    CHECK(found.factors[0].ns <= interval.high);
  }
  CHECK(held >= 88);
  CHECK(nothing_resolved <= 12);
}

TEST_CASE("visits that a host disturbed as a whole are no proof, however alike their samples") {
  int held = 0;
  int nothing_resolved = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    NormalNoise noise(static_cast<std::uint64_t>(round) + 1);
    std::vector<AblationBuild> builds;
    for (std::uint32_t set = 0; set < 4; ++set) {
      AblationBuild build{.idealised = set};
      for (int visit = 0; visit < 3; ++visit) {
        const double disturbed = (has(set, 0) ? 800.0 : 1000.0) * (1.0 + 0.05 * noise.next());
        build.visits_ns.emplace_back();
        for (int i = 0; i < 3; ++i) {
          build.visits_ns.back().push_back(disturbed * (1.0 + 0.002 * noise.next()));
        }
      }
      builds.push_back(std::move(build));
    }
    AblationOptions options;
    options.resamples = 200;
    const Ablation found = attribute_time(builds, 2, options);
    if (found.factors[1].is_resolved) ++nothing_resolved;
    const Interval& interval = found.factors[0].interval;
    if (interval.low <= 200.0 && 200.0 <= interval.high) ++held;
  }
  // Nearly 95 %; a bootstrap over their samples holds half as often.
  CHECK(held >= 0.88 * rounds);
  CHECK(nothing_resolved <= 0.12 * rounds);
}

TEST_CASE("what a round has in common is no noise when rounds are told") {
  std::vector<AblationBuild> builds = builds_of(
      1, [](std::uint32_t set) { return has(set, 0) ? 990.0 : 1000.0; }, 20, 0.1);
  NormalNoise drift(9);
  for (std::size_t i = 0; i < 20; ++i) {
    const double common = 100.0 * drift.next();
    for (AblationBuild& each : builds) each.visits_ns[i].front() += common;
  }
  AblationOptions options;
  CHECK_FALSE(attribute_time(builds, 1, options).factors[0].is_resolved);
  options.are_rounds = true;
  const Cost paired = attribute_time(builds, 1, options).factors[0];
  CHECK(paired.is_resolved);
  CHECK(std::abs(paired.ns - 10.0) < 1.0);
}

TEST_CASE("a set of builds that is not one is refused") {
  const auto time = [](std::uint32_t) { return 1.0; };
  CHECK_THROWS_AS(attribute_time(builds_of(6, time), 6), AblationError);
  CHECK_THROWS_AS(attribute_time({}, 0), AblationError);
  std::vector<AblationBuild> builds = builds_of(2, time);
  builds.pop_back();
  CHECK_THROWS_WITH(attribute_time(builds, 2), "kernel version 0 of 4 is missing");
  builds.push_back(builds.front());
  CHECK_THROWS_WITH(attribute_time(builds, 2), "kernel version 3 of 4 appears twice");
  builds.back() = {.idealised = 0};
  CHECK_THROWS_WITH(attribute_time(builds, 2), "kernel version 0 of 4 has no samples");
  builds.back() = {.idealised = 4, .visits_ns = {{1.0}}};
  CHECK_THROWS_WITH(attribute_time(builds, 2), "kernel version 4 of 4 does not exist");
  AblationOptions options;
  options.are_rounds = true;
  builds.back() = {.idealised = 0, .visits_ns = {{1.0}, {2.0}}};
  CHECK_THROWS_WITH(attribute_time(builds, 2, options), "kernel version 1 of 4: expected 2 visits, found 1");
}

}  // namespace clprobe
