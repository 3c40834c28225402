// SPDX-License-Identifier: Apache-2.0
// Renderers: pure functions from runs, comparisons and surveys to text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "profile/api/survey.hpp"

namespace clprobe {

/// Style and destination of a rendering.
struct TableStyle {
  int width{80};           ///< columns
  bool colour{false};      ///< true: ANSI colours
  bool unicode{true};      ///< true: Unicode in charts; false: ASCII
  bool all_points{false};  ///< -v: every point, in addition to findings and charts
  bool advice{true};       ///< true: show warnings; -q omits them
  bool is_stream{false};   ///< true if the target is stdout
  std::string probe{};     ///< probe that a picture shows
};

/// Returns the device's card and a section per probe; sections are short if there are many. Several
/// runs have cards, unless there are many, and one table of findings. `style.all_points` adds
/// reasons, points and all tables. No line exceeds `style.width`. All formats replace control
/// characters of drivers and files by '?'.
std::string render_table(std::span<const Run> runs, const TableStyle& style);

/// Returns one row per sample: stable columns, RFC 4180 quoting, LF line ends. Columns of
/// parameters are those of the runs, in order of first appearance. `ns_per_access` is empty if a
/// single sample has no time (slopes without an in-kernel clock). Text that a spreadsheet would run
/// as a formula (=, +, -, @) begins with an apostrophe.
std::string render_csv(std::span<const Run> runs);

/// Returns one row per finding with its interval and method, quoted as in render_csv().
std::string render_findings_csv(std::span<const Run> runs);

/// Returns one row per point of a curve, with the charted value and its interval.
std::string render_curves_csv(std::span<const Run> runs);

/// Returns tables for an issue, in Markdown.
std::string render_markdown(std::span<const Run> runs);

/// Returns a self-contained page: charts, findings, methods, provenance and raw data. The page
/// loads nothing from the network and executes nothing of a run.
std::string render_html(std::span<const Run> runs);

/// Returns the chart of a probe as a picture. For several runs, the first series of the first run
/// on each device that has it. Says so if no run has a curve of this probe.
std::string render_svg(std::span<const Run> runs, std::string_view probe);

/// Returns the text of a warning: observation and advice. An unknown code is shown as its words and
/// facts.
std::string describe_warning(const Warning& warning);

/// Returns the text of a warning, by its title on a card or its code, without facts; empty if
/// unknown.
std::string warning_text(std::string_view title);

// Renderers of comparisons: pure functions from a comparison and its digests to text.

inline constexpr std::string_view comparison_schema_name = "clprobe-comparison";
inline constexpr int comparison_schema_version = 1;

/// Returns a summary of at most 12 lines, the changes (largest first), and what could not be
/// matched. `style.all_points` adds all findings side by side (for many runs, their ranges), the
/// curves, and the reason of every verdict. No line exceeds `style.width`.
std::string render_comparison_table(const Comparison& comparison, std::span<const RunDigest> runs,
                                    const TableStyle& style);

/// Returns everything as one document with the schema name above; numbers are not rounded.
std::string comparison_to_json(const Comparison& comparison, std::span<const RunDigest> runs);

/// Returns one row per finding and run, quoted as in render_csv().
std::string render_comparison_csv(const Comparison& comparison, std::span<const RunDigest> runs);

/// Returns a table for an issue, in Markdown: one row per finding, a column per run.
std::string render_comparison_markdown(const Comparison& comparison,
                                       std::span<const RunDigest> runs);

/// Returns a self-contained page: summary, filtered rows of changes, overlaid curves of all runs
/// and their ratios. The page loads nothing from the network and executes nothing of a run.
std::string render_comparison_html(const Comparison& comparison, std::span<const RunDigest> runs);

/// Returns one change on one line: "worse: latency global 2 latency: 142 ns -> 170 ns in
/// 'new.json'".
std::string change_text(const Comparison& comparison, std::span<const RunDigest> runs,
                        const ComparedPlace& place);

// Renderers of surveys of a program's kernels. Pure.

/// A surveyed program.
struct SurveyedApp {
  std::vector<std::string> words{};  ///< words as typed, files without folders
  std::string started{};             ///< UTC
  ToolInfo tool{};
  int status{0};
  int signal{0};  ///< signal that ended the program; 0: none
  bool interrupted{false};
  double wall_s{0.0};       ///< run time in seconds
  survey::Survey survey{};  ///< survey, sorted by device time
};

/// Returns "ended with status 3" or "was ended by signal 11 (Segmentation fault)"; empty after a
/// success.
std::string end_text(const SurveyedApp& app);

/// Returns the first twenty kernels by device time; with `style.all_points` all, with a row per
/// size.
std::string render_survey_table(const SurveyedApp& app, const TableStyle& style);
std::string render_survey_json(const SurveyedApp& app);
/// Returns one row per signature.
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
