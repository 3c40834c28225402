// SPDX-License-Identifier: Apache-2.0
// Slow steps, as between an AMD GPU's cache and its memory: how small they may be, and how noisy
// the curve. Noise only adds, as others do on a device: no point is faster than the truth. And slow
// rises of a bandwidth, and single points, which make no level.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/api/estimate.hpp"
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

namespace {

/// What all units of an H200 read: KiB of the set, and GB/s. Between 480 KiB and 8 MiB the curve
/// only falls, to what the L2 gives.
constexpr double measured[][2]{
    {32, 32658},    {64, 32698},    {96, 32715},    {128, 32673},   {160, 32651},   {192, 32645},
    {224, 32044},   {256, 27645},   {288, 28875},   {320, 29342},   {352, 27275},   {416, 16709},
    {480, 14928},   {512, 14703},   {544, 14999},   {608, 14824},   {704, 14615},   {832, 14414},
    {992, 13914},   {1216, 13738},  {1440, 13395},  {1536, 13426},  {1696, 13302},  {1824, 13439},
    {2016, 12731},  {2208, 12982},  {2432, 11813},  {2624, 12254},  {2880, 11746},  {3136, 11949},
    {3424, 11378},  {3712, 11407},  {4064, 10726},  {4416, 10761},  {4864, 10523},  {5248, 9915},
    {5760, 9927},   {6272, 9840},   {6848, 9701},   {8128, 9342},   {9728, 9445},   {11584, 9212},
    {13760, 9088},  {16320, 9090},  {19456, 9105},  {23168, 9097},  {27520, 9093},  {32704, 9078},
    {38912, 9052},  {46336, 8945},  {50496, 8858},  {55104, 8575},  {60032, 8292},  {65472, 7502},
    {71360, 7270},  {77888, 6521},  {84928, 6224},  {92672, 6051},  {101056, 5747}, {110208, 5393},
    {120128, 5299}, {131008, 5102}, {142848, 4941}, {155840, 4880}, {185344, 4778}, {220416, 4687},
    {262080, 4669}, {311680, 4633}, {370688, 4622}, {440832, 4639}, {524224, 4620}, {623424, 4632},
    {741440, 4625}, {881728, 4623}, {1048512, 4639}};

std::vector<CurvePoint> read_curve() {
  std::vector<CurvePoint> curve;
  for (const auto& [kib, rate] : measured) curve.push_back({1024.0 * kib, 1.0 / rate});
  return curve;
}

std::vector<double> rates_of(const std::vector<Level>& levels) {
  std::vector<double> rates;
  for (const Level& level : levels) rates.push_back(1.0 / level.latency);
  return rates;
}

/// Whether a level lies on the slope.
bool has_slope(const std::vector<double>& rates) {
  return std::any_of(rates.begin(), rates.end(),
                     [](double rate) { return rate > 10'200.0 && rate < 27'000.0; });
}

/// Caches of 64 KiB and 4 MiB, and memory.
std::vector<CurvePoint> two_caches() {
  std::vector<CurvePoint> curve;
  for (double size = 4096.0; size < 1e9; size *= 1.1) {
    curve.push_back({size, size < 65536.0 ? 5.0 : size < 4'194'304.0 ? 20.0 : 100.0});
  }
  return curve;
}

void check_two_caches(const std::vector<CurvePoint>& curve) {
  const std::vector<Level> levels = find_rate_levels(curve);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].latency == doctest::Approx(5.0));
  CHECK(levels[1].latency == doctest::Approx(20.0));
  CHECK(levels[2].latency == doctest::Approx(100.0));
  CHECK_FALSE(faster_than_first(curve, levels));
}

}  // namespace

TEST_CASE("a bandwidth that only falls makes no level, and hides none") {
  const std::vector<Level> levels = find_rate_levels(read_curve());
  REQUIRE(levels.size() == 3);
  CHECK(1.0 / levels[0].latency == doctest::Approx(32'660.0).epsilon(0.01));
  CHECK(1.0 / levels[1].latency == doctest::Approx(9'090.0).epsilon(0.01));
  CHECK(1.0 / levels[2].latency == doctest::Approx(4'633.0).epsilon(0.01));
  CHECK(levels[1].capacity->bytes == doctest::Approx(53.5 * 1024 * 1024).epsilon(0.05));
  // As a latency it would be one level that creeps.
  CHECK(has_slope(rates_of(find_levels(read_curve()))));
  Random random(47);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    for (const std::ptrdiff_t first : {0, 12, 16}) {  // also where sizes begin on the slope
      std::vector<CurvePoint> noisy = read_curve();
      noisy.erase(noisy.begin(), noisy.begin() + first);
      for (CurvePoint& each : noisy) each.latency *= random.uniform(1.0, 1.02);
      const std::vector<double> rates = rates_of(find_rate_levels(noisy));
      CHECK_FALSE(has_slope(rates));
      // Sets of 256 to 320 KiB, a little too large for the first level, may look like one more.
      const auto is_level = [](double rate) { return rate < 27'000.0 || rate > 30'000.0; };
      CHECK(std::count_if(rates.begin(), rates.end(), is_level) == (first == 0 ? 3 : 2));
    }
  }
}

TEST_CASE("one point that is faster or slower than its neighbours makes no level and takes none") {
  const std::vector<CurvePoint> curve = two_caches();
  check_two_caches(curve);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    CAPTURE(i);
    for (const double factor : {0.1, 0.5, 0.8, 1.3, 3.0}) {
      if (factor > 1.0 && i + 1 == curve.size()) continue;  // there it may be the next level
      CAPTURE(factor);
      std::vector<CurvePoint> with = curve;
      with[i].latency *= factor;
      if (factor >= 0.5) CHECK_FALSE(faster_than_first(with, find_levels(with)));
      check_two_caches(with);
    }
  }
}

TEST_CASE("the smallest size, or two neighbours, that are faster are a level that was lost") {
  std::vector<CurvePoint> curve = two_caches();
  const std::vector<Level> levels = find_levels(curve);
  curve[5].latency = 2.0;
  CHECK_FALSE(faster_than_first(curve, levels));
  curve[6].latency = 2.0;
  CHECK(faster_than_first(curve, levels).value().working_set_bytes ==
        std::round(curve[5].working_set_bytes));
  curve[0].latency = 2.0;
  CHECK(faster_than_first(curve, levels).value().working_set_bytes == doctest::Approx(4096.0));
}

}  // namespace clprobe
