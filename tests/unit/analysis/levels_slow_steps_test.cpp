// SPDX-License-Identifier: Apache-2.0
// Slow steps, as between an AMD GPU's cache and its memory: how small they may be, and how noisy
// the curve. Noise only adds, as others do on a device: no point is faster than the truth.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "clprobe/levels.hpp"
#include "random.hpp"
#include "rounds.hpp"

namespace clprobe {
namespace {

constexpr double near_ns = 700.0;
constexpr double fine = 1.09;
constexpr double coarse = 1.19;

struct SlowStep {
  double height{0.14};  ///< as a share of the level before it
  double ratio{fine};   ///< from size to size
  double noise{0.0};    ///< of which half of the points have less than 0.67
};

/// Flat to 32 MiB, and from 256 MiB on: the rise takes three octaves.
std::vector<CurvePoint> curve_of(const SlowStep& step, Random& random) {
  std::vector<CurvePoint> curve;
  for (double size = 1024.0 * 1024.0; size <= 4.2e9; size *= step.ratio) {
    const double octaves = std::clamp(std::log2(size / 33554432.0), 0.0, 3.0);
    const double noise = 1.0 + step.noise * std::abs(random.normal());
    curve.push_back({size, near_ns * (1.0 + step.height * octaves / 3.0) * noise});
  }
  return curve;
}

bool is_found(const SlowStep& step, Random& random) {
  const std::vector<Level> levels = find_levels(curve_of(step, random));
  const auto is_near = [&](const Level& level, double ns) {
    return std::abs(level.latency / ns - 1.0) <= 0.02 + step.noise;
  };
  return levels.size() == 2 && is_near(levels[0], near_ns) &&
         is_near(levels[1], near_ns * (1.0 + step.height));
}

double share_found(const SlowStep& step) {
  const int curves = rounds(400);
  int found = 0;
  for (int i = 0; i < curves; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    if (is_found(step, random)) ++found;
  }
  return static_cast<double>(found) / curves;
}

}  // namespace

TEST_CASE("a slow step of 12 % is found where points are up to 1 % slower than alone") {
  for (const double ratio : {fine, coarse}) {
    for (const double height : {0.12, 0.14, 0.16}) {
      CAPTURE(ratio);
      CAPTURE(height);
      CHECK(share_found({height, ratio, 0.0}) == 1.0);
      CHECK(share_found({height, ratio, 0.005}) == 1.0);
      CHECK(share_found({height, ratio, 0.01}) >= 0.95);
    }
  }
}

TEST_CASE("where points are 2 % slower, slow steps are lost, the small ones first") {
  CHECK(share_found({0.12, fine, 0.02}) >= 0.78);
  CHECK(share_found({0.14, fine, 0.02}) >= 0.95);
  CHECK(share_found({0.16, fine, 0.02}) >= 0.97);
  CHECK(share_found({0.12, coarse, 0.02}) >= 0.42);
  CHECK(share_found({0.14, coarse, 0.02}) >= 0.78);
  CHECK(share_found({0.16, coarse, 0.02}) >= 0.85);
}

TEST_CASE("a slow step of 10 % is none, whatever the noise") {
  for (const double ratio : {fine, coarse}) {
    for (const double noise : {0.0, 0.01, 0.02}) {
      CAPTURE(ratio);
      CAPTURE(noise);
      CHECK(share_found({0.10, ratio, noise}) <= 0.02);
    }
  }
}

}  // namespace clprobe
