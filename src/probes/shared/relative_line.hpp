// SPDX-License-Identifier: Apache-2.0
// The line through points of which the small ones count as much as the large ones. Pure.
#pragma once

#include <span>

#include "analysis/api/statistics.hpp"

namespace clprobe {

/// The line with the least squares of relative errors, that is with weights 1 / y^2. All y must be
/// above 0, and two of the x differ. Intervals as those of `fit_least_squares`; `r_squared` is 0,
/// since it has no meaning here.
Line fit_relative_line(std::span<const double> x, std::span<const double> y);

}  // namespace clprobe
