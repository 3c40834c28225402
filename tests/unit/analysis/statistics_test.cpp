// SPDX-License-Identifier: Apache-2.0
// The expected numbers were computed with Python 3.11's statistics and math modules:
//   median, quantiles(v, n=4, method='inclusive'), 1.4826 * median(|v - median(v)|)
//   linear_regression(x, y), correlation(x, y) ** 2, slope -+ 2.3060041 * standard error
#include "analysis/api/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace clprobe {
namespace {

const std::vector<double> values{12.0, 3.5, 7.25, 9.0, 100.0, 8.5, 7.0, 10.5};
const std::vector<double> line_x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
const std::vector<double> line_y{2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8, 16.1, 18.0, 20.3};

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-9); }

}  // namespace

TEST_CASE("median, quantiles and deviation agree with values computed elsewhere") {
  CHECK(near(median(values), 8.75));
  CHECK(near(median(std::array{3.0, 1.0, 2.0}), 2.0));
  CHECK(near(median(std::array{5.0}), 5.0));
  CHECK(near(quantile(values, 0.25), 7.1875));
  CHECK(near(quantile(values, 0.75), 10.875));
  CHECK(near(quantile(values, 0.9), 38.4));
  CHECK(quantile(values, 0.0) == 3.5);
  CHECK(quantile(values, 1.0) == 100.0);
  CHECK(near(scaled_mad(values), 2.59455));
  CHECK(near(mean(values), 19.71875));
  CHECK(near(standard_deviation(values), 32.5371868296218));
  CHECK(standard_deviation(std::array{5.0}) == 0.0);
}

TEST_CASE("the interval of a median is that of the sign test") {
  const auto outside = [](std::size_t count) {
    std::vector<double> places(count);
    std::iota(places.begin(), places.end(), 0.0);
    const Interval interval = median_interval(places);
    CHECK(interval.low + interval.high == static_cast<double>(count - 1));
    return interval.low;
  };
  // By sums of binomial coefficients in Python's integers.
  CHECK(outside(1) == 0);
  CHECK(outside(8) == 0);
  CHECK(outside(9) == 1);
  CHECK(outside(20) == 5);
  CHECK(outside(100) == 39);
  CHECK(outside(500) == 227);
  CHECK(outside(501) == 228);  // from here on by the normal distribution
  CHECK(outside(1000) == 468);
  CHECK(median_interval(std::array{3.0, 1.0, 2.0}) == Interval{1.0, 3.0});
}

TEST_CASE("the order of the values does not matter, and scaling scales") {
  std::vector<double> reversed(values.rbegin(), values.rend());
  std::vector<double> scaled = values;
  for (double& value : scaled) value *= 4.0;  // a power of two: exact
  CHECK(median(reversed) == median(values));
  CHECK(quantile(reversed, 0.3) == quantile(values, 0.3));
  CHECK(scaled_mad(reversed) == scaled_mad(values));
  CHECK(median(scaled) == 4.0 * median(values));
  CHECK(quantile(scaled, 0.3) == 4.0 * quantile(values, 0.3));
  CHECK(scaled_mad(scaled) == 4.0 * scaled_mad(values));
}

TEST_CASE("the interval of a line through three and four points is Student's") {
  // Residuals -1/2, 1, -1/2 about 1 + x / 2: s^2 = 1.5, and 12.7062047 sqrt(1.5 / 2) to each side.
  const Line three = fit_least_squares(std::array{1.0, 2.0, 3.0}, std::array{1.0, 3.0, 2.0});
  CHECK(three.slope == doctest::Approx(0.5));
  CHECK(three.slope_interval.high - three.slope == doctest::Approx(11.003896).epsilon(1e-6));
  // Residuals -0.1, 0.8, -1.3, 0.6 about 1.1 x: s^2 = 2.7 / 2, and 4.3026527 sqrt(1.35 / 5).
  const Line four =
      fit_least_squares(std::array{1.0, 2.0, 3.0, 4.0}, std::array{1.0, 3.0, 2.0, 5.0});
  CHECK(four.slope == doctest::Approx(1.1));
  CHECK(four.slope_interval.low == doctest::Approx(1.1 - 2.235724).epsilon(1e-6));
  CHECK(four.slope_interval.high == doctest::Approx(1.1 + 2.235724).epsilon(1e-6));
}

TEST_CASE("least squares agrees with values computed elsewhere") {
  const Line line = fit_least_squares(line_x, line_y);
  CHECK(near(line.slope, 2.0127272727272727));
  CHECK(line.intercept == doctest::Approx(-0.02).epsilon(1e-9));
  CHECK(near(line.r_squared, 0.9992476451537939));
  CHECK(line.slope_interval.low == doctest::Approx(1.9677000865886947).epsilon(1e-5));
  CHECK(line.slope_interval.high == doctest::Approx(2.0577544588658507).epsilon(1e-5));
}

TEST_CASE("two points make a line without residuals") {
  const Line line = fit_least_squares(std::array{1.0, 3.0}, std::array{5.0, 9.0});
  CHECK(line.slope == 2.0);
  CHECK(line.intercept == 3.0);
  CHECK(line.slope_interval == Interval{2.0, 2.0});
}

TEST_CASE("what has no answer is refused") {
  const std::vector<double> none;
  const std::array bad{1.0, std::numeric_limits<double>::quiet_NaN()};
  const std::array endless{1.0, std::numeric_limits<double>::infinity()};
  CHECK_THROWS_AS(median(none), std::invalid_argument);
  CHECK_THROWS_AS(quantile(none, 0.5), std::invalid_argument);
  CHECK_THROWS_AS(quantile(values, 1.5), std::invalid_argument);
  CHECK_THROWS_AS(median(bad), std::invalid_argument);
  CHECK_THROWS_AS(scaled_mad(endless), std::invalid_argument);
  CHECK_THROWS_AS(fit_least_squares(line_x, values), std::invalid_argument);
  CHECK_THROWS_AS(fit_least_squares(std::array{2.0, 2.0}, std::array{1.0, 3.0}),
                  std::invalid_argument);
}

}  // namespace clprobe
