// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/transfer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "unit/random.hpp"

namespace clprobe::transfer {
namespace {

constexpr double kibi = 1024.0;
constexpr double mebi = kibi * kibi;

Timed timed(double bytes, double ns) { return {bytes, ns, {ns, ns}}; }

/// Returns times t = start + bytes / rate for sizes from 64 B to 256 MiB.
std::vector<Timed> exact(double start, double rate) {
  std::vector<Timed> all;
  for (double bytes = 64; bytes <= 256 * mebi; bytes *= 4) {
    all.push_back(timed(bytes, start + bytes / rate));
  }
  return all;
}

}  // namespace

TEST_CASE("transfer: a start-up and a rate are found again") {
  for (const double start : {800.0, 12e3, 90e3}) {
    for (const double rate : {2.0, 25.0, 55.0}) {
      CAPTURE(start);
      CAPTURE(rate);
      const auto law = fit_law(exact(start, rate));
      REQUIRE(law.has_value());
      CHECK(law->bytes_per_ns == doctest::Approx(rate).epsilon(0.001));
      REQUIRE(law->start_ns.has_value());
      CHECK(*law->start_ns == doctest::Approx(start).epsilon(0.001));
      CHECK(law->start_interval.low <= *law->start_ns);
      CHECK(law->start_interval.high >= *law->start_ns);
      CHECK(law->start_interval.high - law->start_interval.low < 0.001 * start);
    }
  }
}

TEST_CASE("transfer: the start-up is that of least squares, weighted by 1/t^2") {
  // A program with exact fractions computed the expected values. The 97.5 % quantile of Student's
  // t for 3 degrees of freedom is 3.182446.
  std::vector<Timed> all{timed(1024, 10300), timed(2048, 10150), timed(4096, 10700),
                         timed(8192, 10610), timed(16384, 11390)};
  all.push_back(timed(64 * mebi, 64 * mebi / 25.0));
  const auto law = fit_law(all);
  REQUIRE(law.has_value());
  REQUIRE(law->start_ns.has_value());
  CHECK(*law->start_ns == doctest::Approx(10167.768072).epsilon(1e-8));
  CHECK(law->start_interval.high - *law->start_ns == doctest::Approx(409.726613).epsilon(1e-5));
  CHECK(*law->start_ns - law->start_interval.low == doctest::Approx(409.726613).epsilon(1e-5));
}

TEST_CASE("transfer: the rate is that of the largest transfers, whatever those between do") {
  std::vector<Timed> all = exact(10e3, 50.0);
  for (Timed& each : all) {
    // One medium size is faster, as if a cache held the bytes. Another one is slower, as if the
    // driver copied through its own buffer.
    if (each.bytes == 256 * kibi) each.ns /= 3;
    if (each.bytes == 4 * mebi) each.ns *= 4;
    each.ns_interval = {each.ns, each.ns};
  }
  const auto law = fit_law(all);
  REQUIRE(law.has_value());
  CHECK(law->bytes_per_ns == doctest::Approx(50.0).epsilon(0.001));
  // A transfer counts as large from a quarter of the largest size on.
  const auto rate_with = [](double second) {
    return fit_law({timed(second, second / 10.0), timed(64 * mebi, 64 * mebi / 20.0)})
        ->bytes_per_ns;
  };
  CHECK(rate_with(16 * mebi) == doctest::Approx(15.0));
  CHECK(rate_with(15 * mebi) == doctest::Approx(20.0));
}

TEST_CASE("transfer: without three transfers that are mostly start-up nothing is said of it") {
  CHECK_FALSE(fit_law({}).has_value());
  CHECK_FALSE(fit_law({timed(1024, 0.0), timed(0.0, 5.0)}).has_value());
  std::vector<Timed> all;
  for (double bytes = mebi; bytes <= 64 * mebi; bytes *= 2) {
    all.push_back(timed(bytes, 100.0 + bytes));
  }
  CHECK_FALSE(fit_law(all)->start_ns.has_value());
  all.push_back(timed(8, 108));
  all.push_back(timed(16, 116));
  CHECK_FALSE(fit_law(all)->start_ns.has_value());
  all.push_back(timed(32, 132));
  CHECK(*fit_law(all)->start_ns == doctest::Approx(100.0).epsilon(0.001));
  // A transfer counts as small if at least half of its time is start-up.
  const auto start_with = [](double third) {
    return fit_law({timed(8, 1008), timed(64, 1064), timed(third, 1000 + third),
                    timed(64 * mebi, 64 * mebi)})
        ->start_ns;
  };
  CHECK(start_with(990).has_value());
  CHECK_FALSE(start_with(1010).has_value());
  // A single transfer gives a rate.
  CHECK(fit_law({timed(4096, 512)})->bytes_per_ns == doctest::Approx(8.0));
}

TEST_CASE("transfer: small transfers that take less than none at all have no start-up") {
  const auto law = fit_law({timed(1024, 1000), timed(2048, 2100), timed(4096, 4500),
                            timed(64 * mebi, 64 * mebi / 25.0)});
  REQUIRE(law.has_value());
  CHECK_FALSE(law->start_ns.has_value());
}

TEST_CASE("transfer: of noisy transfers the truth is in the intervals") {
  Random random(20261124);
  constexpr int rounds = 2000;
  int start_inside = 0;
  int rate_inside = 0;
  int half_inside = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start = random.log_uniform(1e3, 100e3);
    const double rate = random.log_uniform(2.0, 60.0);
    const double noise = random.uniform(0.002, 0.03);
    std::vector<Timed> all;
    for (const Timed& each : exact(start, rate)) {
      // Each time is the median of four samples, with their quartiles as interval.
      std::vector<double> samples;
      for (int i = 0; i < 4; ++i) samples.push_back(each.ns * std::exp(noise * random.normal()));
      const double low = quantile(samples, 0.25);
      const double high = quantile(samples, 0.75);
      all.push_back({each.bytes, median(samples), {low, high}});
    }
    const auto law = fit_law(all);
    REQUIRE(law.has_value());
    REQUIRE(law->start_ns.has_value());
    CHECK(*law->start_ns == doctest::Approx(start).epsilon(0.3));
    CHECK(law->bytes_per_ns == doctest::Approx(rate).epsilon(0.1));
    if (law->start_interval.low <= start && start <= law->start_interval.high) ++start_inside;
    const Interval& rates = law->bytes_per_ns_interval;
    if (rates.low <= rate && rate <= rates.high) ++rate_inside;
    const double half = start * rate;
    if (law->start_interval.low * rates.low <= half &&
        half <= law->start_interval.high * rates.high) {
      ++half_inside;
    }
  }
  CHECK(start_inside > rounds * 93 / 100);
  CHECK(start_inside < rounds * 98 / 100);
  CHECK(rate_inside > rounds * 85 / 100);
  CHECK(half_inside > rounds * 95 / 100);
}

}  // namespace clprobe::transfer
