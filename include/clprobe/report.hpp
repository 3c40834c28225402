// SPDX-License-Identifier: Apache-2.0
// Renderers: pure functions from runs to text. They never measure, print or know a terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// Style of a rendering, and its destination.
struct TableStyle {
  int width{80};           ///< columns
  bool colour{false};      ///< ANSI colours
  bool unicode{true};      ///< chart characters; else ASCII
  bool all_points{false};  ///< -v: every point, not only findings and chart
  bool advice{true};       ///< warnings; -q leaves them out
  bool is_stream{false};   ///< goes to stdout
  std::string probe{};     ///< the probe that a picture shows
};

/// The card of the device, then a section per probe, which is short if there are many. Several runs
/// have their cards, unless they are many, and their findings in one table. `style.all_points` adds
/// reasons, points and all tables. No line is wider than `style.width`. Every format replaces
/// control characters in text from a driver or a file by '?'.
std::string render_table(std::span<const Run> runs, const TableStyle& style);

/// Long form: one row a sample, stable columns, RFC 4180 quoting, lines end with LF. The
/// parameters' columns are those that occur in the runs, in the order of their first appearance.
/// `ns_per_access` is empty where a sample alone has no time (slopes without an in-kernel clock).
/// Text that a spreadsheet would run as a formula (=, +, -, @) begins with an apostrophe.
std::string render_csv(std::span<const Run> runs);

/// One row a finding, with its interval and how it was found; quoted and made safe as there.
std::string render_findings_csv(std::span<const Run> runs);

/// One row a point of a curve, with the value that charts show of it and its interval.
std::string render_curves_csv(std::span<const Run> runs);

/// Tables to paste into an issue.
std::string render_markdown(std::span<const Run> runs);

/// One self-contained page: interactive charts, findings, methods, provenance and the raw data. It
/// asks nothing of the network, and nothing in a run is ever executed by it.
std::string render_html(std::span<const Run> runs);

/// The chart of one probe as a picture. Of several runs it shows the first series of the first run
/// on each device that has it. Says so where no run has a curve of this probe.
std::string render_svg(std::span<const Run> runs, std::string_view probe);

/// The prose of a warning: what was seen, and what to do. A code that this version does not know is
/// shown as its words and facts.
std::string describe_warning(const Warning& warning);

/// The prose of a warning by its title on a card or its code, without facts; empty if there is
/// none.
std::string warning_text(std::string_view title);

}  // namespace clprobe
