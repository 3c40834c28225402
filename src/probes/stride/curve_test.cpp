// SPDX-License-Identifier: Apache-2.0
// Curves of bandwidth by stride: a real one, and made ones whose answer is known.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "probes/stride/stride.hpp"

namespace clprobe::stride {
namespace {

/// Returns a curve whose strides double from `first_bytes`. The quartiles differ from the
/// bandwidth by the share `spread`.
std::vector<CurvePoint> curve_of(const std::vector<double>& bandwidths, double first_bytes = 4.0,
                                 double spread = 0.005) {
  std::vector<CurvePoint> points;
  double stride = first_bytes;
  for (const double value : bandwidths) {
    points.push_back({stride, value, value * (1.0 - spread), value * (1.0 + spread)});
    stride *= 2.0;
  }
  return points;
}

/// Bandwidths of a Radeon R9 Nano in GB/s, for 64 Mi ints, 1 Mi work-items and strides of 2^0 to
/// 2^20 elements. Source: the README of clmempatterns (E. Konstantinidis).
const std::vector<double> r9_nano{17.777,  46.266,  70.492,  132.325, 157.876, 332.622, 374.789,
                                  379.795, 370.526, 436.231, 449.315, 474.542, 483.988, 489.281,
                                  494.472, 493.526, 492.802, 491.863, 490.497, 490.425, 442.735};

/// GPU that fetches whole sectors, of which each work-item uses one element. A sub-group has
/// `partial` of the full rate unless its lanes (4 bytes each) access adjacent elements.
struct MadeGpu {
  double sub_group;
  double sector_bytes;
  double partial;

  [[nodiscard]] double share(double stride_bytes) const {
    const double of_sector = std::min(1.0, stride_bytes / sector_bytes);
    return of_sector * (stride_bytes >= 4.0 * sub_group ? 1.0 : partial);
  }
  /// Returns the smallest stride in bytes with full bandwidth.
  [[nodiscard]] double knee_bytes() const { return std::max(sector_bytes, 4.0 * sub_group); }
};

/// Random generator. `on` adds the noise of a launch, 3 %, to a bandwidth.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double on(double value) { return value * (1.0 + 0.03 * normal_(random_)); }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{};
};

std::vector<CurvePoint> made_curve(const MadeGpu& gpu, int vector, Noise& noise) {
  std::vector<double> bandwidths;
  double stride_bytes = 4.0 * vector;
  for (int octave = 0; octave <= 20; ++octave) {
    bandwidths.push_back(noise.on(4e12 * gpu.share(stride_bytes)));
    stride_bytes *= 2.0;
  }
  return curve_of(bandwidths, 4.0 * vector, 0.02);
}

TEST_CASE("the R9 Nano coalesces, with a knee at 4 KiB, a sub-knee at 128 bytes and an end droop") {
  const std::vector<CurvePoint> points = curve_of(r9_nano);
  const CurveVerdict found = judge_curve(points, 64.0);
  CHECK(found.kind == CurveClass::gpu_coalescing);
  CHECK(found.best == doctest::Approx(489.853));
  CHECK(found.best_at == 14);
  REQUIRE(found.knee);
  CHECK(*found.knee == 10);
  REQUIRE(found.sub_knee);
  CHECK(*found.sub_knee == 5);
  REQUIRE(found.sector);
  CHECK(points[*found.sector].stride_bytes == 32.0);
  REQUIRE(found.sub_group);
  CHECK(points[*found.sub_group].stride_bytes == 128.0);
  CHECK(found.has_end_droop);
  CHECK(found.last_share == doctest::Approx(0.9038).epsilon(0.001));
  CHECK(found.dips.empty());
}

TEST_CASE("made GPUs: class, knee, sector and sub-group for every vector, under noise of 3 %") {
  int judged = 0;
  int wrong_knees = 0;
  int wrong_sectors = 0;
  int wrong_sub_groups = 0;
  int wrong_droops = 0;
  int wrong_dips = 0;
  for (const double sub_group : {16.0, 32.0, 64.0}) {
    for (const double sector : {32.0, 64.0, 128.0}) {
      for (const int vector : {1, 2, 4}) {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
          Noise noise(1000 * seed + static_cast<std::uint64_t>(sub_group * sector) +
                      static_cast<std::uint64_t>(vector));
          const MadeGpu gpu{sub_group, sector, noise.between(0.68, 0.76)};
          const std::vector<CurvePoint> points = made_curve(gpu, vector, noise);
          const CurveVerdict found = judge_curve(points, sub_group);
          CAPTURE(sub_group);
          CAPTURE(sector);
          CAPTURE(vector);
          CAPTURE(seed);
          CHECK(found.kind == CurveClass::gpu_coalescing);
          REQUIRE(found.knee);
          if (!found.sector) CHECK(found.no_sector_reason.starts_with("not visible"));
          // In bytes, the knee is the same for each vector size. In elements the knee moves left
          // by log2(vector).
          const auto is_at = [&](const std::optional<std::size_t>& place, double stride_bytes) {
            return place && points[*place].stride_bytes == stride_bytes;
          };
          ++judged;
          if (!is_at(found.knee, gpu.knee_bytes())) ++wrong_knees;
          if (!is_at(found.sector, sector)) ++wrong_sectors;
          const double lanes_bytes = 4.0 * sub_group;
          if (lanes_bytes > sector && !is_at(found.sub_group, lanes_bytes)) ++wrong_sub_groups;
          if (found.has_end_droop) ++wrong_droops;
          if (!found.dips.empty()) ++wrong_dips;
        }
      }
    }
  }
  CHECK(judged == 810);
  // The class must always be right. Noise moves at most 1 % of the knees, sectors and sub-groups
  // by one doubling.
  const int few = judged / 100;
  CHECK(wrong_knees <= few);
  CHECK(wrong_sectors <= few);
  CHECK(wrong_sub_groups <= few);
  CHECK(wrong_droops <= few);
  CHECK(wrong_dips <= few);
  MESSAGE("of ", judged, ": ", wrong_knees, " knees, ", wrong_sectors, " sectors, ",
          wrong_sub_groups, " sub-groups, ", wrong_droops, " droops, ", wrong_dips, " dips");
}

TEST_CASE("growth that caches end is no sector; a leap is none of several doublings") {
  // Shares of the best bandwidth on an NVIDIA H200: reads of int, then copies of int4.
  const CurveVerdict reads =
      judge_curve(curve_of({0.22, 0.44, 0.68, 0.85, 0.95, 0.99, 0.97, 0.98, 0.99, 1.0}), 32);
  CHECK(reads.kind == CurveClass::gpu_coalescing);
  CHECK_FALSE(reads.sector.has_value());
  CHECK(reads.no_sector_reason.find("caches") != std::string::npos);
  const auto copy_points =
      curve_of({0.15, 0.63, 0.81, 0.91, 0.98, 0.98, 0.98, 0.98, 0.97, 0.99, 1.0}, 16.0);
  const CurveVerdict copies = judge_curve(copy_points, 32);
  REQUIRE(copies.sector);
  CHECK(copy_points[*copies.sector].stride_bytes == 32.0);
}

TEST_CASE("reads that caches help coalesce as well, and show neither sector nor sub-group") {
  // Shares of the best bandwidth: two curves of an NVIDIA H100 and one of an H200. The first
  // number is the size of a vector in bytes.
  const std::vector<std::pair<double, std::vector<double>>> curves{
      {4.0, {0.33, 0.66, 0.73, 0.87, 0.96, 1.0, 0.97, 0.98, 0.98, 0.97, 0.97, 0.98}},
      {16.0, {0.63, 0.86, 0.93, 0.96, 0.97, 0.97, 0.98, 0.99, 0.99, 0.99, 1.0, 0.99}},
      {16.0, {0.55, 0.79, 0.94, 0.98, 0.99, 0.97, 0.99, 0.98, 1.0, 1.0, 1.0, 1.0}}};
  for (const auto& [bytes, shares] : curves) {
    const std::vector<CurvePoint> points = curve_of(shares, bytes);
    const CurveVerdict found = judge_curve(points, 32.0);
    CHECK(found.kind == CurveClass::gpu_coalescing);
    REQUIRE(found.knee);
    CHECK(points[*found.knee].stride_bytes == 64.0);
    CHECK_FALSE(found.sector.has_value());
    CHECK_FALSE(found.sub_group.has_value());
  }
}

TEST_CASE("a sub-group no wider than a sector is not visible, and is said to be so") {
  const MadeGpu gpu{16.0, 128.0, 1.0};
  std::vector<double> bandwidths;
  for (double stride = 4.0; stride < 1e6; stride *= 2.0) bandwidths.push_back(gpu.share(stride));
  const CurveVerdict found = judge_curve(curve_of(bandwidths), 16.0);
  CHECK(found.kind == CurveClass::gpu_coalescing);
  CHECK_FALSE(found.sub_group.has_value());
  CHECK(found.no_sub_group_reason.starts_with("not visible"));
}

TEST_CASE("a CPU wants runs; a curve without slopes is flat") {
  const CurveVerdict cpu = judge_curve(
      curve_of({9.9, 10.0, 9.8, 9.6, 9.0, 7.0, 5.0, 4.0, 2.0, 1.0, 0.5, 0.5, 0.4}), 1.0);
  CHECK(cpu.kind == CurveClass::cpu_serial);
  CHECK_FALSE(cpu.sector.has_value());
  CHECK_FALSE(cpu.sub_group.has_value());
  const CurveVerdict flat = judge_curve(curve_of({10.0, 9.9, 10.1, 9.7, 10.0, 9.8, 9.9}), 32.0);
  CHECK(flat.kind == CurveClass::flat);
  CHECK_FALSE(flat.has_end_droop);
}

TEST_CASE("what is neither is unclear, with a reason") {
  for (const std::vector<double>& bandwidths : std::vector<std::vector<double>>{
           {7.5, 8.0, 9.0, 10.0, 10.0, 10.0, 10.0},                   // slightly slow at the start
           {1.0, 2.0, 4.0, 10.0, 10.0, 4.0, 2.0, 1.0, 1.0, 1.0},      // no plateau
           {10.0, 10.0, 5.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0}}) {  // only one stride is slow
    const CurveVerdict found = judge_curve(curve_of(bandwidths), 32.0);
    CHECK(found.kind == CurveClass::unclear);
    CHECK_FALSE(found.unclear_reason.empty());
    CHECK_FALSE(found.sector.has_value());
  }
  // A knee at a stride much larger than a sub-group has another cause than the sub-group.
  std::vector<double> late(20, 1.0);
  std::fill(late.begin() + 14, late.end(), 10.0);
  CHECK(judge_curve(curve_of(late), 32.0).kind == CurveClass::unclear);
}

TEST_CASE("too few strides and gaps are said") {
  CHECK(judge_curve({}, 32.0).kind == CurveClass::unclear);
  CHECK(judge_curve(curve_of({1.0, 2.0, 4.0}), 32.0).unclear_reason.find("3 strides") !=
        std::string::npos);
  std::vector<CurvePoint> gap = curve_of(r9_nano);
  gap.erase(gap.begin() + 3);
  CHECK(judge_curve(gap, 64.0).unclear_reason.find("have gaps") != std::string::npos);
}

TEST_CASE("a single slow stride is a dip, unless its samples say that it is noise") {
  std::vector<double> bandwidths(16, 10.0);
  for (std::size_t i = 0; i < 5; ++i) {
    bandwidths[i] = 10.0 / std::pow(2.0, 5.0 - static_cast<double>(i));
  }
  bandwidths[11] = 6.0;
  const std::vector<CurvePoint> points = curve_of(bandwidths);
  const CurveVerdict found = judge_curve(points, 32.0);
  REQUIRE(found.dips.size() == 1);
  CHECK(found.dips.front().stride_bytes == points[11].stride_bytes);
  CHECK(found.dips.front().share == doctest::Approx(0.6));
  std::vector<CurvePoint> wide = points;
  wide[11].high = 11.0;
  CHECK(judge_curve(wide, 32.0).dips.empty());
}

TEST_CASE("an end droop is a fall of the last stride below 93 %") {
  std::vector<double> bandwidths{1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 10.0, 9.2};
  CHECK(judge_curve(curve_of(bandwidths), 32.0).has_end_droop);
  bandwidths.back() = 9.4;
  CHECK_FALSE(judge_curve(curve_of(bandwidths), 32.0).has_end_droop);
}

}  // namespace
}  // namespace clprobe::stride
