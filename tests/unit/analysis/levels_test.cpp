// SPDX-License-Identifier: Apache-2.0
// Levels on named curves. Their shapes are those of measured ones; the numbers are made here.
#include "analysis/api/estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace clprobe {
namespace {

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * 1024.0;

std::vector<CurvePoint> curve_of(const std::function<double(double)>& latency, double first,
                                 double last, double ratio = 1.09) {
  std::vector<CurvePoint> curve;
  for (double size = first; size <= last; size *= ratio) curve.push_back({size, latency(size)});
  return curve;
}

/// 0 below `from`, 1 above `to`, linear in ln size in between.
double share(double size, double from, double to) {
  return std::clamp(std::log(size / from) / std::log(to / from), 0.0, 1.0);
}

/// Near L2 and far L2: a third level that is only a quarter wide.
double near_and_far(double size) {
  return 34.0 + 231.0 * share(size, 216 * kib, 300 * kib) +
         210.0 * share(size, 22 * mib, 33 * mib) + 175.0 * share(size, 46 * mib, 62 * mib);
}

void check_capacity(const Level& level, double low, double high) {
  REQUIRE(level.capacity.has_value());
  CHECK(level.capacity->low <= level.capacity->bytes);
  CHECK(level.capacity->bytes <= level.capacity->high);
  CHECK(level.capacity->bytes >= low);
  CHECK(level.capacity->bytes <= high);
}

}  // namespace

TEST_CASE("a flat curve has one level without an end") {
  const auto levels = find_levels(curve_of([](double) { return 34.0; }, kib, 64 * kib));
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].latency == doctest::Approx(34.0));
  CHECK_FALSE(levels[0].capacity.has_value());
}

TEST_CASE("a curve of a hundred thousand points has the levels of one of a hundred") {
  const auto latency = [](double size) { return 34.0 + 231.0 * share(size, 216 * kib, 300 * kib); };
  const auto levels = find_levels(curve_of(latency, 16 * kib, 8 * mib, 1.0000625));
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].latency == doctest::Approx(34.0).epsilon(0.01));
  CHECK(levels[1].latency == doctest::Approx(265.0).epsilon(0.01));
  check_capacity(levels[0], 200 * kib, 300 * kib);
}

TEST_CASE("too few points have no levels") {
  CHECK(find_levels({}).empty());
  const std::vector<CurvePoint> two{{kib, 10.0}, {2 * kib, 10.0}};
  CHECK(find_levels(two).empty());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<CurvePoint> bad{{kib, 10.0}, {-1.0, 10.0}, {2 * kib, 0.0}, {4 * kib, nan}};
  CHECK(find_levels(bad).empty());
  const std::vector<CurvePoint> three{{kib, 10.0}, {2 * kib, 10.1}, {4 * kib, 10.0}};
  CHECK(find_levels(three).size() == 1);
}

TEST_CASE("two levels, and where the first ends") {
  const auto levels = find_levels(curve_of(
      [](double size) { return 30.0 + 180.0 * share(size, 128 * kib, 160 * kib); }, kib, 4 * mib));
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].latency == doctest::Approx(30.0));
  CHECK(levels[1].latency == doctest::Approx(210.0));
  check_capacity(levels[0], 118 * kib, 133 * kib);
  CHECK(levels[0].capacity->high >= 140 * kib);
  CHECK_FALSE(levels[1].capacity.has_value());
}

TEST_CASE("of a list at powers of two a level ends before the first size that is twice as slow") {
  // What follows has no plateau, so that a miss seems to cost as much as the largest size.
  const auto levels = find_levels(curve_of(
      [](double size) {
        return size <= 64 * kib ? 1.7 : 5.1 * std::pow(size / (128 * kib), 0.4642);
      },
      kib, 64 * mib, 2.0));
  REQUIRE_FALSE(levels.empty());
  CHECK(levels[0].latency == doctest::Approx(1.7));
  REQUIRE(levels[0].capacity.has_value());
  CHECK(levels[0].capacity->low == doctest::Approx(64 * kib));
  CHECK(levels[0].capacity->bytes == doctest::Approx(64 * kib));
  CHECK(levels[0].capacity->high == doctest::Approx(128 * kib));
}

TEST_CASE("constant memory: five points before the first knee") {
  const auto levels = find_levels(
      curve_of([](double size) { return 34.0 + 70.0 * share(size, 2.0 * kib, 2.4 * kib); },
               1.35 * kib, 60 * kib));
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].latency == doctest::Approx(34.0));
  CHECK(levels[1].latency == doctest::Approx(104.0));
  check_capacity(levels[0], 1.8 * kib, 2.2 * kib);
}

TEST_CASE("a curve that begins on its second level has that one as its first") {
  const auto levels = find_levels(curve_of(near_and_far, mib, 1024 * mib));
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].latency == doctest::Approx(265.0));
}

TEST_CASE("a curve that begins in a knee skips it") {
  const auto levels = find_levels(curve_of(
      [](double size) { return 30.0 + 180.0 * share(size, 2 * kib, 8 * kib); }, 4 * kib, mib));
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].latency == doctest::Approx(210.0));
}

TEST_CASE("a far L2 of three points is a level") {
  const auto levels = find_levels(curve_of(near_and_far, kib, 1024 * mib));
  REQUIRE(levels.size() == 4);
  CHECK(levels[2].latency == doctest::Approx(475.0).epsilon(0.02));
  check_capacity(levels[1], 19 * mib, 24 * mib);
  check_capacity(levels[2], 38 * mib, 50 * mib);
}

TEST_CASE("an end that was not reached still ends the level before it") {
  const auto levels = find_levels(
      curve_of([](double size) { return 30.0 + 180.0 * share(size, 128 * kib, 1024 * kib); }, kib,
               400 * kib));
  REQUIRE(levels.size() == 1);
  check_capacity(levels[0], 110 * kib, 160 * kib);
}

TEST_CASE("a gentle slope between two steep ones is a shelf") {
  // The last-level cache of a processor whose pages are small: it is nowhere flat.
  const auto levels = find_levels(curve_of(
      [](double size) {
        return 4.0 * std::exp(std::log(3.0) * share(size, 512 * kib, 900 * kib) +
                              std::log(1.45) * share(size, 900 * kib, 4 * mib) +
                              std::log(6.0) * share(size, 4 * mib, 10 * mib));
      },
      kib, 256 * mib));
  REQUIRE(levels.size() == 3);
  CHECK(levels[1].is_shelf);
  CHECK_FALSE(levels[0].is_shelf);
  CHECK(levels[1].latency > 12.0);
  CHECK(levels[1].latency < 17.4);
  check_capacity(levels[1], 3.5 * mib, 6 * mib);
}

TEST_CASE("translation that grows slowly makes no level") {
  for (const double growth : {0.05, 0.15, 0.30}) {
    CAPTURE(growth);
    const auto levels = find_levels(curve_of(
        [growth](double size) {
          const double memory = 600.0 * (1.0 + growth * share(size, 64 * mib, 640 * mib));
          return 280.0 + (memory - 280.0) * share(size, 30 * mib, 40 * mib);
        },
        kib, 1024 * mib));
    CHECK(levels.size() == 2);
  }
}

TEST_CASE("spikes and slow first points are no levels") {
  auto curve = curve_of(near_and_far, kib, 1024 * mib, 1.04);
  for (const std::size_t i : {20U, 21U, 60U, 90U, 91U, 200U}) curve[i].latency *= 1.8;
  curve[0].latency *= 1.9;
  CHECK(find_levels(curve).size() == 4);
}

TEST_CASE("a bump within a level is that level") {
  const auto levels = find_levels(curve_of(
      [](double size) {
        const double bump = size > 33 * mib && size < 44 * mib ? 40.0 : 0.0;
        return 280.0 + 200.0 * share(size, 25 * mib, 30 * mib) + bump +
               150.0 * share(size, 56 * mib, 64 * mib);
      },
      mib, 512 * mib, 1.04));
  CHECK(levels.size() == 3);
}

TEST_CASE("scaling the latency, or the order of the points, changes nothing else") {
  std::mt19937_64 generator(7);
  std::vector<CurvePoint> curve = curve_of(near_and_far, kib, 1024 * mib);
  for (CurvePoint& point : curve) {
    point.latency *= 1.0 + 1e-3 * static_cast<double>(generator() % 20U);
  }
  const auto levels = find_levels(curve);
  REQUIRE(levels.size() == 4);

  std::vector<CurvePoint> shuffled = curve;
  for (std::size_t i = shuffled.size() - 1; i > 0; --i) {
    std::swap(shuffled[i], shuffled[generator() % (i + 1)]);
  }
  const auto again = find_levels(shuffled);
  REQUIRE(again.size() == levels.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    CHECK(again[k].latency == levels[k].latency);
    CHECK(again[k].capacity.has_value() == levels[k].capacity.has_value());
    if (levels[k].capacity) CHECK(again[k].capacity->bytes == levels[k].capacity->bytes);
  }

  for (const double factor : {1e-9, 0.505, 3.0, 1000.0}) {
    CAPTURE(factor);
    std::vector<CurvePoint> scaled = curve;
    for (CurvePoint& point : scaled) point.latency *= factor;
    const auto same = find_levels(scaled);
    REQUIRE(same.size() == levels.size());
    for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
      CHECK(same[k].latency == doctest::Approx(levels[k].latency * factor));
      CHECK(same[k].capacity->low == levels[k].capacity->low);
      CHECK(same[k].capacity->high == levels[k].capacity->high);
      CHECK(same[k].capacity->bytes == doctest::Approx(levels[k].capacity->bytes));
    }
  }
}

// Twenty sizes of a level, then as many of one ten times as slow.
std::vector<CurvePoint> two_levels_like(const std::vector<double>& near) {
  std::vector<CurvePoint> curve;
  double size = 4096.0;
  const auto add = [&](double latency) {
    curve.push_back({size, latency});
    size *= 1.2;
  };
  for (const double each : near) add(each);
  for (std::size_t i = 0; i < near.size(); ++i) add(100.0);
  return curve;
}

TEST_CASE("a level's interval is that of its points' median, and wider where they rise with size") {
  // 10.00, 10.01, ... 10.19 in an order in which both halves have the same median. The sign test's
  // 95 % interval of the median of twenty values goes from the sixth to the fifteenth.
  std::vector<double> flat;
  for (int i = 0; i < 10; ++i) {
    flat.push_back(10.0 + 0.01 * i);
    flat.push_back(10.19 - 0.01 * i);
  }
  const std::vector<Level> levels = find_levels(two_levels_like(flat));
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].latency == doctest::Approx(10.095));
  CHECK(levels[0].latency_interval.low == doctest::Approx(10.05));
  CHECK(levels[0].latency_interval.high == doctest::Approx(10.14));
  CHECK(levels[0].spread.low == doctest::Approx(10.0095).epsilon(1e-4));
  CHECK(levels[0].spread.high == doctest::Approx(10.1805).epsilon(1e-4));
  // The same values, rising: the median of the first ten is 10.045, of the last ten 10.145.
  std::sort(flat.begin(), flat.end());
  const std::vector<Level> rising = find_levels(two_levels_like(flat));
  REQUIRE(rising.size() == 2);
  CHECK(rising[0].latency == doctest::Approx(10.095));
  CHECK(rising[0].latency_interval.low == doctest::Approx(10.045));
  CHECK(rising[0].latency_interval.high == doctest::Approx(10.145));
}

TEST_CASE("whatever the curve, levels rise and brackets are in order") {
  std::mt19937_64 generator(11);
  const auto unit = [&] { return static_cast<double>(generator() >> 11U) * 0x1.0p-53; };
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    // A random walk in logarithms: steps, slopes, falls and noise of any size.
    std::vector<CurvePoint> curve;
    const double ratio = 1.02 + unit();
    const double step = 0.5 * unit() * unit();
    const double drift = unit() - 0.3;
    double y = 3.0;
    for (double size = 512; size < 1e9; size *= ratio) {
      if (unit() < 0.3) y += step * (unit() - 0.5 + drift);
      curve.push_back({size, std::exp(y + 0.05 * step * unit())});
    }
    double before = 0.0;
    for (const Level& level : find_levels(curve)) {
      CHECK(level.latency > before);
      before = level.latency;
      CHECK(level.latency_interval.low <= level.latency);
      CHECK(level.latency <= level.latency_interval.high);
      if (!level.capacity) continue;
      CHECK(level.capacity->low >= 511.0);
      CHECK(level.capacity->low <= level.capacity->bytes);
      CHECK(level.capacity->bytes <= level.capacity->high);
      CHECK(level.capacity->high < 1.001e9);
      for (const double bytes :
           {level.capacity->low, level.capacity->bytes, level.capacity->high}) {
        CHECK(bytes == std::round(bytes));
      }
    }
  }
}

TEST_CASE("sizes are added around knees only, no farther apart than asked") {
  const auto curve = curve_of(near_and_far, kib, 1024 * mib, 1.25);
  const auto sizes = sizes_around_knees(curve, 1.04);
  REQUIRE_FALSE(sizes.empty());
  CHECK(std::is_sorted(sizes.begin(), sizes.end()));
  for (const double size : sizes) {
    const bool at_knee =
        (size > 130 * kib && size < 500 * kib) || (size > 13 * mib && size < 110 * mib);
    CHECK(at_knee);
  }
  std::vector<double> all = sizes;
  for (const CurvePoint& point : curve) {
    if (point.working_set_bytes > 22 * mib && point.working_set_bytes < 60 * mib) {
      all.push_back(point.working_set_bytes);
    }
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1] > 22 * mib && all[i] < 60 * mib) CHECK(all[i] / all[i - 1] < 1.0401);
  }
  CHECK(sizes_around_knees(curve_of([](double) { return 34.0; }, kib, mib), 1.04).empty());
  CHECK(sizes_around_knees(curve, 1.3).empty());
  CHECK(sizes_around_knees(curve, 1.0).empty());
  CHECK(sizes_around_knees({}, 1.04).empty());
}

TEST_CASE("a step at the same footprint with one node per page is translation") {
  const auto with_step_at = [](double at, double height) {
    return curve_of([=](double size) { return 100.0 + height * share(size, at, 1.3 * at); }, mib,
                    1024 * mib);
  };
  CHECK(classify_step(64 * mib, 450.0, 500.0, with_step_at(64 * mib, 50.0)) ==
        StepKind::translation);
  CHECK(classify_step(16 * mib, 200.0, 450.0, with_step_at(256 * mib, 250.0)) == StepKind::cache);
  CHECK(classify_step(64 * mib, 450.0, 500.0, with_step_at(64 * mib, 400.0)) == StepKind::unknown);
  CHECK(classify_step(64 * mib, 450.0, 500.0, {}) == StepKind::unknown);
  CHECK(classify_step(64 * mib, 500.0, 500.0, with_step_at(64 * mib, 50.0)) == StepKind::unknown);
  CHECK(to_word(StepKind::translation) == "translation");
}

TEST_CASE("two levels may be the halves of one cache where the second ends at twice the size") {
  Level half;
  half.latency = 140.0;
  half.capacity = {24 * mib, 23 * mib, 26 * mib};
  const auto ending = [](double low, double high) {
    Level next;
    next.latency = 260.0;
    next.capacity = {(low + high) / 2.0 * mib, low * mib, high * mib};
    return next;
  };
  CHECK(may_be_halves(half, ending(47, 55), 1024 * mib));
  CHECK(may_be_halves(half, ending(40, 46), 1024 * mib));
  CHECK(may_be_halves(half, ending(52, 60), 1024 * mib));
  CHECK_FALSE(may_be_halves(half, ending(36, 45), 1024 * mib));
  CHECK_FALSE(may_be_halves(half, ending(53, 60), 1024 * mib));
  Level next = ending(47, 55);
  next.latency = 430.0;
  CHECK_FALSE(may_be_halves(half, next, 1024 * mib));
  // An end that was not reached is no end at twice the size, if the curve goes beyond that.
  next = ending(47, 55);
  next.capacity.reset();
  CHECK(may_be_halves(half, next, 51 * mib));
  CHECK_FALSE(may_be_halves(half, next, 52 * mib));
  CHECK_FALSE(may_be_halves(next, half, 1024 * mib));
  CHECK(to_word(StepKind::cache_or_far) == "cache-or-far");
}

TEST_CASE("a near and a far L2 as they were measured may be halves, a first level is none") {
  const auto levels = find_levels(curve_of(near_and_far, kib, 1024 * mib));
  REQUIRE(levels.size() == 4);
  CHECK_FALSE(may_be_halves(levels[0], levels[1], 1024 * mib));
  CHECK(may_be_halves(levels[1], levels[2], 1024 * mib));
  CHECK_FALSE(may_be_halves(levels[2], levels[3], 1024 * mib));
}

}  // namespace clprobe
