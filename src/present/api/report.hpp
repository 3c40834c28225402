// SPDX-License-Identifier: Apache-2.0
// Formats: pure functions from runs, comparisons and surveys to text. They never measure or print.
// All formats replace control characters of drivers and files by '?'.
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
  int width{80};           ///< width in columns
  bool colour{false};      ///< true: ANSI colours
  bool unicode{true};      ///< true: Unicode in charts; false: ASCII
  bool all_points{false};  ///< -v: every point, in addition to findings and charts
  bool advice{true};       ///< true: show warnings; -q omits them
  bool is_stream{false};   ///< true if the target is stdout
  std::string probe{};     ///< probe that a picture shows
};

/// Returns the text of a warning: observation and advice. An unknown code is shown as its words and
/// facts.
std::string describe_warning(const Warning& warning);

/// Returns the text of a warning, by its title on a card or its code, without facts; empty if
/// unknown.
std::string warning_text(std::string_view title);

/// Returns one change on one line: "worse: latency global 2 latency: 142 ns -> 170 ns in
/// 'new.json'".
std::string change_text(const Comparison& comparison, std::span<const RunDigest> runs,
                        const ComparedPlace& place);

/// A surveyed program.
struct SurveyedApp {
  std::vector<std::string> words{};  ///< words as typed, files without folders
  std::string started{};             ///< start time in UTC
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
