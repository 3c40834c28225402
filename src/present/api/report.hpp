// SPDX-License-Identifier: Apache-2.0
// Renderers: pure functions from runs to text. They never measure, print or know a terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "profile/api/survey.hpp"

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

// Renderers of comparisons: pure functions from a comparison and its digests to text.

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

// A survey of a program's kernels as text. Pure.

/// A program that ran under a survey.
struct SurveyedApp {
  std::vector<std::string> words{};  ///< words as typed, files without their folders
  std::string started{};             ///< UTC
  ToolInfo tool{};
  int status{0};
  int signal{0};  ///< signal that ended the program; 0: none
  bool interrupted{false};
  double wall_s{0.0};       ///< from its start to its end
  survey::Survey survey{};  ///< sorted by device time
};

/// "ended with status 3", "was ended by signal 11 (Segmentation fault)"; empty after a success.
std::string end_text(const SurveyedApp& app);

/// The kernels by device time, the first twenty. `style.all_points`: all of them, and a row for
/// each size.
std::string render_survey_table(const SurveyedApp& app, const TableStyle& style);
std::string render_survey_json(const SurveyedApp& app);
/// One row per signature.
std::string render_survey_csv(const SurveyedApp& app);
std::string render_survey_markdown(const SurveyedApp& app);

// Formats of results. Command line, help and reports read src/present/formats.def through these.

/// An output format. The function of a kind of result is null if the format cannot show that kind.
struct Writer {
  std::string_view name{};     ///< word of --format
  std::string_view ending{};   ///< ending of file names; the longest matching ending counts
  std::string_view details{};  ///< sentences about its files for the man page, with a space after
  std::string (*runs)(std::span<const Run>, const TableStyle&){nullptr};
  std::string (*comparison)(const Comparison&, std::span<const RunDigest>,
                            const TableStyle&){nullptr};
  std::string (*survey)(const SurveyedApp&, const TableStyle&){nullptr};
  bool is_of_one_probe{false};  ///< true for a picture, which shows only `TableStyle::probe`
};

namespace formats {
#define FORMAT(name) extern const Writer name;
#include "present/formats.def"
#undef FORMAT
}  // namespace formats

/// Returns all formats; the first is the default of stdout.
std::span<const Writer* const> writers();

/// Returns the format of that name; null if there is none.
const Writer* find_writer(std::string_view name);

/// Returns the names of the formats for which `has` is true, in the order of the table.
template <typename Has>
std::vector<std::string_view> format_names(Has has) {
  std::vector<std::string_view> names;
  for (const Writer* const each : writers()) {
    if (has(*each)) names.push_back(each->name);
  }
  return names;
}

}  // namespace clprobe
