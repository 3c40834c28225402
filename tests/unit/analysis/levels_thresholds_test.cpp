// SPDX-License-Identifier: Apache-2.0
// What is a level, and where it ends: pairs of curves on both sides of each threshold. The curves
// are drawn in logarithms, so that slopes and steps are the numbers that the thresholds are about.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "analysis/api/estimate.hpp"

namespace clprobe {
namespace {

constexpr double kib = 1024.0;
constexpr double first_latency = 30.0;

/// How far a piece of a curve goes in ln size, and by how much it rises in ln latency.
struct Piece {
  double span{0.0};
  double rise{0.0};
};

/// From 1 KiB on: where the pieces end in KiB is exp of the sum of their spans.
std::vector<CurvePoint> curve_of(const std::vector<Piece>& pieces, double ratio = 1.04) {
  std::vector<CurvePoint> curve;
  double size = std::log(kib);
  double end = size;
  double height = std::log(first_latency);
  for (const Piece& piece : pieces) {
    const double begin = end;
    end += piece.span;
    for (; size < end; size += std::log(ratio)) {
      const double risen = piece.rise * (size - begin) / piece.span;
      curve.push_back({std::exp(size), std::exp(height + risen)});
    }
    height += piece.rise;
  }
  return curve;
}

std::vector<Level> levels_of(const std::vector<Piece>& pieces, double ratio = 1.04) {
  return find_levels(curve_of(pieces, ratio));
}

constexpr Piece long_flat{4.0, 0.0};
constexpr Piece steep{0.3, 1.2};

/// Where the first level ends, in KiB.
double first_end(const std::vector<Piece>& pieces) {
  const std::vector<Level> levels = levels_of(pieces);
  REQUIRE_FALSE(levels.empty());
  REQUIRE(levels.front().capacity.has_value());
  return levels.front().capacity->bytes / kib;
}

}  // namespace

TEST_CASE("behind the last knee a slope up to 0.13 is a level that creeps, a steeper one is none") {
  CHECK(levels_of({long_flat, steep, {4.0, 4.0 * 0.12}}).size() == 2);
  CHECK(levels_of({long_flat, steep, {4.0, 4.0 * 0.14}}).size() == 1);
}

TEST_CASE("a slope of less than 0.8 in ln size is a plateau up to 0.06, and else a shelf") {
  const auto middle = [](double slope) {
    const auto levels = levels_of({long_flat, steep, {0.7, 0.7 * slope}, steep, long_flat});
    REQUIRE(levels.size() == 3);
    return levels[1];
  };
  CHECK_FALSE(middle(0.05).is_shelf);
  CHECK(middle(0.11).is_shelf);
}

TEST_CASE("a shelf begins a quarter above the level before it; less is the foot of the next knee") {
  const auto levels = [](double rise) {
    return levels_of({long_flat, {0.08, rise}, {0.8, 0.24}, {0.5, 2.0}, long_flat});
  };
  CHECK(levels(0.20).size() == 2);
  REQUIRE(levels(0.25).size() == 3);
  CHECK(levels(0.25)[1].is_shelf);
}

TEST_CASE("before a shelf the curve rises twice as steeply, not behind it alone") {
  const auto levels = [](double slope_before) {
    const double span = 0.3 / slope_before;
    return levels_of({long_flat, {span, 0.3}, {0.6, 0.06}, steep, long_flat}).size();
  };
  CHECK(levels(0.16) == 2);
  CHECK(levels(0.6) == 3);
}

TEST_CASE("levels differ by more than 10 %") {
  CHECK(levels_of({long_flat, {0.2, 0.10}, long_flat}).size() == 1);
  CHECK(levels_of({long_flat, {0.2, 0.11}, long_flat}).size() == 2);
}

TEST_CASE("between two levels the curve rises more steeply than translation creeps") {
  CHECK(levels_of({long_flat, {0.8, 0.3}, long_flat}).size() == 2);  // 0.375 per ln size
  // 0.2, next to a piece that is too narrow to be told from creep.
  CHECK(levels_of({{0.9, 0.0}, {1.5, 0.3}, long_flat}).size() == 1);
}

TEST_CASE("a slow step between two wide plateaus is a step, with a slope on one side creep") {
  CHECK(levels_of({long_flat, {1.5, 0.3}, long_flat}).size() == 2);
  CHECK(levels_of({long_flat, {1.5, 0.15}, long_flat}).size() == 2);  // 16 %
  CHECK(levels_of({long_flat, {1.5, 0.15}, {1.5, 0.09}}).size() == 1);
}

TEST_CASE("a level is at least 16 % wide, however many points are on it") {
  const auto levels = [](double span) {
    return levels_of({long_flat, steep, {span, 0.0}, steep, long_flat}, 1.005);
  };
  CHECK(levels(0.12).size() == 2);
  CHECK(levels(0.20).size() == 3);
}

TEST_CASE("a capacity ends before the foot of the knee, where that costs 5 % of a miss") {
  // A foot 8 % above the level, from 57 to 85 KiB. Of a next level at 5 times the latency that is
  // 2 % of what a miss costs, and the end is where 5 % of the step are: behind the foot.
  const Piece step{0.04, std::log(1.08)};
  const Piece foot{0.4, 0.0};
  const double behind_foot = std::exp(4.0 + 0.04 + 0.4);
  const double far = first_end({long_flat, step, foot, {0.4, std::log(5.0 / 1.08)}, long_flat});
  CHECK(far > behind_foot);
  CHECK(far < 1.1 * behind_foot);
  // Of one at 1.5 times it is 16 %: the end is before the foot.
  const double near = first_end({long_flat, step, foot, {0.4, std::log(1.5 / 1.08)}, long_flat});
  CHECK(near < std::exp(4.0 + 0.04));
  CHECK(near > 0.95 * std::exp(4.0));
}

TEST_CASE("a hit of a creeping level costs what three quarters of its creep cost") {
  // From 30 by 20 % in the logarithm within 4 of ln size, then to 30 e^0.6 = 54.66. A hit costs
  // 30 e^0.15 = 34.86, a miss 19.81 more; 5 % of that on top are 35.85 = 30 e^0.178, which the
  // creep reaches at 4 * 0.178 / 0.2 = 3.56: 35.2 KiB.
  CHECK(first_end({{4.0, 0.2}, {0.6, 0.4}, long_flat}) == doctest::Approx(35.2).epsilon(0.05));
}

TEST_CASE("the upper end of a capacity is where half of the accesses miss") {
  // From 30 to 150 within 0.4 in ln size: half of it, 90, at 0.4 ln 3 / ln 5 = 0.273.
  const auto levels = levels_of({long_flat, {0.4, std::log(5.0)}, long_flat}, 1.01);
  REQUIRE(levels.size() == 2);
  REQUIRE(levels[0].capacity.has_value());
  CHECK(levels[0].capacity->high / kib ==
        doctest::Approx(std::exp(4.273)).epsilon(0.011));  // of one point more
}

TEST_CASE("noise moves the lower end of a capacity away from it") {
  // The same curve with each second point higher by 6 %.
  const std::vector<CurvePoint> calm = curve_of({long_flat, {0.4, std::log(5.0)}, long_flat});
  std::vector<CurvePoint> noisy = calm;
  for (std::size_t i = 0; i < noisy.size(); i += 2) noisy[i].latency *= 1.06;
  const auto share_below = [](const std::vector<CurvePoint>& curve) {
    const std::vector<Level> levels = find_levels(curve);
    REQUIRE(levels.size() == 2);
    REQUIRE(levels[0].capacity.has_value());
    return levels[0].capacity->low / levels[0].capacity->bytes;
  };
  CHECK(share_below(calm) > 0.97);
  CHECK(share_below(noisy) < 0.93);
  CHECK(share_below(noisy) > 0.5);
}

TEST_CASE("sizes are added around a rise of 4 %, and not around one of 3") {
  const auto sizes = [](double rise) {
    return sizes_around_knees(curve_of({long_flat, {0.2, rise}, long_flat}, 1.25), 1.04);
  };
  CHECK(sizes(0.03).empty());
  CHECK_FALSE(sizes(0.06).empty());
}

TEST_CASE("two points are a level where they are an octave apart and equal, not on a slope") {
  // Coarse curves, as other tools write them: a point for each doubling.
  const std::vector<CurvePoint> stairs{{1 * kib, 10.0},   {2 * kib, 10.0},    {4 * kib, 10.0},
                                       {8 * kib, 10.0},   {16 * kib, 40.0},   {32 * kib, 40.4},
                                       {64 * kib, 160.0}, {128 * kib, 160.0}, {256 * kib, 160.0}};
  std::vector<CurvePoint> slope = stairs;
  slope[5].latency = 50.0;
  CHECK(find_levels(stairs).size() == 3);
  CHECK(find_levels(slope).size() == 2);
}

}  // namespace clprobe
