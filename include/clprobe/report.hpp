// SPDX-License-Identifier: Apache-2.0
// Renderers: pure functions from runs to text. They never measure, print or know a terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// How a table may look; the terminal layer fills this in.
struct TableStyle {
  int width{80};           ///< columns
  bool colour{false};      ///< ANSI colours
  bool unicode{true};      ///< chart characters; else ASCII
  bool all_points{false};  ///< -v: every point, not only findings and chart
};

/// Findings first, then a small chart of each curve. Several runs are shown side by side.
std::string render_table(std::span<const Run> runs, const TableStyle& style);

/// Long form: one row a sample, stable columns, RFC 4180 quoting.
std::string render_csv(std::span<const Run> runs);

/// Tables to paste into an issue.
std::string render_markdown(std::span<const Run> runs);

/// The prose of a warning: what was seen, and what to do.
std::string describe_warning(const Warning& warning);

}  // namespace clprobe
