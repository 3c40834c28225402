// SPDX-License-Identifier: Apache-2.0
// Line fit with relative errors, so that small values count as much as large ones. Pure.
#pragma once

#include <span>

#include "analysis/api/statistics.hpp"

namespace clprobe {

/// Fits a line by least squares of relative errors: each point has the weight 1 / y^2. Every y must
/// be positive, and at least two x must differ. The 95 % intervals follow from the relative
/// residuals; for two points, both ends of an interval equal the value. `r_squared` is 0.
Line fit_relative_line(std::span<const double> x, std::span<const double> y);

}  // namespace clprobe
