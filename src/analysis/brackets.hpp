// SPDX-License-Identifier: Apache-2.0
// What the curves say of sizes and levels whose numbers alone leave it open. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"

namespace clprobe {

/// The curve of a series, whose points have sizes; null where there is none.
const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series);

/// Logarithms of the ratios to the baseline at the sizes above `low` and below `high` that both
/// curves have.
std::vector<double> log_ratios(const ComparedCurve& baseline, const ComparedCurve& other,
                               double low, double high);

/// The same at the sizes at which `with` has the level: of the ratios of `without` to `with`.
std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level);

/// Of two capacities that are `unclear` because their brackets touch: a change, if between the two
/// the curves run apart, the one of the smaller capacity above the other.
void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged);

}  // namespace clprobe
