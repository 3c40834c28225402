// SPDX-License-Identifier: Apache-2.0
// Output formats: pure functions from runs, comparisons and surveys to text. JSON escapes control
// characters in texts from drivers and files; all other formats replace them by '?' or a space.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "fleet/api/fleet.hpp"
#include "profile/api/survey.hpp"

namespace clprobe {

/// Style and destination of an output.
struct TableStyle {
  int width{80};           ///< width in columns
  bool colour{false};      ///< true: ANSI colours
  bool unicode{true};      ///< true: Unicode in charts; false: ASCII
  bool all_points{false};  ///< true: every point, in addition to findings and charts (-v)
  bool advice{true};       ///< true: show warnings; false: omit them (-q)
  bool is_stream{false};   ///< true: the target is stdout
  std::string probe{};     ///< probe that a picture shows
  std::string plot{};      ///< title of the chart of the probe's card to show; empty: its points
};

/// Returns the text of a warning: observation and advice. For an unknown code or a missing fact,
/// returns the words of the code and the facts.
std::string describe_warning(const Warning& warning);

/// Returns the text of a warning without facts. `title`: the warning's title on a card, or its
/// code. Empty if unknown.
std::string warning_text(std::string_view title);

/// Returns a changed finding on one line: "worse: L2 latency: 142 ns -> 170 ns in 'new.json'".
std::string change_text(const Comparison& comparison, std::span<const RunDigest> runs,
                        const ComparedPlace& place);

/// Returns the numbers of each run's device as JSON (schema: tools/schema). A file with a single
/// run gets one description, otherwise the text is an array. The runs need final findings and
/// cards.
std::string describe_devices(std::span<const Probe* const> probes, std::span<const Run> runs,
                             const TableStyle& style);

/// Returns the numbers of the run's device that a fleet compares: those of its description that
/// were measured. The run needs final findings and cards.
std::vector<fleet::Number> fleet_numbers(std::span<const Probe* const> probes, const Run& run);

/// Returns what works and what looks wrong on the run's device, a check per line. The runs need
/// final findings and cards.
std::string checkup_text(std::span<const Probe* const> probes, std::span<const Run> runs,
                         const TableStyle& style);
/// Returns true if a check finds a problem of the driver or the device.
bool has_problem(std::span<const Probe* const> probes, const Run& run);

/// Program whose kernels were surveyed by `profile`.
struct SurveyedApp {
  std::vector<std::string> words{};  ///< program and arguments, without folders of files
  std::string started{};             ///< start time in UTC
  ToolInfo tool{};
  int status{0};
  int signal{0};  ///< signal that ended the program; 0: none
  bool interrupted{false};
  double wall_s{0.0};       ///< run time in seconds
  survey::Survey survey{};  ///< kernels, sorted by device time
};

/// Returns how a surveyed program ended: "ended with status 3", "was killed by signal 11
/// (Segmentation fault)"; empty after a success.
std::string end_text(const SurveyedApp& app);

// Formats of results. The command line, the help and the reports get the formats of
// src/present/formats.def from these functions.

/// Output format. It has a function per kind of result; null if the format cannot show that kind.
struct Writer {
  std::string_view name{};     ///< word of --format
  std::string_view ending{};   ///< file name ending; the longest match selects the format
  std::string_view details{};  ///< sentences for the man page, followed by a space
  std::string (*runs)(std::span<const Run>, const TableStyle&){nullptr};
  std::string (*comparison)(const Comparison&, std::span<const RunDigest>,
                            const TableStyle&){nullptr};
  std::string (*survey)(const SurveyedApp&, const TableStyle&){nullptr};
  std::string (*fleet)(const fleet::Report&, const TableStyle&){nullptr};
  bool is_of_one_probe{false};  ///< true: a picture of the probe `TableStyle::probe` only
};

namespace formats {
#define FORMAT(name) extern const Writer name;
#include "present/formats.def"
#undef FORMAT
}  // namespace formats

/// Returns all formats; the first is the default of stdout.
std::span<const Writer* const> writers();

/// Returns the format called `name`; null if there is no such format.
const Writer* find_writer(std::string_view name);

/// Returns the names of the formats for which `has` returns true, in the order of formats.def.
template <typename Has>
std::vector<std::string_view> format_names(Has has) {
  std::vector<std::string_view> names;
  for (const Writer* const each : writers()) {
    if (has(*each)) names.push_back(each->name);
  }
  return names;
}

}  // namespace clprobe
