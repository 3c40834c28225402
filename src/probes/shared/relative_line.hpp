// SPDX-License-Identifier: Apache-2.0
// Line fit with relative errors, so that small values count as much as large ones. Pure.
#pragma once

#include <span>

#include "analysis/api/statistics.hpp"

namespace clprobe {

/// Fits a line by least squares of relative errors: each point has the weight 1 / y^2. Every y
/// must be positive, and at least two x must differ. Intervals are those of `fit_least_squares`;
/// `r_squared` is 0.
Line fit_relative_line(std::span<const double> x, std::span<const double> y);

}  // namespace clprobe
