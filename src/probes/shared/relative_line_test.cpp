// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/relative_line.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace clprobe {

TEST_CASE("a line through points that lie on it is that line, without any doubt") {
  const std::vector<double> x{1.0, 4.0, 1024.0};
  const std::vector<double> y{32.0, 38.0, 2078.0};
  const Line line = fit_relative_line(x, y);
  CHECK(line.slope == doctest::Approx(2.0));
  CHECK(line.intercept == doctest::Approx(30.0));
  CHECK(line.slope_interval.low == doctest::Approx(2.0));
  CHECK(line.slope_interval.high == doctest::Approx(2.0));
}

TEST_CASE("two points leave no residuals, and no interval") {
  const Line line = fit_relative_line(std::array{1.0, 3.0}, std::array{5.0, 9.0});
  CHECK(line.slope == doctest::Approx(2.0));
  CHECK(line.intercept == doctest::Approx(3.0));
  CHECK(line.slope_interval == Interval{line.slope, line.slope});
}

// A Python program computed the expected values with exact rational arithmetic (fractions) from
// the normal equations. The quantile of Student's t with 3 degrees of freedom, 3.18245, is from a
// table.
TEST_CASE("errors count as shares of what was measured, with intervals by Student's t") {
  const std::vector<double> x{1.0, 4.0, 16.0, 64.0, 256.0};
  const std::vector<double> y{30.0, 36.0, 55.0, 150.0, 520.0};
  const Line line = fit_relative_line(x, y);
  CHECK(line.slope == doctest::Approx(1.885851629).epsilon(1e-6));
  CHECK(line.intercept == doctest::Approx(27.7886900).epsilon(1e-6));
  CHECK(line.slope - line.slope_interval.low == doctest::Approx(0.169748720).epsilon(1e-4));
  CHECK(line.intercept_interval.high - line.intercept == doctest::Approx(2.5802145).epsilon(1e-4));
}

}  // namespace clprobe
