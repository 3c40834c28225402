// SPDX-License-Identifier: Apache-2.0
// The curves of all runs of a comparison over each other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"
#include "report/svg.hpp"

namespace clprobe::report {

/// Figures of a probe's curves, by their titles: for each series the values of all runs, called
/// `names`, and their ratios to the baseline's. Words, and single points, are not drawn.
std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names);

}  // namespace clprobe::report
