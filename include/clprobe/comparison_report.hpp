// SPDX-License-Identifier: Apache-2.0
// Renderers of comparisons: pure functions from a comparison and its digests to text.
#pragma once

#include <span>
#include <string>

#include "clprobe/compare.hpp"
#include "clprobe/report.hpp"

namespace clprobe {

inline constexpr std::string_view comparison_schema_name = "clprobe-comparison";
inline constexpr int comparison_schema_version = 1;

/// Who is better at what in at most 12 lines, then what changed, the largest first, and what could
/// not be matched. With `style.all_points` all findings side by side, or of more than a few runs
/// their ranges, the curves, and the reason of every verdict. No line is wider than `style.width`.
std::string render_comparison_table(const Comparison& comparison, std::span<const RunDigest> runs,
                                    const TableStyle& style);

/// Everything, as one document with the schema name above; numbers are not rounded.
std::string comparison_to_json(const Comparison& comparison, std::span<const RunDigest> runs);

/// Long form: one row a finding and run, quoted and made safe as in `render_csv`.
std::string render_comparison_csv(const Comparison& comparison, std::span<const RunDigest> runs);

/// A table to paste into an issue: one row a finding, the runs as columns.
std::string render_comparison_markdown(const Comparison& comparison,
                                       std::span<const RunDigest> runs);

/// One self-contained page: the summary, the rows that changed with filters, the curves of all runs
/// over each other and their ratios. It asks nothing of the network, and nothing of a run is
/// executed by it.
std::string render_comparison_html(const Comparison& comparison, std::span<const RunDigest> runs);

/// One change on one line: "worse: latency global 2 latency: 142 ns -> 170 ns in 'new.json'".
std::string change_text(const Comparison& comparison, std::span<const RunDigest> runs,
                        const ComparedPlace& place);

}  // namespace clprobe
