// SPDX-License-Identifier: Apache-2.0
// Results in each format, by short names.
#pragma once

#include <span>
#include <string>

#include "present/api/report.hpp"

namespace clprobe {

using Digests = std::span<const RunDigest>;

inline std::string render_table(std::span<const Run> runs, const TableStyle& style) {
  return formats::table.runs(runs, style);
}
inline std::string render_csv(std::span<const Run> runs) { return formats::csv.runs(runs, {}); }
inline std::string render_findings_csv(std::span<const Run> runs) {
  return formats::findings.runs(runs, {});
}
inline std::string render_curves_csv(std::span<const Run> runs) {
  return formats::curves.runs(runs, {});
}
inline std::string render_markdown(std::span<const Run> runs) {
  return formats::markdown.runs(runs, {});
}
inline std::string render_html(std::span<const Run> runs) { return formats::html.runs(runs, {}); }
inline std::string render_svg(std::span<const Run> runs, std::string_view probe) {
  return formats::svg.runs(runs, {.probe = std::string(probe)});
}

inline std::string render_comparison_table(const Comparison& comparison, Digests runs,
                                           const TableStyle& style) {
  return formats::table.comparison(comparison, runs, style);
}
inline std::string comparison_to_json(const Comparison& comparison, Digests runs) {
  return formats::json.comparison(comparison, runs, {});
}
inline std::string render_comparison_csv(const Comparison& comparison, Digests runs) {
  return formats::csv.comparison(comparison, runs, {});
}
inline std::string render_comparison_markdown(const Comparison& comparison, Digests runs) {
  return formats::markdown.comparison(comparison, runs, {});
}
inline std::string render_comparison_html(const Comparison& comparison, Digests runs) {
  return formats::html.comparison(comparison, runs, {});
}

inline std::string render_survey_table(const SurveyedApp& app, const TableStyle& style) {
  return formats::table.survey(app, style);
}
inline std::string render_survey_json(const SurveyedApp& app) {
  return formats::json.survey(app, {});
}
inline std::string render_survey_csv(const SurveyedApp& app) {
  return formats::csv.survey(app, {});
}
inline std::string render_survey_markdown(const SurveyedApp& app) {
  return formats::markdown.survey(app, {});
}

}  // namespace clprobe
