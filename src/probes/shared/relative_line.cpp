// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/relative_line.hpp"

#include <cmath>
#include <cstddef>

namespace clprobe {

Line fit_relative_line(std::span<const double> x, std::span<const double> y) {
  // The equation `intercept + slope * x = y`, divided by y, is linear in `intercept` and `slope`,
  // and its errors are relative errors.
  double aa = 0.0;
  double ab = 0.0;
  double bb = 0.0;
  double a1 = 0.0;
  double b1 = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = 1.0 / y[i];
    const double b = x[i] / y[i];
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  Line line;
  line.intercept = (bb * a1 - ab * b1) / determinant;
  line.slope = (aa * b1 - ab * a1) / determinant;
  line.slope_interval = {line.slope, line.slope};
  line.intercept_interval = {line.intercept, line.intercept};
  if (x.size() <= 2) return line;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = (line.intercept + line.slope * x[i]) / y[i] - 1.0;
    squares += error * error;
  }
  const std::size_t degrees = x.size() - 2;
  const double variance = squares / static_cast<double>(degrees) / determinant;
  const double of_slope = student_t(degrees) * std::sqrt(variance * aa);
  const double of_intercept = student_t(degrees) * std::sqrt(variance * bb);
  line.slope_interval = {line.slope - of_slope, line.slope + of_slope};
  line.intercept_interval = {line.intercept - of_intercept, line.intercept + of_intercept};
  return line;
}

}  // namespace clprobe
