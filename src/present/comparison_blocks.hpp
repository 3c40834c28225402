// SPDX-License-Identifier: Apache-2.0
// Content of a comparison, decided once for all formats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "present/blocks.hpp"
#include "present/comparison_text.hpp"
#include "present/svg.hpp"

namespace clprobe::report {

/// Extent of a shown comparison: a screen, all findings and curves, or also every reason.
enum class Detail { screen, all, reasons };

/// The runs, who is better at what in at most 12 lines of `width` columns, what changed, what has
/// no counterpart, and the verdicts' counts. Of many runs a screen has those that changed most.
std::vector<Block> blocks_of(const Comparison& comparison, std::span<const RunDigest> runs,
                             Detail detail, int width);

/// A row for each change: the finding, the run where there are several, both values with intervals
/// as asides, the change and the verdict; `has_reasons`: also the probe and the reason.
Table changes_table(const Comparison& comparison, std::span<const Change> changes,
                    bool has_reasons);

/// Figures of a probe's curves, by their titles: for each series the values of all runs, called
/// `names`, and their ratios to the baseline's. Words, and single points, are not drawn.
std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names);

}  // namespace clprobe::report
