// SPDX-License-Identifier: Apache-2.0
// Absorption of noise by kernels that are defined by formulas, so that the answers are known.
#include "probes/stalls/bars.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "random.hpp"

namespace clprobe::stalls {
namespace {

std::vector<NoisePoint> hinge(double absorbed, double slope, double sigma, std::uint64_t seed) {
  NormalNoise noise(seed);
  std::vector<NoisePoint> points;
  for (const double injected : {0.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0}) {
    NoisePoint point;
    point.injected = injected;
    for (int i = 0; i < 15; ++i) {
      point.visits_ns.push_back(
          {1000.0 + slope * std::max(0.0, injected - absorbed) + sigma * noise.next()});
    }
    points.push_back(point);
  }
  return points;
}

Absorption absorbing(double share, double half_width) {
  Absorption absorption;
  absorption.is_found = true;
  absorption.share = share;
  absorption.share_interval = {share - half_width, share + half_width};
  return absorption;
}

}  // namespace

TEST_CASE("what is absorbed is found where the line bends") {
  for (const double absorbed : {0.0, 4.0, 10.0, 30.0}) {
    CAPTURE(absorbed);
    const Absorption exact = find_absorption(hinge(absorbed, 20.0, 0.0, 1));
    CHECK(exact.is_found);
    CHECK(exact.share == doctest::Approx(absorbed * 20.0 / 1000.0));
    const Absorption noisy = find_absorption(hinge(absorbed, 20.0, 10.0, 2));
    CHECK(std::abs(noisy.share - exact.share) < 0.05);
    CHECK(noisy.share_interval.low <= noisy.share);
    CHECK(noisy.share <= noisy.share_interval.high);
  }
}

TEST_CASE("a line that does not bend is all absorbed; one that is not a line is refused") {
  const Absorption flat = find_absorption(hinge(100.0, 20.0, 5.0, 3));
  CHECK_FALSE(flat.is_found);
  CHECK(flat.share == 1.0);
  std::vector<NoisePoint> points = hinge(4.0, 1.0, 0.0, 1);
  points.erase(points.begin());
  CHECK_THROWS_AS(find_absorption(points), AblationError);
  points.front().injected = 0.0;
  CHECK_NOTHROW(find_absorption(points));
  points.back().injected = 0.0;
  CHECK_THROWS_WITH(find_absorption(points), "noise of 0 appears twice");
  points.back().visits_ns.clear();
  CHECK_THROWS_WITH(find_absorption(points), "noise of 0 has no samples");
  points.resize(2);
  CHECK_THROWS_WITH(find_absorption(points),
                    "expected at least three amounts of noise, one of them 0");
}

TEST_CASE("times that agree give shares that agree, also where they bend at no single place") {
  const auto share_of = [](const std::vector<double>& ns) {
    std::vector<NoisePoint> points;
    for (std::size_t i = 0; i < ns.size(); ++i) {
      points.push_back({i == 0 ? 0.0 : std::exp2(static_cast<double>(i - 1)), {{ns[i], ns[i]}}});
    }
    return find_absorption(points).share;
  };
  // Two runs of one kernel on an NVIDIA H200: groups meet at barriers, and the noise is loads from
  // main memory. From the fitted bend and slope, the shares would be 0.764 and 0.842, which differ
  // by more than 0.03.
  const double one = share_of({1494.7, 1575.4, 1587.0, 2215.0, 4099.6, 7898.1});
  const double other = share_of({1489.2, 1569.6, 1586.1, 2181.7, 4086.0, 7868.0});
  CHECK(std::abs(one - other) < 0.03);
  CHECK(one == doctest::Approx(0.8).epsilon(0.05));
  CHECK(share_of({0.0, 10.0, 20.0}) == 0.0);
}

TEST_CASE("little absorbed proves something only where enough noise was made, in proportion") {
  const auto absorb = [](const std::vector<std::pair<double, double>>& times) {
    std::vector<NoisePoint> points;
    for (const auto& [injected, ns] : times) points.push_back({injected, {{ns, ns, ns}}});
    return find_absorption(points);
  };
  // The kernel always uses the resource of the noise.
  const Absorption busy =
      absorb({{0, 1000}, {1, 1300}, {2, 1600}, {4, 2200}, {8, 3400}, {16, 5800}});
  CHECK(busy.share < 0.1);
  CHECK(busy.is_decisive);
  // The kernel loads from main memory, and the noise is loads that hit the cache (measured on an
  // H200). The time rises from the first amount on, but does not double, so the noise is not
  // decisive.
  const Absorption too_little =
      absorb({{0, 1282.4}, {1, 1351.6}, {2, 1425.9}, {4, 1578.7}, {8, 1930.9}});
  CHECK(too_little.share < 0.1);
  CHECK_FALSE(too_little.is_decisive);
  // The first amount of noise delays the kernel, and further amounts cost little more.
  const Absorption step =
      absorb({{0, 1000}, {1, 2600}, {2, 2610}, {4, 2670}, {8, 2710}, {16, 3900}});
  CHECK_FALSE(step.is_decisive);
  // Noise that the kernel absorbs up to a bend is not decisive either.
  CHECK_FALSE(absorb({{0, 1000}, {1, 1000}, {2, 1000}, {4, 2000}, {8, 4000}}).is_decisive);
  const auto verdict = [&](const Absorption& cache) {
    const std::vector<NoiseKind> noise{{Resource::cache, cache},
                                       {Resource::memory, absorbing(0.6, 0.01)}};
    return compare_with_noise(Resource::memory, noise).verdict;
  };
  CHECK(verdict(busy) == NoiseVerdict::inconclusive);
  CHECK(verdict(too_little) == NoiseVerdict::unknown);
  CHECK(verdict(step) == NoiseVerdict::unknown);
}

TEST_CASE("noise speaks against a first factor only where another resource is saturated") {
  const auto verdict = [](Resource first, const std::vector<NoiseKind>& noise) {
    return compare_with_noise(first, noise).verdict;
  };
  const NoiseKind fma_free{Resource::arithmetic, absorbing(0.9, 0.05)};
  const NoiseKind fma_full{Resource::arithmetic, absorbing(0.02, 0.02)};
  const NoiseKind memory_free{Resource::memory, absorbing(0.8, 0.05)};
  const NoiseKind memory_full{Resource::memory, absorbing(0.01, 0.02)};
  // Memory is the first cause: bound by bandwidth in the first check, by latency in the second.
  CHECK(verdict(Resource::memory, {fma_free, memory_full}) == NoiseVerdict::agree);
  CHECK(verdict(Resource::memory, {fma_free, memory_free}) == NoiseVerdict::agree);
  CHECK(verdict(Resource::waiting, {fma_free, memory_free}) == NoiseVerdict::agree);
  // The busy resource differs from the resource of the first cause. First, the arithmetic units are
  // busy, but memory is the first cause. Then, memory is busy, but a barrier is the first cause.
  CHECK(verdict(Resource::memory, {fma_full, memory_free}) == NoiseVerdict::inconclusive);
  CHECK(verdict(Resource::waiting, {fma_free, memory_full}) == NoiseVerdict::inconclusive);
  // If memory and arithmetic units are busy, noise cannot show which resource is the cause.
  CHECK(verdict(Resource::memory, {fma_full, memory_full}) == NoiseVerdict::agree);
  CHECK(verdict(Resource::memory, {fma_free}) == NoiseVerdict::unknown);
  CHECK(verdict(Resource::memory, {fma_full}) == NoiseVerdict::inconclusive);
  CHECK(verdict(Resource::memory, {}) == NoiseVerdict::unknown);
}

TEST_CASE("noise confirms a first cause only where no other resource may be busy") {
  const NoiseKind cache_wide{Resource::cache, absorbing(0.0, 0.26)};
  const NoiseKind memory_free{Resource::memory, absorbing(0.5, 0.26)};
  const auto of = [](const std::vector<NoiseKind>& noise) {
    return compare_with_noise(Resource::waiting, noise).verdict;
  };
  CHECK(of({cache_wide}) == NoiseVerdict::unknown);
  CHECK(of({cache_wide, memory_free}) == NoiseVerdict::unknown);
  CHECK(of({memory_free}) == NoiseVerdict::agree);
}

}  // namespace clprobe::stalls
