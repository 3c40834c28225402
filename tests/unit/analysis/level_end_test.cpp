// SPDX-License-Identifier: Apache-2.0
// Where levels end, followed in turns at few sizes.
#include "clprobe/level_end.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "clprobe/paired.hpp"
#include "rounds.hpp"
#include "synthetic_memories.hpp"
#include "turning_host.hpp"

namespace clprobe {
namespace {

constexpr double usual_level = 4.0;
constexpr double usual_next = 15.0;

/// A side: a cache that ends, and what loads take before and behind.
struct Side {
  Cache cache{MissModel::hashed_sets, 256.0 * kibibyte, 0.1, 8};
  double level{usual_level};
  double next{usual_next};

  [[nodiscard]] double time(double bytes) const {
    return level + (next - level) * cache.miss(bytes);
  }
};

using Sides = std::array<Side, 2>;

std::vector<double> grid(double ratio) {
  std::vector<double> sizes;
  for (double bytes = 8.0 * kibibyte; bytes < 8.0 * 1024.0 * kibibyte; bytes *= ratio) {
    sizes.push_back(std::log(bytes));
  }
  return sizes;
}

MissCurve look_at(const Side& side, std::span<const double> sizes, double noise, Random& random) {
  std::vector<CurvePoint> points;
  for (const double size : sizes) {
    const double bytes = std::exp(size);
    points.push_back({bytes, side.time(bytes) * std::exp(noise * random.normal())});
  }
  return {points, side.level, side.next};
}

LevelEnd end_of(const Sides& sides, std::span<const double> sizes, double noise, Random& random) {
  const std::array curves{look_at(sides[0], sizes, noise, random),
                          look_at(sides[1], sizes, noise, random)};
  return {curves, sizes_of_end(curves, sizes)};
}

LevelEnd quiet_end_of(const Sides& sides, std::span<const double> sizes) {
  Random random(1);
  return end_of(sides, sizes, 0.0, random);
}

Sides with_capacities(double factor, Side side = {}) {
  Sides sides{side, side};
  sides[1].cache.capacity_bytes *= factor;
  return sides;
}

std::vector<double> shares_of(const Side& side, const LevelEnd& end) {
  std::vector<double> shares;
  for (const double size : end.sizes()) {
    shares.push_back(missed_share(side.time(std::exp(size)), side.level, side.next));
  }
  return shares;
}

std::optional<EndsApart> compare_quietly(const Sides& sides, const LevelEnd& end) {
  return end.compare(shares_of(sides[0], end), shares_of(sides[1], end));
}

/// What one round of turns on a disturbed host says. Pages lie elsewhere in each round, and with
/// them the end of a cache that is found by physical addresses.
std::optional<EndsApart> take_round(const Sides& sides, const LevelEnd& end, Host& host,
                                    Random& random) {
  constexpr double placed = 0.05;
  Sides now = sides;
  for (Side& side : now) side.cache.capacity_bytes *= std::exp(placed * random.normal());
  const auto times = [&](double a, double b) {
    const RoundRatio found = host.point(std::log(b / a));
    return std::array{a * std::exp(found.baseline), a * std::exp(found.baseline + found.log_ratio)};
  };
  const auto level = times(now[0].level, now[1].level);
  const auto next = times(now[0].next, now[1].next);
  std::array<std::vector<double>, 2> shares;
  for (const double size : end.sizes()) {
    const double bytes = std::exp(size);
    const auto found = times(now[0].time(bytes), now[1].time(bytes));
    for (std::size_t i = 0; i < 2; ++i) {
      shares.at(i).push_back(missed_share(found.at(i), level.at(i), next.at(i)));
    }
  }
  return end.compare(shares[0], shares[1]);
}

constexpr double step = 1.19;

/// What sequences of rounds said, looked at after each.
struct Told {
  int larger{0};  ///< ever beyond the step
  int smaller{0};
  int same{0};  ///< at the end
  int truths_lost{0};
};

Told follow(const Sides& sides, int tries, int max_rounds, double truth) {
  const double bound = std::log(step);
  Told told;
  for (int i = 0; i < tries; ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1000);
    Host host = disturbed_host(static_cast<std::uint64_t>(i));
    const LevelEnd end = end_of(sides, grid(step), 0.03, random);
    std::vector<double> ratios;
    Interval interval;
    bool is_larger = false;
    bool is_smaller = false;
    bool is_lost = false;
    for (int round = 0; round < max_rounds; ++round) {
      const auto found = take_round(sides, end, host, random);
      if (!found) continue;
      ratios.push_back(found->log_ratio);
      interval = anytime_interval(ratios);
      is_larger = is_larger || interval.low > bound;
      is_smaller = is_smaller || interval.high < -bound;
      is_lost = is_lost || interval.low - bound > truth || interval.high + bound < truth;
    }
    told.larger += is_larger ? 1 : 0;
    told.smaller += is_smaller ? 1 : 0;
    told.same += interval.low > -bound && interval.high < bound ? 1 : 0;
    told.truths_lost += is_lost ? 1 : 0;
  }
  return told;
}

}  // namespace

TEST_CASE("ends are as far apart as they are, whatever loads take") {
  const std::vector<double> sizes = grid(1.05);
  for (const MissModel model :
       {MissModel::hashed_sets, MissModel::random_replacement, MissModel::cliff}) {
    for (const double factor : {0.25, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 3.0}) {
      Side side;
      side.cache.model = model;
      const Sides sides = with_capacities(factor, side);
      const LevelEnd end = quiet_end_of(sides, sizes);
      CHECK(end.sizes().size() <= 3);
      CHECK(end.sizes().size() >= 2);
      const auto found = compare_quietly(sides, end);
      CAPTURE(factor);
      CAPTURE(static_cast<int>(model));
      REQUIRE(found);
      CHECK(std::fabs(found->log_ratio - std::log(factor)) < 0.08);
      // The other way round it is the same.
      const auto swapped = compare_quietly({sides[1], sides[0]}, end);
      CHECK(swapped->log_ratio == doctest::Approx(-found->log_ratio).epsilon(1e-6));
      // All takes longer on one side, or the level alone, or the next one alone.
      for (const auto& [level, next] : {std::pair(1.1, 1.1), {1.2, 1.0}, {1.0, 1.2}, {0.8, 1.3}}) {
        Sides slower = sides;
        slower[1].level *= level;
        slower[1].next *= next;
        CHECK(compare_quietly(slower, end)->log_ratio ==
              doctest::Approx(found->log_ratio).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("a sharp end is as far away as it is, within a step and a half of the grid") {
  const std::vector<double> sizes = grid(step);
  Side sharp;
  sharp.cache.model = MissModel::cliff;
  for (double factor = 0.2; factor < 4.0; factor *= 1.07) {
    CAPTURE(factor);
    const Sides sides = with_capacities(factor, sharp);
    const LevelEnd end = quiet_end_of(sides, sizes);
    CHECK(end.resolution() < std::log(step) + std::fabs(std::log(factor)) / 2.0);
    const auto found = compare_quietly(sides, end);
    REQUIRE(found);
    const double bound = std::max(std::log(step), end.resolution());
    CHECK(std::fabs(found->log_ratio - std::log(factor)) < 1.5 * bound);
  }
  // Between two of three sizes that are far apart a narrow rise may be anywhere.
  const LevelEnd far = quiet_end_of(with_capacities(0.25, sharp), sizes);
  CHECK(far.resolution() > 2.0 * std::log(step));
}

TEST_CASE("sizes that show an end are in its rise, or between two ends that are far apart") {
  const std::vector<double> sizes = grid(1.05);
  const Sides alike = with_capacities(1.0);
  const LevelEnd end = quiet_end_of(alike, sizes);
  REQUIRE(end.sizes().size() == 3);
  const std::vector<double> shares = shares_of(alike[0], end);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::fabs(shares[i] - 0.25 * static_cast<double>(i + 1)) < 0.1);
  }
  CHECK(end.resolution() == 0.0);
  const Sides apart = with_capacities(0.1);
  const LevelEnd between = quiet_end_of(apart, sizes);
  REQUIRE(between.sizes().size() == 3);
  for (const double share : shares_of(apart[0], between)) CHECK(share < 0.11);
  for (const double share : shares_of(apart[1], between)) CHECK(share > 0.89);
  CHECK(between.sizes()[1] - between.sizes()[0] > 0.5);
  CHECK(between.sizes()[2] - between.sizes()[1] > 0.5);
  CHECK(compare_quietly(apart, between)->is_bound);
  CHECK_FALSE(compare_quietly(alike, end)->is_bound);
  CHECK(sizes_of_end({MissCurve({}, 1.0, 2.0), MissCurve({}, 1.0, 2.0)}, {}).empty());
}

TEST_CASE("an end beyond all sizes is a bound, and of two beyond the same one nothing is known") {
  const Sides alike = with_capacities(1.0);
  const LevelEnd end = quiet_end_of(alike, grid(1.05));
  const std::vector<double> half{0.25, 0.5, 0.75};
  const std::vector<double> all(3, 1.0);
  const std::vector<double> none(3, 0.0);
  CHECK_FALSE(end.compare(half, half)->is_bound);
  CHECK(end.compare(half, half)->log_ratio == 0.0);
  const auto smaller = end.compare(half, all);
  CHECK(smaller->is_bound);
  CHECK(smaller->log_ratio < -0.1);
  CHECK(end.compare(half, none)->is_bound);
  CHECK(end.compare(half, none)->log_ratio > 0.1);
  CHECK(end.compare(all, none)->log_ratio > end.compare(half, none)->log_ratio + 0.1);
  CHECK_FALSE(end.compare(all, all));
  CHECK_FALSE(end.compare(none, none));
}

TEST_CASE("shares of misses rise with the size, whatever a look saw") {
  const std::vector<CurvePoint> points{{1.0, 10.0}, {2.0, 11.0},  {4.0, 20.0},
                                       {8.0, 15.0}, {16.0, 30.0}, {32.0, 31.0}};
  const MissCurve curve(points, 10.0, 30.0);
  CHECK(curve.at(std::log(0.5)) == doctest::Approx(0.0));
  CHECK(curve.at(std::log(2.0)) == doctest::Approx(0.05));
  CHECK(curve.at(std::log(4.0)) == doctest::Approx(curve.at(std::log(8.0))));
  CHECK(curve.at(std::log(64.0)) == doctest::Approx(1.0));
  CHECK(curve.is_whole());
  // On the flat part between 4 and 8 its middle.
  CHECK(curve.size_of(curve.at(std::log(4.0))) == doctest::Approx(std::log(std::sqrt(32.0))));
  CHECK_FALSE(MissCurve(points, 10.0, 40.0).is_whole());
  CHECK_FALSE(MissCurve(points, 5.0, 31.0).is_whole());
  CHECK_FALSE(MissCurve(points, 30.0, 10.0).is_whole());
  CHECK_FALSE(MissCurve({}, 10.0, 30.0).is_whole());
  CHECK(missed_share(20.0, 10.0, 30.0) == 0.5);
  CHECK(missed_share(5.0, 10.0, 30.0) == 0.0);
  CHECK(missed_share(50.0, 10.0, 30.0) == 1.0);
}

TEST_CASE("what did not change is no change, under bursts and drift, though pages lie elsewhere") {
  const int tries = rounds(100);
  for (const double next : {usual_next, 6.0}) {
    Side side;
    side.next = next;
    for (const auto& [level_factor, next_factor] :
         {std::pair(1.0, 1.0), {1.1, 1.1}, {1.2, 1.0}, {1.0, 1.2}}) {
      Sides sides = with_capacities(1.0, side);
      sides[1].level *= level_factor;
      sides[1].next *= next_factor;
      CAPTURE(sides[1].level);
      CAPTURE(sides[1].next);
      const Told told = follow(sides, tries, 30, 0.0);
      CHECK(told.larger + told.smaller <= tries / 50);
      CHECK(told.same > tries * 2 / 3);
      CHECK(told.truths_lost <= tries / 10);
    }
  }
  Side sharp;
  sharp.cache.model = MissModel::cliff;
  const Told told = follow(with_capacities(1.0, sharp), tries, 30, 0.0);
  CHECK(told.larger + told.smaller <= tries / 50);
  CHECK(told.same > tries * 2 / 3);
}

TEST_CASE("an end that moved by a factor of 1.4 is found within 15 rounds, and on the right side") {
  const int tries = rounds(100);
  for (const double next : {usual_next, 8.0}) {
    for (const MissModel model : {MissModel::hashed_sets, MissModel::cliff}) {
      for (const double factor : {0.5, 1.0 / 1.4, 1.4, 2.0}) {
        CAPTURE(next);
        CAPTURE(static_cast<int>(model));
        CAPTURE(factor);
        Side side;
        side.next = next;
        side.cache.model = model;
        const Told told = follow(with_capacities(factor, side), tries, 15, std::log(factor));
        CHECK((factor > 1.0 ? told.larger : told.smaller) >= tries * 9 / 10);
        CHECK((factor > 1.0 ? told.smaller : told.larger) == 0);
        CHECK(told.same == 0);
        CHECK(told.truths_lost <= tries / 10);
      }
    }
  }
  // Within a step of the grid there is no change.
  const Told within = follow(with_capacities(0.9), tries, 30, std::log(0.9));
  CHECK(within.larger + within.smaller <= tries / 50);
}

}  // namespace clprobe
